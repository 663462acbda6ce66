"""The five plugin families and the ports, in the order one turn meets them.

    planner  ->  seed detector  ->  KB retriever  ->  goal solver  ->  response validator

A plugin is any object with a `descriptor` and its family's verb. Expected outcomes are statuses in the returned
value, never exceptions; an exception that escapes is recorded as `error` and answered by backtracking.
Plugins get everything by argument, treat it as read-only and keep no conversation state of their own.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol, TypedDict, runtime_checkable

from msgspec import Struct, field

from mrpvm.conversation.helping import HelperOutput as HelperOutput  # and with_helper: for goal solvers
from mrpvm.conversation.helping import with_helper as with_helper
from mrpvm.knowledge.port import KnowledgePort as KnowledgePort  # and the next two: the ports' place for plugins
from mrpvm.knowledge.port import ScoredUnit as ScoredUnit
from mrpvm.knowledge.source_text import SourceReader as SourceReader  # and the next two: an optional hook of
from mrpvm.knowledge.source_text import SourceReply as SourceReply  # KB plugins
from mrpvm.knowledge.source_text import SourceText as SourceText
from mrpvm.knowledge.unit_artifacts import UnitReader as UnitReader  # another of these hooks
from mrpvm.llm.port import LanguageModel as LanguageModel
from mrpvm.values import (
    Answer,
    ContextProfile,
    DecomposedIntent,
    Evidence,
    GuidanceUnits,
    HistoryMessage,
    Intent,
    IntentAssessment,
    KnowledgeUnit,
    LedgerEntry,
    Plan,
    Recall,
    Selection,
    SessionState,
)
from mrpvm.wire import OnWire

PluginType = Literal["sd-plugin", "kb-plugin", "gs-plugin", "val-plugin", "mrp-plan-plugin"]


# -- descriptor ------------------------------------------------------------------------------------------


class PlannerHints(Struct, frozen=True, kw_only=True):
    """Priors a planner uses until statistics have accumulated."""

    expected_latency_ms: int
    expected_llm_calls: Annotated[float, OnWire("expectedLLMCalls")]
    relative_cost: float
    supported_acts: tuple[str, ...]
    topic_tags: tuple[str, ...]
    preferred_depth: Literal["shallow", "medium", "deep"]
    fallback_role: Literal["cheap-probe", "default", "heavy-recovery"]
    confidence_when_matched: float
    evidence_style: tuple[str, ...] = ()


class Descriptor(Struct, frozen=True, kw_only=True):
    """What a plugin says about itself. `timeout_ms` is enforced for every call.

    A plugin that `is_quick` is called on the thread of the turn, which cannot abandon it: its work is bounded, it asks
    no model, and it waits for nothing but `context.knowledge`. One that is not `is_deterministic` may return something
    else for the same input: a replay takes its recorded result. A KB plugin
    that would skip every event sets `heeds_events` to False and is sent none.
    """

    id: str
    type: PluginType
    name: str
    version: str
    description: str
    cost_class: Literal["cheap", "moderate", "expensive"]
    uses_llm: bool = False
    model_roles: tuple[str, ...] = ()
    max_llm_calls: int = 0
    tags: tuple[str, ...] = ()
    timeout_ms: int = 30_000
    is_quick: bool = False
    is_deterministic: bool = True
    heeds_events: bool = True
    planner_hints: PlannerHints | None = None
    provides: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ("chat-turn",)


# -- ports -----------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, handed in so that runs can be repeated."""

    def now(self) -> datetime:
        """Return the current time in UTC."""

    def monotonic_ms(self) -> float:
        """Return milliseconds from an arbitrary start, never going back."""


class CallContext(Struct, frozen=True, kw_only=True):
    """What every plugin call gets beside its own input.

    `remaining_ms` is the time left for this call. `stopped()` turns true when the turn was cancelled or ran out of
    time: long plugins look at it and return early. A solver with one intent may hand its answer's text to `write`
    piece by piece while it comes; joined, the pieces begin what it returns.
    """

    request_id: str
    session: SessionState
    frame_id: str
    frame_depth: int
    remaining_ms: int
    remaining_llm_calls: int
    knowledge: KnowledgePort
    model: LanguageModel
    stopped: Callable[[], bool]
    write: Callable[[str], None] = field(default=lambda text: None)


class CallMetadata(Struct, frozen=True, kw_only=True):
    """What a call used: logical model calls, and the model's name, None if no model was called."""

    llm_calls: int = 0
    model: str | None = None
    model_role: str | None = None
    warnings: tuple[str, ...] = ()


