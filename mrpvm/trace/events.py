"""Machine events: everything a turn's record is made of.

An event carries its structure in `data`, one frozen value for each name, and, where a node of the graph has a
payload, a piece of that payload in `detail`; pieces for the same `detail_ref` are merged. Structure and payload are
stored apart, so that a turn of a thousand executions can be drawn without reading what they said.

An event is stored as the record `[name, atMs, data]`: `record_of` and `event_of` are the way there and back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct, field

from mrpvm.errors import ErrorRecord
from mrpvm.values import AnswerStatus, Basis, KnowledgeUnit, LedgerEntry, Plan, Selection, Usage
from mrpvm.wire import OPTIONAL, OnWire, from_wire, to_wire

ROOT_FRAME_ID = "frame-0"


class TurnStarted(Struct, frozen=True, kw_only=True):
    """The turn as it was asked for; a turn that the machine did not begin has no pins, preferences or grounding."""

    request_id: str | None
    session_id: str | None
    input_message: str | None
    deliberation_level: int
    effective_level: int
    planner_candidates: tuple[str, ...] = ()
    seed_detector_candidates: tuple[str, ...] = ()
    started_at: Annotated[str | None, OPTIONAL] = None
    grounding: Annotated[str | None, OPTIONAL] = None
    pins: Annotated[Selection | None, OPTIONAL] = None
    preferences: Annotated[Selection | None, OPTIONAL] = None


class FrameOpened(Struct, frozen=True, kw_only=True):
    """A frame below `parent_frame_id`, opened by an execution; `intents` are the texts that a child is to answer."""

    frame_id: str
    parent_frame_id: str | None
    purpose: str
    label: str
    depth: int
    opened_by: str | None
    intent_refs: tuple[int, ...] = ()
    intents: tuple[str, ...] = ()


class FrameClosed(Struct, frozen=True, kw_only=True):
    """A frame's status when it closed, and one closure reason."""

    frame_id: str
    status: str
    closure_reason: str


class CommandResolved(Struct, frozen=True, kw_only=True):
    """What a typed command means, and why; `snapshot_*` name the skills that it was resolved with."""

    frame_id: str
    name: str
    route: str
    reason: str
    snapshot_version: int | None = None
    snapshot_hash: str | None = None


class SkillConsidered(Struct, frozen=True, kw_only=True):
    """The skills that a model was offered, how many were left out, and the one it chose, if any."""

    frame_id: str
    offered: tuple[str, ...]
    left_out_count: int = 0
    skill: str | None = None
    reason: str = ""
    problem: str = ""


class SkillInvoked(Struct, frozen=True, kw_only=True):
    """The one skill of the turn; of a command's also the tool, its provider and the result's code."""

    frame_id: str
    name: str
    source: str
    mode: str
    reason: str
    provider: Annotated[str | None, OPTIONAL] = None
    tool: Annotated[str | None, OPTIONAL] = None
    status: Annotated[str | None, OPTIONAL] = None


class PolicySet(Struct, frozen=True, kw_only=True):
    """How much deliberation a frame gets."""

    policy_id: str
    frame_id: str
    level: int
    closure_mode: str
    max_frontier: int
    min_families: int
    max_comparisons: int
    validation_floor: str


class SeedAdmitted(Struct, frozen=True, kw_only=True):
    """One direction of inquiry for one intent."""

    seed_id: str
    frame_id: str
    intent_ref: int
    act: str
    mode: str
    action: str
    focus: str
    implicit: bool


class UnitsStaged(Struct, frozen=True, kw_only=True):
    """What a frame's detection found; the units themselves go with the event."""

    frame_id: str
    execution_id: str
    unit_ids: tuple[str, ...]


class Cause(Struct, frozen=True, kw_only=True):
    """Why an execution took place: it consumed another's output, or was tried in another's place."""

    kind: Literal["flow", "retry"]
    execution_id: Annotated[str, OnWire("from")]


class PluginStarted(Struct, frozen=True, kw_only=True):
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


class PluginFinished(Struct, frozen=True, kw_only=True):
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
    usage: Annotated[Usage | None, OPTIONAL] = None
    finish_reason: Annotated[str | None, OPTIONAL] = None


class PlanMade(Struct, frozen=True, kw_only=True):
    """The plan in force from here on."""

    frame_id: str
    execution_id: str
    phase: str
    plan: Plan


class UnitsJudged(Struct, frozen=True, kw_only=True):
    """What retrieval and solving did to units; goes to the ledger, is not stored as a record."""

    frame_id: str
    execution_id: str
    rows: tuple[LedgerEntry, ...]


class BranchStarted(Struct, frozen=True, kw_only=True):
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


class BranchFinished(Struct, frozen=True, kw_only=True):
    """A branch that succeeded; `validation_id` is the execution that accepted it."""

    branch_id: str
    frame_id: str
    status: str
    result_id: str
    validation_id: str | None
    output_preview: str


class BranchFailed(Struct, frozen=True, kw_only=True):
    """A branch that failed, and why."""

    branch_id: str
    frame_id: str
    failure_id: str
    reason: str
    error: str | None
    plugin_id: str
    evidence_profile_hash: str


class ResultRecorded(Struct, frozen=True, kw_only=True):
    """What a branch produced, and whether validators accepted it."""

    result_id: str
    frame_id: str
    branch_id: str
    kind: str
    validation_status: str
    grounded: bool
    support_ids: tuple[str, ...]


class CandidatePromoted(Struct, frozen=True, kw_only=True):
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


class CandidateSelected(Struct, frozen=True, kw_only=True):
    """The candidate that gives the frame's answer; the others stay suspended."""

    candidate_id: str
    frame_id: str
    suspended_branch_ids: tuple[str, ...]


class ComparisonMade(Struct, frozen=True, kw_only=True):
    """The selected candidate against another, and what decided."""

    comparison_id: str
    frame_id: str
    label: str
    status: str
    candidate_ids: tuple[str, ...]
    criterion: str | None
    summary: str


class ChallengeMade(Struct, frozen=True, kw_only=True):
    """A weak answer held against further evidence."""

    challenge_id: str
    frame_id: str
    target_id: str
    label: str
    kind: str
    severity: str
    prompt: str
    status: str


class BacktrackTaken(Struct, frozen=True, kw_only=True):
    """Which step (evidence, planner, frame) is tried again with another candidate."""

    frame_id: str
    step: Literal["evidence", "planner", "frame"]
    tried: Annotated[str, OnWire("from")]
    reason: str


class AnswerDelta(Struct, frozen=True, kw_only=True):
    """A piece of an answer that a model is writing; sent to readers of the stream and not stored."""

    frame_id: str
    execution_id: str
    plugin_id: str
    delta: str
    is_draft: bool
    used: Selection


class TurnFinished(Struct, frozen=True, kw_only=True):
    """The end of the turn, with the error if there is one."""

    status: str
    answer_status: AnswerStatus | None
    answer_basis: Annotated[Basis | None, OPTIONAL] = None
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


class Event(Struct, frozen=True, kw_only=True):
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
