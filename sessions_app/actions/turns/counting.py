"""Counting ended turns by hour, for the overview."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from sessions_app.exclusive import alone_at
from sessions_app.models import CountedTurns, ExplainabilityTurn, TurnCounts
from sessions_app.models.turns.durations import duration_key

TURNS_AT_ONCE = 200_000
COUNTING_SECONDS = 20.0
"""Time limit in a sweep."""

_HOUR = timedelta(hours=1)
_NOTHING: Mapping[str, Any] = {
    "turn_count": 0, "unanswered_count": 0, "failed_count": 0, "up_count": 0, "down_count": 0, "durations": {},
    "tokens": {},
}  # fmt: skip
_COLUMNS = (
    "session__project_id", "session__mounted_kb__kb_id", "model", "session__active_agent", "asked_by", "kind",
    "outcome", "duration_ms", "model_usage", "rating__value",
)  # fmt: skip


def count_ended_turns(pause: Callable[[], None], seconds: float = COUNTING_SECONDS) -> int:
    """Count the turns that have ended since the last time; return how many, 0 where another process counts.

    An hour is counted whole, so that it is right whatever was counted before. After `seconds` the hours that are left
    wait for the next call.
    """
    with alone_at("counting-turns") as hold:
        return 0 if hold is None else _count_new(pause, seconds)


def mark_outdated(project_pk: int, moments: Iterable[datetime]) -> None:
    """Have the hours in which turns began counted again: turns were changed, or stored with an earlier key.

    The mark is a row that counts nothing; it goes when the hour is counted.
    """
    TurnCounts.objects.bulk_create(
        [
            TurnCounts(project_id=project_pk, hour=hour, is_outdated=True, **_NOTHING)
            for hour in {*map(hour_of, moments)}
        ],
        update_conflicts=True,
        unique_fields=["project", "hour", "kb_id", "model", "agent", "asked_by"],
        update_fields=["is_outdated"],
    )


def hour_of(moment: datetime) -> datetime:
    """Return the hour that a moment is in."""
    return moment.replace(minute=0, second=0, microsecond=0)


def _count_new(pause: Callable[[], None], seconds: float) -> int:
    counted, _ = CountedTurns.objects.get_or_create(pk=1)
    new = _new_turns(counted.newest_turn)
    outdated = TurnCounts.objects.filter(is_outdated=True).values_list("hour", flat=True)
    hours = {datetime.fromisoformat(hour) for hour in counted.waiting_hours}
    hours |= {hour_of(created_at) for _, created_at in new} | set(outdated)
    counted.newest_turn = max((pk for pk, _ in new), default=counted.newest_turn)
    waiting = sorted(hours)
    began = time.monotonic()
    _note(counted, waiting)  # stored before counting, so that the next run counts the hours that this one leaves
    while waiting:
        _count_hour(waiting.pop())
        pause()
        if time.monotonic() - began >= seconds:
            break
    _note(counted, waiting)
    return len(new)


def _new_turns(newest_turn: int) -> list[tuple[int, datetime]]:
    """Return key and time of the turns after this key, oldest first, up to the first that still runs."""
    running = ExplainabilityTurn.objects.filter(status=ExplainabilityTurn.Status.RUNNING)
    oldest = running.aggregate(oldest=Min("pk"))["oldest"]
    new = ExplainabilityTurn.objects.filter(pk__gt=newest_turn).order_by("pk")
    return list((new.filter(pk__lt=oldest) if oldest else new).values_list("pk", "created_at")[:TURNS_AT_ONCE])


def _note(counted: CountedTurns, waiting: Sequence[datetime]) -> None:
    counted.waiting_hours = [hour.isoformat() for hour in waiting]
    counted.counted_at = timezone.now()
    counted.save()


@dataclass(slots=True)
class _Count:
    """The running totals of one row."""

    turns: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    ratings: Counter[str] = field(default_factory=Counter)
    durations: Counter[int] = field(default_factory=Counter)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)


@transaction.atomic
def _count_hour(hour: datetime) -> None:
    """Count the hour's turns in all projects, in place of what was counted before."""
    ended = ExplainabilityTurn.objects.filter(created_at__gte=hour, created_at__lt=hour + _HOUR).order_by()
    ended = ended.exclude(status=ExplainabilityTurn.Status.RUNNING).filter(session__deleted_at__isnull=True)
    counts: defaultdict[tuple[int, str, str, str, str], _Count] = defaultdict(_Count)
    for project, kb_id, model, agent, asked_by, kind, outcome, duration_ms, usage, rating in ended.values_list(
        *_COLUMNS
    ).iterator():
        count = counts[project, kb_id, model or "", agent, asked_by]
        count.turns += 1
        count.kinds[kind] += 1
        count.outcomes[outcome] += 1
        count.ratings[rating] += 1
        if duration_ms is not None:
            count.durations[duration_key(duration_ms)] += 1
        for name, taken, written in usage or ():
            before = count.tokens.get(name, (0, 0))
            count.tokens[name] = before[0] + taken, before[1] + written
    TurnCounts.objects.filter(hour=hour).delete()
    TurnCounts.objects.bulk_create(
        TurnCounts(
            project_id=project,
            hour=hour,
            kb_id=kb_id,
            model=model,
            agent=agent,
            asked_by=asked_by,
            turn_count=count.turns,
            unanswered_count=sum(count.outcomes[outcome] for outcome in ExplainabilityTurn.UNANSWERED),
            failed_count=count.outcomes[ExplainabilityTurn.Outcome.FAILED],
            up_count=count.ratings["up"],
            down_count=count.ratings["down"],
            imported_count=count.kinds[ExplainabilityTurn.Kind.IMPORTED],
            durations=count.durations,
            tokens=count.tokens,
        )
        for (project, kb_id, model, agent, asked_by), count in counts.items()
    )
