"""The built-in plugins in the order in which they are registered and tried by default.

Plugins that need a language model are always registered; without a model they are only tried if they are pinned.
"""

from mrpvm.contracts import Plugin
from mrpvm.plugins.goal_solvers.llm import deep_solver, fast_solver
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.plugins.kb_retrievers.thinkingdb import ThinkingDBKBRetriever
from mrpvm.plugins.planners.default import DefaultPlanner
from mrpvm.plugins.planners.depth import DepthPlanner
from mrpvm.plugins.response_validators.constraints import ConstraintValidator
from mrpvm.plugins.response_validators.llm import LLMValidator
from mrpvm.plugins.seed_detectors.llm import deep_detector, fast_detector
from mrpvm.plugins.seed_detectors.symbolic import SymbolicSeedDetector

BUILTIN_PLUGINS: tuple[Plugin, ...] = (
    SymbolicSeedDetector(),
    fast_detector(),
    deep_detector(),
    FastKBRetriever(),
    BalancedKBRetriever(),
    ThinkingDBKBRetriever(),
    SymbolicGoalSolver(),
    fast_solver(),
    deep_solver(),
    ConstraintValidator(),
    LLMValidator(),
    DefaultPlanner(),
    DepthPlanner(),
)
