"""Integrity checks of stored data: each yields its findings, some of which can be repaired."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import run_checks
from django.db import connection
from django.db.models import Field
from django.utils import timezone

from mrpvm.preview import counted
from sessions_app.actions.damage import checked_columns, damaged_rows, mend_value
from sessions_app.actions.upkeep.mending import (
    drop_lost_pointers,
    forget_statistics,
    leave_to_sweeper,
    mark_index_outdated,
    set_counters,
    set_unit_counts,
)
from sessions_app.queries.integrity import (
    Counter,
    Sequencer,
    SessionCounter,
    WrongCounter,
    impossible_statistics,
    layers_miscounted,
    layers_with_unindexed_units,
    lost_pointers,
    newest_row_at,
    ownerless_layers,
    sessions_behind,
    sessions_miscounted,
    sessions_with_lost_events,
    sessions_with_lost_messages,
)
from sessions_app.queries.turns.running import abandoned_turns
from sessions_app.queries.versions import missing_migrations, unknown_migrations
from sessions_app.turns.recovery import recover_abandoned

_SHOWN = 5
"""How many row keys a finding names at most."""
_LEAST_FREE_BYTES = 1_073_741_824
_CLOCK_SLACK = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A finding; `mend` repairs it and returns how many rows it changed, and is None where no repair is possible."""

    check: str
    text: str
    mend: Callable[[], int] | None = None


def findings() -> Iterator[Defect]:
    """Yield the findings, check by check; tables are read whole and nothing is written."""
    for check in (
        _versions, _configuration, _storage, _clock, _foreign_keys, _damaged_values, _sequences, _stuck_turns,
        _counts, _layer_counts, _ownerless_layers, _unindexed_units, _statistics,
    ):  # fmt: skip
        yield from check()


def _versions() -> Iterator[Defect]:
    if unknown := unknown_migrations():
        yield Defect(check="version", text=f"a newer version has changed the tables: {_named(unknown)}")
    if missing := missing_migrations():
        yield Defect(check="version", text=f"the tables are not up to date; the next start brings: {_named(missing)}")


def _configuration() -> Iterator[Defect]:
    for message in run_checks(tags=["environment"]):
        yield Defect(check="settings", text=message.msg)


def _storage() -> Iterator[Defect]:
    directory = Path(settings.MRPVM_DATA_DIR)
    free = shutil.disk_usage(directory).free
    if free < _LEAST_FREE_BYTES:
        yield Defect(check="disk", text=f"{free // 1_048_576} MB are free where {directory} is")
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            said = [line for (line,) in cursor.execute("PRAGMA quick_check(20)").fetchall()]
        if said != ["ok"]:
            yield Defect(check="disk", text=f"SQLite's file is damaged; restore a backup: {'; '.join(said)[:300]}")


def _clock() -> Iterator[Defect]:
    newest = newest_row_at()
    if newest is not None and newest > timezone.now() + _CLOCK_SLACK:
        yield Defect(check="clock", text=f"the newest row is from {newest:%Y-%m-%d %H:%M} UTC, which is yet to come")


def _foreign_keys() -> Iterator[Defect]:
    pointers = lost_pointers()
    if pointers:
        places = [f"{pointer.table}.{pointer.column} in row {pointer.row}" for pointer in pointers]
        text = (
            f"{counted(len(pointers), 'row')} with a pointer at nothing; what must point at something is to be removed"
        )
        yield Defect(check="foreign keys", text=f"{text}: {_named(places)}", mend=drop_lost_pointers)


def _damaged_values() -> Iterator[Defect]:
    for field in checked_columns():
        keys = list(damaged_rows(field))
        if keys:
            place = f"{field.model._meta.db_table}.{field.column}"
            yield Defect(
                check="values",
                text=f"{len(keys)} of {place} cannot be read: row {_named(keys)}",
                mend=partial(_mend_values, field, keys),
            )


def _mend_values(field: "Field[Any, Any]", keys: Sequence[Any]) -> int:
    return sum(mend_value(field, key) for key in keys)


_SEQUENCERS: tuple[Sequencer, ...] = ("message_sequence", "turn_sequence", "event_sequence")
_COUNTERS: tuple[Counter, ...] = ("unit_count", "remembered_count")


def _sequences() -> Iterator[Defect]:
    for name in _SEQUENCERS:
        yield from _wrong_counters("sequences", name, sessions_behind(name), f"{{}} with rows beyond {name}")
    text = "events are missing in {}, whose open pages are then to load again"
    yield from _wrong_counters("sequences", "compacted_sequence", sessions_with_lost_events(), text)
    text = "messages are missing in {}, a backup may have them; mended, they count as removed"
    yield from _wrong_counters("sequences", "removed_message_count", sessions_with_lost_messages(), text)


def _wrong_counters(check: str, name: SessionCounter, wrong: Sequence[WrongCounter], text: str) -> Iterator[Defect]:
    """Yield a finding if there are sessions with a wrong counter; `{}` in the text is replaced by their number."""
    if wrong:
        yield Defect(
            check=check,
            text=f"{text.format(counted(len(wrong), 'session'))}: {_named([counter.session_id for counter in wrong])}",
            mend=partial(set_counters, name, wrong),
        )


def _stuck_turns() -> Iterator[Defect]:
    keys = list(abandoned_turns().values_list("request_id", flat=True))
    if keys:
        text = f"{counted(len(keys), 'turn')} running beyond the lease: {_named(keys)}"
        yield Defect(check="turns", text=text, mend=recover_abandoned)


def _counts() -> Iterator[Defect]:
    for name in _COUNTERS:
        yield from _wrong_counters("counts", name, sessions_miscounted(name), f"{name} is wrong in {{}}")


def _layer_counts() -> Iterator[Defect]:
    wrong = layers_miscounted()
    if wrong:
        text = (
            f"{counted(len(wrong), 'layer')} with more or fewer units than counted: {_named([key for key, _ in wrong])}"
        )
        yield Defect(check="counts", text=text, mend=partial(set_unit_counts, wrong))


def _ownerless_layers() -> Iterator[Defect]:
    keys = ownerless_layers()
    if keys:
        text = f"{counted(len(keys), 'layer')} without an owner: {_named(keys)}"
        yield Defect(check="layers", text=text, mend=partial(leave_to_sweeper, keys))


def _unindexed_units() -> Iterator[Defect]:
    if layers := layers_with_unindexed_units(marked=False):
        text = f"units of {counted(len(layers), 'layer')} cannot be found; mended, reindex finds them: {_named(layers)}"
        yield Defect(check="index", text=text, mend=partial(mark_index_outdated, layers))
    if layers := layers_with_unindexed_units(marked=True):
        text = f"units of {counted(len(layers), 'layer')} cannot be found; run reindex: {_named(layers)}"
        yield Defect(check="index", text=text)


def _statistics() -> Iterator[Defect]:
    keys = impossible_statistics()
    if keys:
        text = f"impossible statistics of {counted(len(keys), 'plugin')}; mended, untried again: row {_named(keys)}"
        yield Defect(check="statistics", text=text, mend=partial(forget_statistics, keys))


def _named(keys: Sequence[object]) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(map(str, keys[:_SHOWN])) + more
