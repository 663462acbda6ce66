"""Frozen values that every layer of the machine speaks.

Sizes are Unicode code points, durations integer milliseconds, scores are in [0, 1]; `mrpvm.wire`
gives the JSON form of any of them.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct, field, structs

from mrpvm.errors import ErrorRecord
from mrpvm.wire import OPTIONAL, OnWire

ACTS = (
    "compare", "explain", "recommend", "diagnose", "implement", "verify", "define", "evaluate", "identify", "describe",
)  # fmt: skip
"""Pragmatic acts."""
Role = Literal[
    "Comparison", "Explanation", "Procedure", "Definition", "Evaluation", "Diagnostic", "Constraint", "Narrative",
    "Description",
]  # fmt: skip
"""Role of a unit, case-sensitive."""
ROLES: tuple[str, ...] = get_args(Role)
RELATIONS = (
    "uses", "provides", "has_capability", "depends_on", "part_of", "instance_of", "relevant_for", "supports",
    "mentions", "about", "causes",
)  # fmt: skip
"""Relations of a triple; new ones are never invented."""
PHASE_SCOPES = ("sd-plugin", "mrp-plan-plugin", "kb-plugin", "gs-plugin", "frame", "val-plugin")
"""Phases a unit may speak to."""
KuType = Literal["atomic", "composite", "aggregate"]
KU_TYPES: tuple[str, ...] = get_args(KuType)
PLUGIN_TYPES = ("sd-plugin", "kb-plugin", "gs-plugin", "val-plugin", "mrp-plan-plugin")
"""The five families."""
LEGAL_STATUSES: Mapping[str, frozenset[str]] = {
    "sd-plugin": frozenset({"success", "unsupported", "error"}),
    "kb-plugin": frozenset({"success", "insufficient", "error"}),
    "gs-plugin": frozenset({"success", "no-context", "needs-decomposition", "error"}),
    "val-plugin": frozenset({"accepted", "rejected", "error"}),
}
"""Statuses a family may return; a planner's plan, or None, counts as success."""
STAGES = ("seed-detector", "planner", "kb", "helper", "goal-solver", "validation")
"""Stages of a frame, in running order."""

DEFAULT_ACTS_BY_ROLE: Mapping[str, tuple[str, ...]] = {
    "Comparison": ("compare",),
    "Explanation": ("explain",),
    "Procedure": ("implement",),
    "Definition": ("define",),
    "Evaluation": ("evaluate",),
    "Diagnostic": ("diagnose",),
    "Constraint": ("verify",),
    "Narrative": ("explain", "describe"),
    "Description": ("describe",),
}
"""Acts a unit is useful for when it does not say."""

CHARS_PER_TOKEN = 4
"""Characters of a token, for estimates."""

Store = Literal["current-turn", "session", "draft", "kb"]
AnswerStatus = Literal["answered", "no-context", "failed"]

CHAT_TURN = "chat-turn"
"""The source type of what was said in a conversation."""


class KnowledgeUnit(Struct, frozen=True, kw_only=True):
    """A self-contained piece of knowledge with its provenance."""

    id: str
    ku_type: str = "atomic"
    role: str
    topic: str = ""
    title: str | None = None
    claim: str | None = None
    procedure: str | None = None
    condition: str | None = None
    text_body: str | None = None
    subject: str | None = None
    relation: str | None = None
    object: str | None = None
    confidence: float | None = None
    parent_unit_ids: tuple[str, ...] = ()
    child_unit_ids: tuple[str, ...] = ()
    derived_from_unit_ids: tuple[str, ...] = ()
    source_id: str = "session"
    chunk_id: str = ""
    chunk_index: int | None = None
    unit_index: int | None = None
    char_start: int | None = None
    char_end: int | None = None
    source_name: str | None = None
    source_type: str | None = None
    author: str | None = None
    ingested_at: str | None = None
    created_at: str | None = None
    knowledge_date: str | None = None
    utility_acts: tuple[str, ...] = ()
    utility_note: str | None = None
    phase_scopes: tuple[str, ...] = ("kb-plugin",)
    unit_type: str | None = None
    chunk_type: str | None = None
    section_title: str | None = None
    hash: str = ""

    @property
    def text(self) -> str:
        """Return what the unit says: its claim, else its procedure, else its topic."""
        return self.claim or self.procedure or self.topic

    @property
    def is_evidence(self) -> bool:
        """Return whether retrieval may offer the unit as evidence."""
        return "kb-plugin" in self.phase_scopes

    @property
    def is_guidance(self) -> bool:
        """Return whether the unit instructs a phase other than retrieval."""
        return any(scope != "kb-plugin" for scope in self.phase_scopes)