class PluginError(Struct, frozen=True, kw_only=True):
    """Why a call ended with status `error`."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


# -- planner ---------------------------------------------------------------------------------------------

PlanPhase = Literal["post-seed", "post-kb", "post-solve"]


class RetrievalSummary(Struct, frozen=True, kw_only=True):
    """What one KB plugin found, as planners see it."""

    plugin_id: str
    sufficient: bool
    evidence_count: int
    strategy_unit_count: int = 0


class PlanInput(Struct, frozen=True, kw_only=True):
    """What a planner decides from. Pins and preferences stay apart.

    `utilities` are learned, by type and id of a plugin; one that was never tried has none. `covered_families`
    were tried in the frame, and the results of `suspended_branch_ids` wait to be selected.
    """

    phase: PlanPhase
    current_message: str
    history: tuple[HistoryMessage, ...]
    intents: tuple[Intent, ...]
    decomposed: tuple[DecomposedIntent, ...]
    profiles: tuple[ContextProfile, ...]
    current_turn_units: tuple[KnowledgeUnit, ...]
    guidance: GuidanceUnits
    retrievals: tuple[RetrievalSummary, ...]
    prior_plan: Plan | None
    pins: Selection
    preferences: Selection
    session: SessionState
    kb_descriptors: tuple[Descriptor, ...]
    goal_solver_descriptors: tuple[Descriptor, ...]
    utilities: Mapping[tuple[str, str], float] = field(default_factory=dict)
    covered_families: tuple[str, ...] = ()
    suspended_branch_ids: tuple[str, ...] = ()


@runtime_checkable
class Planner(Protocol):
    """Orders the KB and goal-solver candidates of a frame."""

    descriptor: Descriptor

    def plan(self, request: PlanInput, context: CallContext) -> Plan | None:
        """Return a plan, or None to keep the earlier one."""


# -- seed detector ---------------------------------------------------------------------------------------


class DetectInput(Struct, frozen=True, kw_only=True):
    """The message and its surroundings.

    `earlier` are the user's messages that lie before `history`, as far as a pronoun may point; no model is sent them.
    """

    message: str
    history: tuple[HistoryMessage, ...] = ()
    earlier: tuple[HistoryMessage, ...] = ()
    system_prompt: str | None = None
    requested_model: str | None = None
    session_model: str | None = None


class Detection(Struct, frozen=True, kw_only=True):
    """Two control documents from one pass: the intents, and what the message told us.

    `intent_document` is needed for `success`; `context_document` is None when the message states nothing.
    """

    status: Literal["success", "unsupported", "error"]
    intent_document: str | None = None
    context_document: str | None = None
    metadata: CallMetadata = field(default_factory=CallMetadata)
    error: PluginError | None = None


class ChunkInput(Struct, frozen=True, kw_only=True):
    """One chunk of a source to be normalised into units; at most 8000 characters."""

    text: str
    source_id: str
    source_name: str
    chunk_id: str
    section_title: str | None = None


class Normalisation(Struct, frozen=True, kw_only=True):
    """The units of one chunk as a control document; None when the chunk states nothing."""

    status: Literal["success", "unsupported", "error"]
    context_document: str | None = None
    metadata: CallMetadata = field(default_factory=CallMetadata)
    error: PluginError | None = None


@runtime_checkable
class SeedDetector(Protocol):
    """Finds the intents of a message and the knowledge it states."""

    descriptor: Descriptor

    def detect(self, request: DetectInput, context: CallContext) -> Detection:
        """Return intents and units of the message as control text; `unsupported` if no intent can be found."""

    def normalise(self, chunk: ChunkInput, context: CallContext) -> Normalisation:
        """Return the units a chunk of a source states, as control text."""


# -- KB retriever ----------------------------------------------------------------------------------------


class RetrieveInput(Struct, frozen=True, kw_only=True):
    """What to look for, the units the running turn staged, and what the conversation adds, if anything."""

    intents: tuple[Intent, ...]
    decomposed: tuple[DecomposedIntent, ...]
    profiles: tuple[ContextProfile, ...]
    current_turn_units: tuple[KnowledgeUnit, ...]
    recall: Recall | None = None


class Retrieval(Struct, frozen=True, kw_only=True):
    """Evidence per intent, in intent order, with what became of every unit that was considered; `notes` say how."""

    status: Literal["success", "insufficient", "error"]
    evidence: tuple[Evidence, ...] = ()
    assessments: tuple[IntentAssessment, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    considered_count: int = 0
    notes: tuple[str, ...] = ()
    metadata: CallMetadata = field(default_factory=CallMetadata)
    error: PluginError | None = None


class RepositoryMeta(TypedDict):
    """A knowledge base, counted at its head; times are in ISO 8601."""

    kb_id: str
    name: str
    created_at: str
    updated_at: str
    parent_kb_id: str | None
    is_default: bool
    revision: int
    source_count: int
    unit_count: int


class WorkspaceStats(TypedDict):
    """What a session sees of its base with its draft; `dirty` says whether anything is unsaved."""

    source_count: int
    unit_count: int
    dirty: bool


class BaseSnapshot(TypedDict):
    """The version of a base's content: the id of its head, because a sealed layer never changes."""

    layer_id: int
    revision: int
    unit_count: int


