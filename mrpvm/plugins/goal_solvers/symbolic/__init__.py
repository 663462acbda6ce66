"""`gs-symbolic`: extractive answers by general rules, without a model.

`answering` asks `mrpvm.english` which statement answers, `composing` puts together what several of them say, and
`rendering` tells what was found in the form that was asked for.
"""

from mrpvm.plugins.goal_solvers.symbolic.plugin import SymbolicGoalSolver

__all__ = ["SymbolicGoalSolver"]
