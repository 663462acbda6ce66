"""What planners know about the plugins of a project."""

import math
import time
from collections.abc import Mapping

from django.conf import settings

from mrpvm.learning import Experience, PluginKey, utility
from sessions_app.models import PluginStatistics, Session
from sessions_app.models.settings.plugin_statistics import EXPERIENCE_FIELDS

_PROJECTS_KEPT = 1_000


def utilities(project_pk: int) -> Mapping[PluginKey, float]:
    """Return the learned utility of each plugin that was tried in the project, to four decimals; one query."""
    rows = PluginStatistics.objects.filter(project_id=project_pk).order_by()
    return {
        (kind, plugin_id): round(utility(kind, Experience(**dict(zip(EXPERIENCE_FIELDS, seen, strict=True)))), 4)
        for kind, plugin_id, *seen in rows.values_list("plugin_type", "plugin_id", *EXPERIENCE_FIELDS)
    }


# Statistics are written `MRPVM_LEARN_DELAY_MS` after a turn, so turns may cache them for as long.
_recent_utilities: dict[int, tuple[float, Mapping[PluginKey, float]]] = {}


def _utilities_of_late(project_pk: int) -> Mapping[PluginKey, float]:
    """Return the project's utilities, at most `MRPVM_LEARN_DELAY_MS` old."""
    now = time.monotonic()
    read_at, known = _recent_utilities.get(project_pk, (-math.inf, {}))
    if (now - read_at) * 1000 < settings.MRPVM_LEARN_DELAY_MS:
        return known
    known = utilities(project_pk)
    if len(_recent_utilities) >= _PROJECTS_KEPT:
        _recent_utilities.clear()
    _recent_utilities[project_pk] = (now, known)
    return known


def utilities_for(session: Session) -> Mapping[PluginKey, float]:
    """Return the utilities that the session's planners rank by: its project's, or those it was made with."""
    if session.planner_statistics is None:
        return _utilities_of_late(session.project_id)
    return {
        (kind, plugin_id): value
        for kind, values in session.planner_statistics.items()
        for plugin_id, value in values.items()
    }


def utilities_to_keep(project_pk: int) -> dict[str, dict[str, float]]:
    """Return the project's utilities as a session stores them, by plugin type and id."""
    kept: dict[str, dict[str, float]] = {}
    for (kind, plugin_id), value in utilities(project_pk).items():
        kept.setdefault(kind, {})[plugin_id] = value
    return kept


def plugin_statistics(project_pk: int) -> Mapping[PluginKey, PluginStatistics]:
    """Return the experience of each plugin that was tried in the project; one query."""
    rows = PluginStatistics.objects.filter(project_id=project_pk)
    return {(row.plugin_type, row.plugin_id): row for row in rows}
