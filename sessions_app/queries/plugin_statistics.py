"""What planners are told about the plugins of a project."""

from collections.abc import Mapping

from mrpvm.learning import PluginKey
from sessions_app.models import PluginStatistics


def utilities(project_pk: int) -> Mapping[PluginKey, float]:
    """Give the learned utility of each plugin that was tried in the project; one query [K-54]."""
    return {row.key: row.utility for row in PluginStatistics.objects.filter(project_id=project_pk).order_by()}
