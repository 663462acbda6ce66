"""`gs-symbolic`: extractive answers by general rules, without a model [BP-34 to BP-40].

`statements` reads the evidence: `voices` says whose words a sentence is, `references` whom its pronouns mean, `gaps`
and `clauses` what it leaves out and what it says one after the other; `restating` puts corrections and changes in full,
and `corrections` leaves out what they set right.

`answering` tries these ways in turn, and `rendering` tells what was found:

    words of a sentence     questions -> matching (reading, particles) -> fillers; near_misses say why not
                            fillers: measuring, dimensions and times say which values fit; verdicts say yes or no
                            units: the one table of units, which frames/ and label_questions read too
    roles of its clauses    frames/
    what no yes rests on    reservations (hearsay, guesses, least and most), coordination (halves of two parts)
    several statements      explaining, reasons
    names of works          titles
    days and times          opening_hours
    where it stands         labels (label_questions, addresses), headings, happenings
    other words             paraphrases (converses, services)
    who reads a document    readers
"""

from mrpvm.plugins.goal_solvers.symbolic.plugin import SymbolicGoalSolver

__all__ = ["SymbolicGoalSolver"]
