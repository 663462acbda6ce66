"""Whether what is stored holds together: each check tells what it found, and may know how to mend it."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import run_checks
from django.db import connection, transaction
from django.db.models import Count, Exists, F, Field, IntegerField, Max, Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from sessions_app.actions.damage import checked_columns, damaged_rows, mend_value
from sessions_app.actions.upkeep.staging import abandon
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    LayerUnit,
    Message,
    Posting,
    RememberedText,
    Session,
    SessionEvent,
)
from sessions_app.queries.versions import missing_migrations, unknown_migrations
from sessions_app.turns.recovery import recover_abandoned

_SHOWN = 5
"""So many keys of rows are named in a finding."""
_LEAST_FREE_BYTES = 1_073_741_824
_CLOCK_SLACK = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that does not hold; `mend` makes it hold and returns how many rows it changed, None if nothing can."""

    check: str
    text: str
    mend: Callable[[], int] | None = None


def findings() -> Iterator[Finding]:
    """Yield what is wrong, check by check; reads every table once, writes nothing."""
    for check in (
        _versions, _configuration, _storage, _clock, _foreign_keys, _damaged_values, _sequences, _events, _stuck_turns,
        _counts, _ownerless_layers, _unindexed_units,
    ):  # fmt: skip
        yield from check()


def _versions() -> Iterator[Finding]:
    if unknown := unknown_migrations():
        yield Finding(check="version", text=f"a newer version has changed the tables: {_named(unknown)}")
    if missing := missing_migrations():
        yield Finding(check="version", text=f"the tables are not up to date; the next start brings: {_named(missing)}")


def _configuration() -> Iterator[Finding]:
    for message in run_checks(tags=["environment"]):
        yield Finding(check="settings", text=message.msg)


def _storage() -> Iterator[Finding]:
    directory = Path(settings.MRPVM_DATA_DIR)
    free = shutil.disk_usage(directory).free
    if free < _LEAST_FREE_BYTES:
        yield Finding(check="disk", text=f"{free // 1_048_576} MB are free where {directory} is")
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            said = [line for (line,) in cursor.execute("PRAGMA quick_check(20)").fetchall()]
        if said != ["ok"]:
            yield Finding(check="disk", text=f"SQLite's file is damaged; restore a backup: {'; '.join(said)[:300]}")


def _clock() -> Iterator[Finding]:
    newest = max(
        filter(
            None, (model.objects.aggregate(newest=Max("created_at"))["newest"] for model in (Message, SessionEvent))
        ),
        default=None,
    )
    if newest is not None and newest > timezone.now() + _CLOCK_SLACK:
        yield Finding(check="clock", text=f"the newest row is from {newest:%Y-%m-%d %H:%M} UTC, which is yet to come")


def _foreign_keys() -> Iterator[Finding]:
    if connection.vendor != "sqlite":
        return  # PostgreSQL has checked each of them when it was written
    with connection.cursor() as cursor:
        rows = cursor.execute("PRAGMA foreign_key_check").fetchall()
    for table in sorted({row[0] for row in rows}):
        keys = [row[1] for row in rows if row[0] == table]
        yield Finding(check="foreign keys", text=f"{len(keys)} of {table} point at nothing: row {_named(keys)}")


def _damaged_values() -> Iterator[Finding]:
    for field in checked_columns():
        keys = list(damaged_rows(field))
        if keys:
            place = f"{field.model._meta.db_table}.{field.column}"
            yield Finding(
                check="values",
                text=f"{len(keys)} of {place} cannot be read: row {_named(keys)}",
                mend=partial(_mend_values, field, keys),
            )


def _mend_values(field: "Field[Any, Any]", keys: Sequence[Any]) -> int:
    return sum(mend_value(field, key) for key in keys)


def _sequences() -> Iterator[Finding]:
    """A session counts what was ever appended; rows beyond that would be met by the next one."""
    for counter, model, column in (
        ("message_sequence", Message, "sequence"),
        ("turn_sequence", ExplainabilityTurn, "turn_index"),
        ("event_sequence", SessionEvent, "sequence"),
    ):
        rows = model.objects.filter(session=OuterRef("pk")).order_by().values("session")
        highest = Subquery(rows.annotate(highest=Max(column)).values("highest"), output_field=IntegerField())
        behind = Session.objects.annotate(highest=highest).filter(highest__gt=F(counter))
        rows_behind = list(behind.values_list("pk", "session_id", "highest"))
        if rows_behind:
            yield Finding(
                check="sequences",
                text=f"{len(rows_behind)} sessions have rows beyond their {counter}:"
                f" {_named([row[1] for row in rows_behind])}",
                mend=partial(_set_counters, counter, {row[0]: row[2] for row in rows_behind}),
            )


