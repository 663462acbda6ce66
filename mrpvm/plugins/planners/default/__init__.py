"""`planner-default`: candidates ordered by score, cheap ones first."""

from mrpvm.plugins.planners.default.plugin import DefaultPlanner

__all__ = ["DefaultPlanner"]
