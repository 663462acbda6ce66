"""`gs-symbolic`: extractive answers by general rules, without a model [BP-34 to BP-40].

intent -> questions -> matching (reading, statements, fillers) -> rendering
                    -> verdicts, explaining
"""

from mrpvm.plugins.goal_solvers.symbolic.plugin import SymbolicGoalSolver

__all__ = ["SymbolicGoalSolver"]