def _set_counters(counter: str, values: Mapping[int, int]) -> int:
    for pk, value in values.items():
        Session.objects.filter(pk=pk).update(**{counter: value})
    return len(values)


def _events() -> Iterator[Finding]:
    """Events of a session are numbered without gaps; pages read on from any number."""
    spans = SessionEvent.objects.order_by().values("session__session_id")
    spans = spans.annotate(first=Min("sequence"), last=Max("sequence"), count=Count("id"))
    keys = list(spans.exclude(count=F("last") - F("first") + 1).values_list("session__session_id", flat=True))
    if keys:
        yield Finding(check="sequences", text=f"events are missing in {len(keys)} sessions: {_named(keys)}")


def _stuck_turns() -> Iterator[Finding]:
    running = ExplainabilityTurn.objects.filter(status=ExplainabilityTurn.Status.RUNNING)
    keys = list(running.filter(lease_until__lt=timezone.now()).values_list("request_id", flat=True))
    if keys:
        text = f"{len(keys)} turns run beyond their lease: {_named(keys)}"
        yield Finding(check="turns", text=text, mend=recover_abandoned)


def _counts() -> Iterator[Finding]:
    for counter, rows in (
        ("unit_count", ContextUnit.objects.filter(state=ContextUnit.State.COMMITTED)),
        ("remembered_count", RememberedText.objects.all()),
    ):
        counted = rows.filter(session=OuterRef("pk")).order_by().values("session").annotate(count=Count("pk"))
        count = Coalesce(Subquery(counted.values("count"), output_field=IntegerField()), 0)
        wrong = Session.objects.annotate(counted=count).exclude(**{counter: F("counted")})
        wrong_rows = list(wrong.values_list("pk", "session_id", "counted"))
        if wrong_rows:
            yield Finding(
                check="counts",
                text=f"{counter} is wrong in {len(wrong_rows)} sessions: {_named([row[1] for row in wrong_rows])}",
                mend=partial(_set_counters, counter, {row[0]: row[2] for row in wrong_rows}),
            )


def _ownerless_layers() -> Iterator[Finding]:
    """A layer that is not being filled belongs to a base, a revision, a mount or a session, or lies below one.

    What was taken out of a layer belongs to the one that it goes with.
    """
    owned = Q(pk__in=KnowledgeBase.objects.values("head")) | Q(pk__in=KBRevision.objects.values("layer"))
    owned |= Q(removed_from__isnull=False)
    owned |= Q(pk__in=KBMount.objects.values("layer")) | Q(Exists(KnowledgeLayer.objects.filter(parent=OuterRef("pk"))))
    owned |= Q(Exists(KnowledgeLayer.objects.filter(postings_layer=OuterRef("pk"))))
    for name in ("mounted_layer", "draft", "journal"):
        owned |= Q(pk__in=Session.objects.values(name))
    unowned = KnowledgeLayer.objects.exclude(owned).filter(sealed_at=None).exclude(kind=KnowledgeLayer.Kind.STAGED)
    keys = list(unowned.values_list("pk", flat=True))
    if keys:
        yield Finding(
            check="layers",
            text=f"{len(keys)} layers belong to nobody: {_named(keys)}",
            mend=lambda: _leave_to_sweeper(keys),
        )


@transaction.atomic
def _leave_to_sweeper(keys: Sequence[int]) -> int:
    abandon(KnowledgeLayer.objects.filter(pk__in=keys))
    return len(keys)


def _unindexed_units() -> Iterator[Finding]:
    """A unit of evidence has postings under its layer's key or under that of the rewritten index."""
    indexed = Posting.objects.filter(unit=OuterRef("pk"))
    lost = LayerUnit.objects.filter(length__gt=0).filter(~Exists(indexed))
    layers = sorted(set(lost.values_list("layer_id", flat=True)))
    if layers:
        yield Finding(
            check="index",
            text=f"units of {len(layers)} layers cannot be found: layer {_named(layers)}; then run reindex",
            mend=lambda: KnowledgeLayer.objects.filter(pk__in=layers).update(index_version=""),
        )


def _named(keys: Sequence[object]) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(map(str, keys[:_SHOWN])) + more
