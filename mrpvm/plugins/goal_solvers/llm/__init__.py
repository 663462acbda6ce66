"""`gs-llm-fast` and `gs-llm-deep`: answers written by a language model, from evidence that it cites.

plugin -> question (what the model gets) -> reply (what it wrote: text, marks, sections)
"""

from mrpvm.plugins.goal_solvers.llm.plugin import LLMGoalSolver, deep_solver, fast_solver

__all__ = ["LLMGoalSolver", "deep_solver", "fast_solver"]
