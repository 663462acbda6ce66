"""`gs-symbolic`: extractive answers by general rules, without a model.

`answering` asks `mrpvm.english` which statement answers, `composing` selects several statements for one answer, and
`rendering` writes them in the output form that was asked for.
"""

from mrpvm.plugins.goal_solvers.symbolic.plugin import SymbolicGoalSolver

__all__ = ["SymbolicGoalSolver"]
