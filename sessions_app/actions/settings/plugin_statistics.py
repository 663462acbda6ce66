"""Update plugin statistics from finished turns."""

from collections.abc import Sequence

from django.db import transaction
from msgspec import structs

from mrpvm.learning import Experience, PluginKey, attempts_of, learn_turn, untried
from mrpvm.values import StageRecord
from sessions_app.models import PluginStatistics
from sessions_app.models.named_sql import update_each
from sessions_app.models.settings.plugin_statistics import EXPERIENCE_FIELDS


@transaction.atomic
def record_turns(project_pk: int, turns: Sequence[tuple[Sequence[StageRecord], bool]]) -> None:
    """Update the project's statistics with the plugin calls of finished turns, in order.

    Concurrent updates of a project wait for each other, so that each turn counts once.

    Args:
        turns: for each turn its stages, and whether it failed.

    Effects: one row for each plugin that the turns tried.
    """
    keys = {attempt.plugin for stages, _ in turns for attempt in attempts_of(stages)}
    if not keys:
        return
    rows = _lock_or_create(project_pk, keys)
    seen = {key: experience for key, (_, experience) in rows.items()}
    for stages, failed in turns:
        seen |= learn_turn(stages, seen.__getitem__, turn_failed=failed)
    update_each(PluginStatistics, EXPERIENCE_FIELDS, [(*structs.astuple(seen[key]), rows[key][0]) for key in keys])


def _lock_or_create(project_pk: int, keys: set[PluginKey]) -> dict[PluginKey, tuple[int, Experience]]:
    """Lock the rows of these plugins in a fixed order, creating missing ones; return their keys and experience."""
    rows = _lock(project_pk, keys)
    missing = sorted(keys - rows.keys())
    if not missing:
        return rows
    # Of concurrent inserts one succeeds; all then lock the same rows.
    PluginStatistics.objects.bulk_create([_new(project_pk, key) for key in missing], ignore_conflicts=True)
    return _lock(project_pk, keys)


def _lock(project_pk: int, keys: set[PluginKey]) -> dict[PluginKey, tuple[int, Experience]]:
    ids = sorted({plugin_id for _, plugin_id in keys})
    wanted = PluginStatistics.objects.filter(project_id=project_pk, plugin_id__in=ids).order_by("pk")
    locked = wanted.select_for_update().values_list("plugin_type", "plugin_id", "pk", *EXPERIENCE_FIELDS)
    return {
        (kind, plugin_id): (pk, Experience(**dict(zip(EXPERIENCE_FIELDS, seen, strict=True))))
        for kind, plugin_id, pk, *seen in locked
    }


def _new(project_pk: int, key: PluginKey) -> PluginStatistics:
    row = PluginStatistics(project_id=project_pk, plugin_type=key[0], plugin_id=key[1])
    row.experience = untried(key[0])
    return row