class LifecycleEvent(Struct, frozen=True, kw_only=True):
    """What happened; `event_type`: session-created, kb-loaded, session-kus-added, kb-saved, kb-forked."""

    event_type: str
    session_id: str | None = None  # like all below: None where the event has no such thing
    kb_id: str | None = None
    kb_name: str | None = None
    requested_kb_id: str | None = None
    previous_kb_id: str | None = None
    previous_kb_name: str | None = None
    repository_meta: RepositoryMeta | None = None
    workspace_stats: WorkspaceStats | None = None
    snapshot: BaseSnapshot | None = None
    units: tuple[KnowledgeUnit, ...] = ()
    scope: Literal["current-turn", "committed-session"] | None = None
    reason: str | None = None


@runtime_checkable
class KBRetriever(Protocol):
    """Finds evidence for intents in the session's effective view, and hears what happens to it.

    One that is a `SourceReader` too is given every source that was stored, a `UnitReader` the units of bases.
    """

    descriptor: Descriptor

    def retrieve(self, request: RetrieveInput, context: CallContext) -> Retrieval:
        """Return evidence per intent; `insufficient` when another plugin should look too."""

    def on_session_event(self, event: LifecycleEvent) -> Literal["accepted", "skipped", "error"] | PluginError:
        """Take notice of a change; what the plugin derives from it is up to the plugin.

        A `PluginError` is status `error` with its reason; either is recorded, and stops nothing.
        """


# -- goal solver -----------------------------------------------------------------------------------------


class SolveInput(Struct, frozen=True, kw_only=True):
    """The resolved intents to answer; `grounding` says whether an answer may go beyond evidence,
    `quotes` whether the closest passage is shown where there is no answer.

    `helpers` is what external programs said about the intents, failures included; `with_helper` shows it in a group.
    `resolves_references` is false for a message that is answered as it is, without what was said before.
    """

    message: str
    evidence: tuple[Evidence, ...]
    history: tuple[HistoryMessage, ...] = ()
    resolves_references: bool = True
    system_prompt: str | None = None
    requested_model: str | None = None
    session_model: str | None = None
    grounding: Literal["strict", "open"] = "strict"
    quotes: bool = True
    helpers: tuple[HelperOutput, ...] = ()


class Solution(Struct, frozen=True, kw_only=True):
    """An answer per intent, also with `no-context`; `success` needs at least one answered group.

    After `needs-decomposition` the parts of the task get a frame each, and their answers come back as one.
    """

    status: Literal["success", "no-context", "needs-decomposition", "error"]
    answer: Answer | None = None
    metadata: CallMetadata = field(default_factory=CallMetadata)
    error: PluginError | None = None


@runtime_checkable
class GoalSolver(Protocol):
    """Answers intents from evidence."""

    descriptor: Descriptor

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Return one group per intent; nothing is asserted that the evidence does not say."""


# -- response validator ----------------------------------------------------------------------------------


class ValidateInput(Struct, frozen=True, kw_only=True):
    """The answer and what it may rest on."""

    message: str
    answer: Answer
    evidence: tuple[Evidence, ...]


class Validation(Struct, frozen=True, kw_only=True):
    """A verdict; `error` means the validator could not judge, which never counts as acceptance."""

    status: Literal["accepted", "rejected", "error"]
    reason: str = ""
    metadata: CallMetadata = field(default_factory=CallMetadata)
    error: PluginError | None = None


@runtime_checkable
class ResponseValidator(Protocol):
    """Accepts or rejects an answer."""

    descriptor: Descriptor

    def validate(self, request: ValidateInput, context: CallContext) -> Validation:
        """Return a verdict with its reason."""


Plugin = Planner | SeedDetector | KBRetriever | GoalSolver | ResponseValidator
