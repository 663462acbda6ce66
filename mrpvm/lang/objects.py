"""Admitted objects: what a control document means once it was admitted as a whole.

`statement_id` is the object's id inside its document. Fields are named as in LANG-14, in snake case; None means
not assigned. Places in the source are kept, but two objects are equal when they say the same.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from mrpvm.lang.schema import DocumentKind, ObjectKind
from mrpvm.lang.tokens import Location

NOWHERE = Location(0, 0)
"""The place of an object that was not read from a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePlaces:
    """Where an object's parts stand: its constructor, the last `set` of each field, constraints, regimes."""

    constructor: Location = NOWHERE
    fields: Mapping[str, Location] = field(default_factory=dict)
    constraints: tuple[Location, ...] = ()
    regimes: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedObject:
    """What all admitted objects have; `constraints` are those of `constrain`, in order."""

    kind: ClassVar[ObjectKind]
    statement_id: str
    constraints: tuple[str, ...] = ()
    places: SourcePlaces = field(default_factory=SourcePlaces, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedIntent(AdmittedObject):
    """A task or question; `group_number` counts from 1 in document order."""

    kind = ObjectKind.INTENT
    group_number: int
    act: str
    target: str
    output: str
    context: str | None = None
    criterion: str | None = None
    evidence: str | None = None
    output_label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedSeed(AdmittedObject):
    """A direction of inquiry for one intent; `depends_on` are the seeds it was split from."""

    kind = ObjectKind.SEED
    intent_id: str
    mode: str
    action: str
    focus: str
    state: str = "active"
    domain: str | None = None
    evidence_need: str | None = None
    priority: str | int | float | None = None
    depends_on: tuple[str, ...] = ()

    @property
    def is_schedulable(self) -> bool:
        """Return whether the scheduler may run the seed."""
        return self.state == "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedSubproblem(AdmittedObject):
    """A recursive part of an intent; `regimes` are those permitted by `allows`."""

    kind = ObjectKind.SUBPROBLEM
    intent_id: str
    goal: str
    reason: str | None = None
    success_signal: str | None = None
    regimes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedPlugin(AdmittedObject):
    """A plugin descriptor."""

    kind = ObjectKind.PLUGIN
    family: str
    plugin_id: str
    name: str | None = None
    description: str | None = None
    accepts_tasks: tuple[str, ...] = ()
    accepts_modes: tuple[str, ...] = ()
    accepts_kinds: tuple[str, ...] = ()
    accepts_statuses: tuple[str, ...] = ()
    rejects_kinds: tuple[str, ...] = ()
    rejects_rules: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    validates: tuple[str, ...] = ()
    cost: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedKU(AdmittedObject):
    """A knowledge unit's envelope with its defaults filled in.

    `ku_id` is the unit's own id; parents, children and origins are KU ids too, never statement ids. `hash` is
    what the document claims; the machine computes its own.
    """

    kind = ObjectKind.KU
    ku_type: str
    ku_id: str
    source_id: str
    chunk_id: str
    role: str
    topic: str
    title: str | None = None
    claim: str | None = None
    procedure: str | None = None
    condition: str | None = None
    text_body: str | None = None
    symbolic_subject: str | None = None
    symbolic_relation: str | None = None
    symbolic_object: str | None = None
    confidence: float | None = None
    parent_unit_ids: tuple[str, ...] = ()
    child_unit_ids: tuple[str, ...] = ()
    derived_from_unit_ids: tuple[str, ...] = ()
    source_name: str | None = None
    source_type: str | None = None
    author: str | None = None
    ingested_at: str | None = None
    created_at: str | None = None
    knowledge_date: str | None = None
    chunk_index: int | None = None
    unit_index: int | None = None
    char_start: int | None = None
    char_end: int | None = None
    utility_acts: tuple[str, ...] = ()
    utility_note: str | None = None
    phase_scopes: tuple[str, ...] = ()
    unit_type: str | None = None
    chunk_type: str | None = None
    section_title: str | None = None
    hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedValidation(AdmittedObject):
    """What a branch's result is held to."""

    kind = ObjectKind.VALIDATE
    mode: str
    strength: str
    partial_allowed: bool
    preserve_constraints: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedPolicy(AdmittedObject):
    """A frame's deliberation policy."""

    kind = ObjectKind.POLICY
    frame_id: str
    level: int
    closure_mode: str
    max_frontier: int
    min_families: int
    max_comparisons: int
    validation_floor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedObjective(AdmittedObject):
    """A frame's order of criteria; a reference among `items` keeps its `$`."""

    kind = ObjectKind.OBJECTIVE
    frame_id: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedCandidate(AdmittedObject):
    """A result promoted for selection."""

    kind = ObjectKind.CANDIDATE
    frame_id: str
    branch_id: str
    result_id: str
    strength: str
    score: float | None = None
    selected: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedComparison(AdmittedObject):
    """Candidates or results to be compared; each of `items` keeps its `$`."""

    kind = ObjectKind.COMPARE
    frame_id: str
    items: tuple[str, ...]
    text: str
    status: str | None = None
    summary: str | None = None
    criterion: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedChallenge(AdmittedObject):
    """A follow-up on a candidate's or a result's uncertainty; `challenge_kind` is its severity or evidence mode."""

    kind = ObjectKind.CHALLENGE
    frame_id: str
    target_id: str
    goal: str
    challenge_kind: str
    status: str | None = None
    resolution: str | None = None
    severity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedBranch(AdmittedObject):
    """One recorded attempt with what it needs, used and came to."""

    kind = ObjectKind.BRANCH
    intent_id: str
    seed_id: str
    plugin_id: str
    status: str = "queued"
    failure_reason: str | None = None
    validation_id: str | None = None
    result_id: str | None = None
    used_kus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedResult(AdmittedObject):
    """A branch's outcome with the units that support it."""

    kind = ObjectKind.RESULT
    result_kind: str
    validation_status: str | None = None
    preserves_constraints: str | None = None
    structural_complete: str | None = None
    body: str | None = None
    supporting_kus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationEdge:
    """A link between two objects, by statement id or injected name; an implied edge has its
    constructor's place."""

    type: str
    from_id: str
    to_id: str
    place: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """One move of an object's life; `reason` only from `fail` and `deactivate`."""

    object_id: str
    state: str
    reason: str | None = None
    place: Location = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RuntimeChange:
    """A `set`, `constrain` or `allows` on an object the caller injected; applying it is the caller's business.

    `field` is None unless the command is `set`.
    """

    command: str
    object_id: str
    field: str | None
    value: str | int | float | bool | tuple[str, ...]
    place: Location = dataclasses.field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedDocument:
    """Everything one document said, as ordered maps by statement id, edges and moves in source order."""

    kind: DocumentKind
    intents: Mapping[str, AdmittedIntent] = field(default_factory=dict)
    seeds: Mapping[str, AdmittedSeed] = field(default_factory=dict)
    subproblems: Mapping[str, AdmittedSubproblem] = field(default_factory=dict)
    plugins: Mapping[str, AdmittedPlugin] = field(default_factory=dict)
    kus: Mapping[str, AdmittedKU] = field(default_factory=dict)
    validations: Mapping[str, AdmittedValidation] = field(default_factory=dict)
    policies: Mapping[str, AdmittedPolicy] = field(default_factory=dict)
    objectives: Mapping[str, AdmittedObjective] = field(default_factory=dict)
    candidates: Mapping[str, AdmittedCandidate] = field(default_factory=dict)
    comparisons: Mapping[str, AdmittedComparison] = field(default_factory=dict)
    challenges: Mapping[str, AdmittedChallenge] = field(default_factory=dict)
    branches: Mapping[str, AdmittedBranch] = field(default_factory=dict)
    results: Mapping[str, AdmittedResult] = field(default_factory=dict)
    relation_edges: tuple[RelationEdge, ...] = ()
    status_events: tuple[StatusEvent, ...] = ()
    runtime_changes: tuple[RuntimeChange, ...] = ()
    external_refs: Mapping[str, ObjectKind] = field(default_factory=dict, compare=False)

    @property
    def objects(self) -> dict[str, AdmittedObject]:
        """Return every object by statement id, one kind after the other."""
        maps: tuple[Mapping[str, AdmittedObject], ...] = (
            self.intents, self.seeds, self.subproblems, self.plugins, self.kus, self.validations, self.policies,
            self.objectives, self.candidates, self.comparisons, self.challenges, self.branches, self.results,
        )  # fmt: skip
        return {statement_id: item for group in maps for statement_id, item in group.items()}
