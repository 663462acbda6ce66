"""`planner-default`: candidates ordered by score, cheap ones first [BP-48 to BP-53]."""

from mrpvm.plugins.planners.default.plugin import DefaultPlanner

__all__ = ["DefaultPlanner"]
