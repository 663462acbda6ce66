"""`gs-llm-fast` and `gs-llm-deep`: answers that a language model writes from evidence, with citations.

plugin -> question (the prompt) -> reply (parses the model's text, marks and sections)
"""

from mrpvm.plugins.goal_solvers.llm.plugin import LLMGoalSolver, deep_solver, fast_solver

__all__ = ["LLMGoalSolver", "deep_solver", "fast_solver"]
