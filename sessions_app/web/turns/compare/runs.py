"""The executions of two turns, aligned by frame and call: equal, different, or in only one turn."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings

from mrpvm.trace.compare import Aligned, align_graphs
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import Detail, details, graph
from sessions_app.web.turns.graph import Remark, renamed, render_shown, show_structure
from sessions_app.web.turns.graph.status import Tone, duration_badge, tone_of
from sessions_app.web.turns.reader import Reader
from sessions_app.web.turns.structure import structure_of

SIDES = ("left", "right")


class PairVerdict(StrEnum):
    """How a frame or execution differs between two turns; the value is the last part of its CSS class."""

    SAME = "same"
    INPUT = "input"
    OUTPUT = "output"
    LEFT = "left"
    RIGHT = "right"
    UNKNOWN = "unknown"


_TONES = {
    PairVerdict.SAME: Tone.IDLE,
    PairVerdict.INPUT: Tone.ACTIVE,
    PairVerdict.OUTPUT: Tone.WARN,
    PairVerdict.LEFT: Tone.WEAK,
    PairVerdict.RIGHT: Tone.WEAK,
    PairVerdict.UNKNOWN: Tone.IDLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A frame or execution of one turn."""

    id: str
    turn_name: str
    ref: str
    name: str
    stage: str
    status: str
    tone: Tone
    duration_ms: float | None

    @property
    def duration(self) -> str:
        """Return how long it took, in words."""
        return duration_badge(self.duration_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedPair:
    """An aligned pair; `id` is that of the left one, or is marked if there is only a right one."""

    id: str
    depth: int
    is_frame: bool
    left: Ran | None
    right: Ran | None
    verdict: PairVerdict
    words: str
    time_difference: str

    @property
    def tone(self) -> Tone:
        """Return the colour of the verdict."""
        return _TONES[self.verdict]

    @property
    def name(self) -> str:
        """Return what it is called."""
        return (self.left or self.right).name  # type: ignore[union-attr]  # one of them is always there


def runs_context(left: ExplainabilityTurn, right: ExplainabilityTurn, reader: Reader) -> dict[str, Any]:
    """Return both graphs with the same ids for aligned items, and the aligned rows, by a fixed number of queries."""
    rows = _rows(left, right)
    different = [row for row in rows if row.verdict != PairVerdict.SAME]
    listed = rows if len(rows) <= settings.MRPVM_RUNS_SHOWN_WHOLE else different
    tally = Counter(row.verdict for row in rows)
    return {
        "graphs": [
            {"turn": turn, "side": side, "svg": _picture(turn, side, rows, reader)}
            for turn, side in zip((left, right), SIDES, strict=True)
        ],
        "rows": listed[: settings.MRPVM_RUNS_SHOWN],
        "rows_left_out": max(0, len(listed) - settings.MRPVM_RUNS_SHOWN),
        "same_left_out": tally[PairVerdict.SAME] if listed is different else 0,
        "different_count": len(different),
        "uncompared_count": tally[PairVerdict.UNKNOWN],
        "selected": reader.selected,
    }


def side_svg(left: ExplainabilityTurn, right: ExplainabilityTurn, side: str, reader: Reader) -> Any:
    """Return the picture of one turn, with the frames that the reader expanded or collapsed."""
    return _picture(left if side == SIDES[0] else right, side, _rows(left, right), reader)


def _picture(turn: ExplainabilityTurn, side: str, rows: Sequence[AlignedPair], reader: Reader) -> Any:
    own = {ran.id: row for row in rows if (ran := getattr(row, side)) is not None}
    structure = renamed(structure_of(turn), {name: row.id for name, row in own.items()})
    shown = show_structure(structure, opened=reader.opened, shut=reader.shut, selected=reader.selected)
    remarks = {row.id: Remark(row.words, f"is-{row.verdict}", row.verdict != PairVerdict.SAME) for row in own.values()}
    return render_shown(shown, uid=side, remarks=remarks)


def _rows(left: ExplainabilityTurn, right: ExplainabilityTurn) -> list[AlignedPair]:
    pairs = align_graphs(graph(left), graph(right))
    lefts, rights = _ran(left), _ran(right)
    both = [pair for pair in pairs if pair.left and pair.right][: settings.MRPVM_PAYLOADS_COMPARED]
    payloads = (
        details(left, [lefts[pair.left].ref for pair in both if pair.left]),
        details(right, [rights[pair.right].ref for pair in both if pair.right]),
    )
    return [_row(pair, lefts.get(pair.left or ""), rights.get(pair.right or ""), payloads) for pair in pairs]


def _ran(turn: ExplainabilityTurn) -> dict[str, Ran]:
    structure, name = structure_of(turn), turn.name.lower()
    runs_by_id = {
        run.id: Ran(
            id=run.id, turn_name=name, ref=run.detail_ref, name=run.plugin_name, stage=run.stage, status=run.status,
            tone=tone_of(run.status), duration_ms=run.duration_ms,
        )
        for run in structure.executions.values()
    }  # fmt: skip
    return runs_by_id | {
        frame.id: Ran(
            id=frame.id, turn_name=name, ref=frame.detail_ref, name=frame.label, stage=frame.purpose,
            status=frame.status, tone=tone_of(frame.status), duration_ms=frame.duration_ms,
        )
        for frame in structure.frames.values()
    }  # fmt: skip


def _row(pair: Aligned, left: Ran | None, right: Ran | None, payloads: tuple[Mapping[str, Detail], ...]) -> AlignedPair:
    verdict, words = _judged(left, right, payloads)
    return AlignedPair(
        id=pair.left or f"right {pair.right}",
        depth=pair.depth,
        is_frame=pair.is_frame,
        left=left,
        right=right,
        verdict=verdict,
        words=words,
        time_difference=_time_difference(left, right),
    )


def _judged(left: Ran | None, right: Ran | None, payloads: tuple[Mapping[str, Detail], ...]) -> tuple[PairVerdict, str]:
    """Return the verdict, and the differences in words: in status, and in parts of input, output and error."""
    if left is None or right is None:
        alone = left or right
        words = f"only in {alone.turn_name}" if alone else ""
        return (PairVerdict.LEFT if left else PairVerdict.RIGHT), words
    ended = [f"{left.status}, then {right.status}"] if left.status != right.status else []
    stored = payloads[0].get(left.ref), payloads[1].get(right.ref)
    before, after = (detail.payload if detail else None for detail in stored)
    if before is None or after is None:
        return (PairVerdict.OUTPUT, ended[0]) if ended else (PairVerdict.UNKNOWN, "not compared")
    inputs, outputs, errors = (_changed(before.get(part), after.get(part)) for part in ("input", "output", "error"))
    if not (ended or inputs or outputs or errors):
        return PairVerdict.SAME, "same"
    named = (("input", inputs), ("output", outputs), ("error", errors))
    words = "; ".join([*ended, *(f"{name}: {', '.join(parts)}" for name, parts in named if parts)])
    return (PairVerdict.OUTPUT if ended or outputs or errors else PairVerdict.INPUT), words


def _changed(left: Any, right: Any) -> list[str]:
    """Return the names of the parts that differ; values other than objects are compared as a whole."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return [name for name in dict.fromkeys((*left, *right)) if left.get(name) != right.get(name)]
    return ["all of it"] if left != right else []


def _time_difference(left: Ran | None, right: Ran | None) -> str:
    if left is None or right is None or left.duration_ms is None or right.duration_ms is None:
        return ""
    more = right.duration_ms - left.duration_ms
    sign = "+" if more > 0 else "\u2212" if more < 0 else "\u00b1"
    return f"{sign}{duration_badge(abs(more))}"
