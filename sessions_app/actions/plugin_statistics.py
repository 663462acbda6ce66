"""Learning from a finished turn [K-57]."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from mrpvm.learning import PluginKey, attempts_of, learn_turn, untried
from mrpvm.values import StageRecord
from sessions_app.models import PluginStatistics

_KEY_FIELDS = ["project", "plugin_type", "plugin_id"]
_LEARNED_FIELDS = [
    "attempt_count", "success_count", "failure_count", "refusal_count", "success", "sufficiency", "latency_ms",
    "llm_calls", "updated_at",
]  # fmt: skip


@transaction.atomic
def record_turn(project_pk: int, stages: Sequence[StageRecord], *, turn_failed: bool) -> None:
    """Bring the project's statistics up to date with a turn's plugin calls [K-56].

    Turns of a project that end at the same time wait for each other, so that each counts once.

    Effects: one row for each plugin that the turn tried.
    """
    keys = {attempt.plugin for attempt in attempts_of(stages)}
    if not keys:
        return
    rows = _locked(project_pk, keys)
    learned = learn_turn(stages, lambda key: rows[key].experience, turn_failed=turn_failed)
    now = timezone.now()
    for key, experience in learned.items():
        rows[key].experience, rows[key].updated_at = experience, now
    PluginStatistics.objects.bulk_create(
        [rows[key] for key in learned], update_conflicts=True, unique_fields=_KEY_FIELDS, update_fields=_LEARNED_FIELDS
    )


def _locked(project_pk: int, keys: set[PluginKey]) -> dict[PluginKey, PluginStatistics]:
    """Give the rows of these plugins, locked, in the same order for everybody; new ones as untried."""
    ids = sorted({plugin_id for _, plugin_id in keys})
    wanted = PluginStatistics.objects.filter(project_id=project_pk, plugin_id__in=ids).order_by("pk")
    rows = {row.key: row for row in wanted.select_for_update()}
    missing = sorted(keys - rows.keys())
    if missing:
        # Whoever else makes them at the same time wins or waits; both then lock the same rows.
        PluginStatistics.objects.bulk_create([_new(project_pk, key) for key in missing], ignore_conflicts=True)
        rows = {row.key: row for row in wanted.select_for_update()}
    return rows


def _new(project_pk: int, key: PluginKey) -> PluginStatistics:
    row = PluginStatistics(project_id=project_pk, plugin_type=key[0], plugin_id=key[1])
    row.experience = untried(key[0])
    return row
