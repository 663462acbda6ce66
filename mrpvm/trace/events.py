"""Machine events: everything a turn's record is made of.

An event carries its structure in `data`, one frozen dataclass for each name, and, where a node of the graph has a
payload, a piece of that payload in `detail`; pieces for the same `detail_ref` are merged. Structure and payload are
stored apart, so that a turn of a thousand executions can be drawn without reading what they said.

An event is stored as the record `[name, atMs, data]`: `record_of` and `event_of` are the way there and back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mrpvm.errors import ErrorRecord
from mrpvm.values import AnswerStatus, Basis, KnowledgeUnit, LedgerEntry, Plan, Selection, Usage
from mrpvm.wire import OPTIONAL, from_wire, on_wire, to_wire

ROOT_FRAME_ID = "frame-0"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """The turn as it was asked for; a turn that the machine did not begin has no pins, preferences or grounding."""

    request_id: str | None
    session_id: str | None
    input_message: str | None
    deliberation_level: int
    effective_level: int
    planner_candidates: tuple[str, ...] = ()
    seed_detector_candidates: tuple[str, ...] = ()
    started_at: str | None = field(default=None, metadata=OPTIONAL)
    grounding: str | None = field(default=None, metadata=OPTIONAL)
    pins: Selection | None = field(default=None, metadata=OPTIONAL)
    preferences: Selection | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameOpened:
    """A frame below `parent_frame_id`, opened by an execution; `intents` are the texts that a child is to answer."""

    frame_id: str
    parent_frame_id: str | None
    purpose: str
    label: str
    depth: int
    opened_by: str | None
    intent_refs: tuple[int, ...] = ()
    intents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameClosed:
    """A frame's status when it closed, and one closure reason."""

    frame_id: str
    status: str
    closure_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResolved:
    """What a typed command means, and why; `snapshot_*` name the skills that it was resolved with."""

    frame_id: str
    name: str
    route: str
    reason: str
    snapshot_version: int | None = None
    snapshot_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillConsidered:
    """The skills that a model was offered, how many were left out, and the one it chose, if any."""

    frame_id: str
    offered: tuple[str, ...]
    left_out_count: int = 0
    skill: str | None = None
    reason: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillInvoked:
    """The one skill of the turn; of a command's also the tool, its provider and the result's code."""

    frame_id: str
    name: str
    source: str
    mode: str
    reason: str
    provider: str | None = field(default=None, metadata=OPTIONAL)
    tool: str | None = field(default=None, metadata=OPTIONAL)
    status: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySet:
    """How much deliberation a frame gets."""

    policy_id: str
    frame_id: str
    level: int
    closure_mode: str
    max_frontier: int
    min_families: int
    max_comparisons: int
    validation_floor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedAdmitted:
    """One direction of inquiry for one intent."""

    seed_id: str
    frame_id: str
    intent_ref: int
    act: str
    mode: str
    action: str
    focus: str
    implicit: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitsStaged:
    """What a frame's detection found; the units themselves go with the event."""

    frame_id: str
    execution_id: str
    unit_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why an execution took place: it consumed another's output, or was tried in another's place."""

    kind: Literal["flow", "retry"]
    execution_id: str = field(metadata=on_wire("from"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginStarted:
    """A plugin call begins."""

    execution_id: str
    frame_id: str
    stage: str
    plugin_id: str
    plugin_name: str
    plugin_type: str
    cause: Cause | None = None
    attempt: int = 1
    input_snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFinished:
    """The end of a call; `sufficient` is a retriever's, `finish_reason` is `length` when a model's answer was cut."""

    execution_id: str
    frame_id: str
    status: str
    duration_ms: int
    llm_calls: int
    sufficient: bool | None = None
    model: str | None = None
    model_role: str | None = None
    error: ErrorRecord | None = None
    output_snippet: str = ""
    usage: Usage | None = field(default=None, metadata=OPTIONAL)
    finish_reason: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanMade:
    """The plan in force from here on."""

    frame_id: str
    execution_id: str
    phase: str
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitsJudged:
    """What retrieval and solving did to units; goes to the ledger, is not stored as a record."""

    frame_id: str
    execution_id: str
    rows: tuple[LedgerEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchStarted:
    """One solver over one view of evidence."""

    branch_id: str
    frame_id: str
    execution_id: str
    intent_refs: tuple[int, ...]
    seed_ids: tuple[str, ...]
    plugin_id: str
    kb_plugin_id: str
    planner_plugin_id: str
    evidence_profile_hash: str
    family_signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchFinished:
    """A branch that succeeded; `validation_id` is the execution that accepted it."""

    branch_id: str
    frame_id: str
    status: str
    result_id: str
    validation_id: str | None
    output_preview: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchFailed:
    """A branch that failed, and why."""

    branch_id: str
    frame_id: str
    failure_id: str
    reason: str
    error: str | None
    plugin_id: str
    evidence_profile_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRecorded:
    """What a branch produced, and whether validators accepted it."""

    result_id: str
    frame_id: str
    branch_id: str
    kind: str
    validation_status: str
    grounded: bool
    support_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePromoted:
    """A result that may become the answer."""

    candidate_id: str
    frame_id: str
    branch_id: str
    branch_ids: tuple[str, ...]
    result_id: str
    label: str
    family_signature: str
    validation_status: str
    strength: str
    criteria: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSelected:
    """The candidate that gives the frame's answer; the others stay suspended."""

    candidate_id: str
    frame_id: str
    suspended_branch_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonMade:
    """The selected candidate against another, and what decided."""

    comparison_id: str
    frame_id: str
    label: str
    status: str
    candidate_ids: tuple[str, ...]
    criterion: str | None
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeMade:
    """A weak answer held against further evidence."""

    challenge_id: str
    frame_id: str
    target_id: str
    label: str
    kind: str
    severity: str
    prompt: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktrackTaken:
    """Which step (evidence, planner, frame) is tried again with another candidate."""

    frame_id: str
    step: Literal["evidence", "planner", "frame"]
    tried: str = field(metadata=on_wire("from"))
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDelta:
    """A piece of an answer that a model is writing; sent to readers of the stream and not stored."""

    frame_id: str
    execution_id: str
    plugin_id: str
    delta: str
    is_draft: bool
    used: Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished:
    """The end of the turn, with the error if there is one."""

    status: str
    answer_status: AnswerStatus | None
    answer_basis: Basis | None = field(default=None, metadata=OPTIONAL)
    error: ErrorRecord | None = None