class Intent(Struct, frozen=True, kw_only=True):
    """One admitted task or question of the user's message; `group_number` counts from 1."""

    id: str
    group_number: int
    act: str
    target: str
    output: str
    context: str | None = None
    criterion: str | None = None
    evidence: str | None = None
    constraints: tuple[str, ...] = ()


class Seed(Struct, frozen=True, kw_only=True):
    """The operational direction of inquiry for one intent; `implicit` when the kernel added it."""

    id: str
    intent_id: str
    mode: str
    action: str
    focus: str
    split_from: tuple[str, ...] = ()
    implicit: bool = False


class DecomposedIntent(Struct, frozen=True, kw_only=True):
    """An intent in the shape retrieval and solving use."""

    group_number: int
    act: str
    intent: str
    target: str
    criteria: tuple[str, ...]
    evidence: tuple[str, ...]
    explicit_context: str | None
    output_type: str


class ContextProfile(Struct, frozen=True, kw_only=True):
    """What retrieval should look for on behalf of one intent; `query_terms` are stemmed."""

    intent_group_number: int
    needed_roles: tuple[str, ...]
    query_text: str
    query_terms: tuple[str, ...]
    act_boost: str
    max_results: int


class EvidenceEntry(Struct, frozen=True, kw_only=True):
    """A unit chosen for an intent, with the reasons it was chosen for.

    `score` is the fused score; `notes` say which backend and which boost made it. `likeness` is the cosine of the
    question's vector and the unit's own, None where there was no model or no vector yet.
    """

    unit: KnowledgeUnit
    score: float
    store: Store
    notes: tuple[str, ...] = ()
    likeness: Annotated[float | None, OPTIONAL] = None


class GuidanceUnits(Struct, frozen=True, kw_only=True):
    """Guidance of an intent, sorted by the phase it speaks to."""

    seed_detector: tuple[EvidenceEntry, ...] = ()
    planner: tuple[EvidenceEntry, ...] = ()
    goal_solver: tuple[EvidenceEntry, ...] = ()
    decomposition: tuple[EvidenceEntry, ...] = ()
    validation: tuple[EvidenceEntry, ...] = ()

    @property
    def strategy(self) -> tuple[EvidenceEntry, ...]:
        """Return what says how to go about the task: planning, decomposition and validation, without doubles."""
        entries = (*self.planner, *self.decomposition, *self.validation)
        return tuple({entry.unit.id: entry for entry in entries}.values())


class Evidence(Struct, frozen=True, kw_only=True):
    """Everything retrieval hands to the solver for one intent: the resolved intent."""

    intent: Intent
    decomposed: DecomposedIntent
    profile: ContextProfile
    current_turn_units: tuple[EvidenceEntry, ...] = ()
    session_units: tuple[EvidenceEntry, ...] = ()
    kb_units: tuple[EvidenceEntry, ...] = ()
    guidance: GuidanceUnits = field(default_factory=GuidanceUnits)
    sufficient: bool = False

    @property
    def entries(self) -> tuple[EvidenceEntry, ...]:
        """Return all evidence, current turn first, then session, then knowledge base."""
        return self.current_turn_units + self.session_units + self.kb_units


