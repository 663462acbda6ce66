"""`planner-depth`: heavy candidates first, for turns that a cheap start did not answer."""

from mrpvm.plugins.planners.depth.plugin import DepthPlanner

__all__ = ["DepthPlanner"]
