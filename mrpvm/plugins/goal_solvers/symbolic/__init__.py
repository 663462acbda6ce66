"""`gs-symbolic`: extractive answers by general rules, without a model [BP-34 to BP-40].

`answering` tries these ways in turn, the strictest first, and `rendering` tells what was found:

    words of a sentence     questions -> matching (reading, clauses, gaps, statements, particles) -> fillers
                            fillers: measuring, dimensions and times say which values fit; verdicts say yes or no
                            units: the one table of units, which frames/ and label_questions read too
    roles of its clauses    frames/
    several statements      explaining, reasons, corrections
    where it stands         labels (label_questions, addresses), headings, happenings
    names of works          titles
    other words             paraphrases (converses)
"""

from mrpvm.plugins.goal_solvers.symbolic.plugin import SymbolicGoalSolver

__all__ = ["SymbolicGoalSolver"]