class IntentAssessment(Struct, frozen=True, kw_only=True):
    """How far the evidence of one intent goes; `purpose` says whether facts, method or both were found."""

    intent_ref: int
    purpose: Literal["task-evidence", "strategy-guidance", "mixed"]
    evidence_count: int
    strategy_count: int
    needed_roles: tuple[str, ...]
    covered_roles: tuple[str, ...]
    unique_source_count: int
    ku_levels_used: tuple[str, ...]
    sufficient: bool


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """What happened to one unit at one step of one execution: the context ledger's row.

    `score` is the sum of the named `parts` and may exceed 1, unlike that of the unit's entry in the evidence.
    """

    unit_id: str
    step: Literal["offered", "selected", "pruned", "cited"]
    store: Store
    rank: int | None = None
    score: float | None = None
    reason: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)


class CandidateScore(Struct, frozen=True, kw_only=True):
    """What a planner thinks of one candidate: the sum of named parts."""

    plugin_id: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


class Plan(Struct, frozen=True, kw_only=True):
    """A planner's ordered candidates and how it came to them.

    `scores` are those of the candidates in order, `left_out` the ones that it found irrelevant, `notes` what else was
    decided, in words.
    """

    planner_plugin_id: str
    kb_plugin_order: tuple[str, ...]
    goal_solver_order: tuple[str, ...]
    decompose: bool = False
    frame_purpose: str | None = None
    scores: tuple[CandidateScore, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Basis = Literal["stated", "composed", "quoted", "none"]
"""What an answer rests on: a cited sentence that states it, several that belong together, a passage that is only about
it, or nothing. The strongest is first."""
BASES: tuple[Basis, ...] = ("stated", "composed", "quoted", "none")


class AnswerGroup(Struct, frozen=True, kw_only=True):
    """The result for one intent of the root frame; `cited_unit_ids` is a subset of the listed units.

    `basis` of an answered group that cites something is `stated` unless it says otherwise. `confidence` is how likely
    the shown text answers, None where nothing tells; `reason` says what decided. `model_failed`: a language model was
    asked for it and failed.
    """

    intent_ref: int
    act: str
    intent: str
    status: Literal["answered", "no-context", "plugin-error"]
    answer_markdown: str
    evidence: tuple[EvidenceEntry, ...] = ()
    cited_unit_ids: tuple[str, ...] = ()
    plugin_output: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    grounded: bool = True
    basis: Basis = "none"
    confidence: float | None = None
    reason: str = ""
    model_failed: bool = False

    def __post_init__(self) -> None:
        if self.status == "answered" and self.basis == "none" and self.cited_unit_ids:
            structs.force_setattr(self, "basis", "stated")


class Answer(Struct, frozen=True, kw_only=True):
    """What a turn answers: one group per admitted intent, in intent order."""

    groups: tuple[AnswerGroup, ...]

    @property
    def status(self) -> Literal["answered", "no-context"]:
        """Return `answered` if at least one group is, else `no-context`."""
        return "answered" if any(group.status == "answered" for group in self.groups) else "no-context"

    @property
    def basis(self) -> Basis:
        """Return the strongest basis of the groups."""
        return min((group.basis for group in self.groups), key=BASES.index, default="none")


class HistoryMessage(Struct, frozen=True, kw_only=True):
    """One earlier message as the model sees it: user, assistant, system or tool.

    `tool` and `tool_input` name the tool that gave a result, and what it was given, where that is known.
    """

    role: str
    content: str
    tool: str = ""
    tool_input: str = ""


class Recall(Struct, frozen=True, kw_only=True):
    """What the conversation adds to a search: stems with weights up to 1, source ids to prefer.

    `texts` are what a search by meaning adds to the question, each with its weight beside the question's 1. `is_needed`
    is false where the message does not refer to what was said: then nothing is added if a unit holds all its words, and
    documents are preferred only where `prefers_always`.
    """

    terms: Mapping[str, float] = field(default_factory=dict)
    texts: tuple[tuple[float, str], ...] = ()
    documents: tuple[str, ...] = ()
    is_needed: bool = True
    prefers_always: bool = False


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of one answer: the provider's own count, else an estimate."""

    input_tokens: int
    output_tokens: int
    is_estimated: Annotated[bool, OnWire("estimated")] = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            is_estimated=self.is_estimated or other.is_estimated,
        )