type EventData = (
    TurnStarted
    | FrameOpened
    | FrameClosed
    | CommandResolved
    | SkillConsidered
    | SkillInvoked
    | PolicySet
    | SeedAdmitted
    | UnitsStaged
    | PluginStarted
    | PluginFinished
    | PlanMade
    | UnitsJudged
    | BranchStarted
    | BranchFinished
    | BranchFailed
    | ResultRecorded
    | CandidatePromoted
    | CandidateSelected
    | ComparisonMade
    | ChallengeMade
    | BacktrackTaken
    | AnswerDelta
    | TurnFinished
)


def _name_of(kind: type) -> str:
    """Return the name of an event by its class: `turn.started` of `TurnStarted`."""
    return "".join("." + char.lower() if char.isupper() else char for char in kind.__name__).removeprefix(".")


EVENT_NAMES: Mapping[type, str] = {kind: _name_of(kind) for kind in get_args(EventData.__value__)}
EVENT_TYPES: Mapping[str, type] = {name: kind for kind, name in EVENT_NAMES.items()}

type Record = Sequence[Any]
"""A stored event: `[name, atMs, data]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One machine event; `at_ms` counts from the start of the turn.

    `units` is filled with `UnitsStaged` alone: the units themselves, for whoever stores them.
    """

    at_ms: int
    data: EventData
    detail_ref: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    units: tuple[KnowledgeUnit, ...] = ()

    @property
    def name(self) -> str:
        """Return the event's name, noun and past participle."""
        return EVENT_NAMES[type(self.data)]

    @property
    def frame_id(self) -> str:
        """Return the frame that the event is about; the turn's own events count for the root."""
        return getattr(self.data, "frame_id", ROOT_FRAME_ID)


def record_of(event: Event) -> Record:
    """Return the stored form of an event without its payload."""
    return [event.name, event.at_ms, to_wire(event.data)]


def event_of(record: Record) -> Event:
    """Return the event of a stored record."""
    name, at_ms, data = record
    return Event(at_ms=at_ms, data=from_wire(EVENT_TYPES[name], data))


def said[Data](kind: type[Data], events: Iterable[Event]) -> list[Data]:
    """Return what the events of one kind say, in their order."""
    return [event.data for event in events if isinstance(event.data, kind)]


Emit = Callable[[Event], None]
"""Takes an event; called only on the thread that runs the turn."""
