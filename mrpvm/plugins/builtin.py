"""The shipped plugins in the order in which they are registered and tried by default [BP-3, PL-31]."""

from mrpvm.contracts import Plugin
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.plugins.kb_retrievers.thinkingdb import ThinkingDBKBRetriever
from mrpvm.plugins.planners.default import DefaultPlanner
from mrpvm.plugins.planners.depth import DepthPlanner
from mrpvm.plugins.response_validators.constraints import ConstraintValidator
from mrpvm.plugins.seed_detectors.symbolic import SymbolicSeedDetector

BUILTIN_PLUGINS: tuple[Plugin, ...] = (
    SymbolicSeedDetector(),
    FastKBRetriever(),
    BalancedKBRetriever(),
    ThinkingDBKBRetriever(),
    SymbolicGoalSolver(),
    ConstraintValidator(),
    DefaultPlanner(),
    DepthPlanner(),
)


def self_descriptions() -> dict[str, str]:
    """Give each plugin's control document about itself, by plugin id [PL-3]."""
    return {plugin.descriptor.id: plugin.about for plugin in BUILTIN_PLUGINS if hasattr(plugin, "about")}