class Selection(Struct, frozen=True, kw_only=True):
    """One plugin id per stage, or None where nobody chose: pins and preferences use the same shape."""

    planner: str | None = None
    seed_detector: str | None = None
    kb: str | None = None
    goal_solver: str | None = None


class SessionState(Struct, frozen=True, kw_only=True):
    """The facts about the session that planners may look at."""

    session_id: str
    mounted_kb_id: str
    mounted_kb_name: str
    message_count: int
    session_context_unit_count: int
    deliberation_level: int


class SkillUse(Struct, frozen=True, kw_only=True):
    """The skill that guides a turn, and why it was chosen."""

    name: str
    source: str
    mode: str
    reason: str


class SkillOffer(Struct, frozen=True, kw_only=True):
    """The skills that a model was offered for a turn, how many were left out, and the name of the one it chose, if any.

    `problem` says why a reply did not count.
    """

    offered: tuple[str, ...]
    left_out_count: int = 0
    skill: str | None = None
    reason: str = ""
    problem: str = ""


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of one turn; without comparison every deliberation level acts as 0."""

    max_llm_calls: int = 5
    request_timeout_ms: int = 60_000
    max_plugins_per_stage: int = 4
    max_frame_depth: int = 3
    max_parallel_seeds: int = 4
    plugin_timeout_ms: int = 30_000
    comparison_enabled: bool = True


class TurnRequest(Struct, frozen=True, kw_only=True):
    """Everything a turn may look at, frozen by preparation; `is_streamed`: the answer is read while it is written.

    `earlier` are messages of the user that `history` leaves out. `resolves_references` is false for a message that is
    read as it stands: detectors then see neither.
    `quotes`: what cannot be answered shows the closest passage.

    `skill` is the one that guides the turn, `skill_choice` what a model was offered and chose; both for the record.
    `spent_ms` and `spent_llm_calls` are what preparing the turn has taken of its limits already.
    """

    request_id: str
    message: str
    session: SessionState
    system_prompt: str | None = None
    history: tuple[HistoryMessage, ...] = ()
    earlier: tuple[HistoryMessage, ...] = ()
    recall: Recall | None = None
    resolves_references: bool = True
    pins: Selection = field(default_factory=Selection)
    preferences: Selection = field(default_factory=Selection)
    deliberation_level: int = 0
    requested_model: str | None = None
    session_model: str | None = None
    grounding: Literal["strict", "open"] = "strict"
    quotes: bool = True
    is_streamed: bool = False
    skill: SkillUse | None = None
    skill_choice: SkillOffer | None = None
    limits: Limits = field(default_factory=Limits)
    spent_ms: int = 0
    spent_llm_calls: int = 0
    utilities: Mapping[tuple[str, str], float] = field(default_factory=dict)


class StageRecord(Struct, frozen=True, kw_only=True):
    """How one plugin call ended, for planners' statistics."""

    stage: str
    plugin_id: str
    status: str
    duration_ms: int
    llm_calls: int = 0
    sufficient: bool | None = None
    frame_id: str = ""


class TurnOutcome(Struct, frozen=True, kw_only=True):
    """How a turn ended; `answer` is None unless it succeeded, `error` is None if it did.

    `used` names the plugins that produced the answer, or, after a failure, those that were pinned or tried.
    `read_as` are the intents to which a detector added what the conversation speaks of, as part of the question or in
    brackets behind it.
    """

    status: Literal["succeeded", "failed", "cancelled"]
    answer_status: AnswerStatus | None
    answer: Answer | None
    answer_text: str
    staged_units: tuple[KnowledgeUnit, ...]
    used: Selection
    stages: tuple[StageRecord, ...]
    error: ErrorRecord | None = None
    read_as: tuple[str, ...] = ()
