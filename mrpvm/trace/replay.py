"""The record of a turn against that of its replay: the first thing that differs, times left out."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

from msgspec import Struct

from mrpvm.trace.events import ROOT_FRAME_ID, Record

TIMES = frozenset({"durationMs", "startedAt", "remainingTimeMs"})
"""Names under which events and payloads tell times."""

type Part = Literal["event", "payload", "ledger", "answer"]


class Difference(Struct, frozen=True, kw_only=True):
    """Where a replay leaves its record: `name` is the event's or the part's, either side is None where it has none.

    `place` counts the events, payloads or steps before it.
    """

    part: Part
    place: int
    name: str
    frame_id: str
    execution_id: str | None
    recorded: Any
    replayed: Any


def without_times(value: Any) -> Any:
    """Return JSON data without what tells times."""
    if isinstance(value, Mapping):
        return {name: without_times(item) for name, item in value.items() if name not in TIMES}
    if isinstance(value, list | tuple):
        return [without_times(item) for item in value]
    return value


def first_different_event(recorded: Sequence[Record], replayed: Sequence[Record]) -> Difference | None:
    """Return the first event that differs in name or data, None where there is none; both are in the order of frames.

    Times are not compared: their order is that of the events.
    """
    for place, (one, other) in enumerate(zip_longest(recorded, replayed)):
        left, right = _name_and_data(one), _name_and_data(other)
        if left != right:
            name, data = left or right or ("", {})
            return Difference(
                part="event",
                place=place,
                name=name,
                frame_id=data.get("frameId", ROOT_FRAME_ID),
                execution_id=data.get("executionId"),
                recorded=left and {"event": left[0], **left[1]},
                replayed=right and {"event": right[0], **right[1]},
            )
    return None


def _name_and_data(record: Record | None) -> tuple[str, dict[str, Any]] | None:
    return None if record is None else (record[0], without_times(record[2]))


def first_different_item(
    part: Part, recorded: Iterable[tuple[str, Any]], replayed: Iterable[tuple[str, Any]]
) -> Difference | None:
    """Return the first of two lists of `(node's id, JSON data)` that differs, None where there is none."""
    for place, (one, other) in enumerate(zip_longest(recorded, replayed)):
        if one != other:
            ref = (one or other or ("", None))[0]
            return Difference(
                part=part,
                place=place,
                name=ref or part,
                frame_id=ref if ref.startswith("frame-") else ROOT_FRAME_ID,
                execution_id=ref if ref.startswith("exec-") else None,
                recorded=one and one[1],
                replayed=other and other[1],
            )
    return None
