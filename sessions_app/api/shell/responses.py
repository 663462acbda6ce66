"""What clients get, for the schema: envelopes in snake_case, the machine's objects in camelCase.

The tests hold every answer against these shapes.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, NotRequired, TypedDict

from mrpvm.contracts import PlannerHints
from mrpvm.llm.roles import ModelTable
from mrpvm.trace.response import UnitValue
from mrpvm.values import PLUGIN_TYPES
from sessions_app.api.shell.shapes import WireTime
from sessions_app.field_notes import Between, OneOf
from sessions_app.interchange.audit_files import AuditEntryObject
from sessions_app.models import QuotaKind, RetentionKind, StorageKind
from sessions_app.queries.settings.model_roles import SessionModelTable


class ErrorObject(TypedDict):
    """What went wrong."""

    code: str
    module: str
    message: str
    details: Mapping[str, Any]
    requestId: str | None
    sessionId: str | None
    frameId: str | None
    timestamp: WireTime
    type: Annotated[str, OneOf(("invalid_request", "processing_error", "server_error"))]


class ErrorResponse(TypedDict):
    """The one error shape."""

    error: ErrorObject


class ChoicesReported(TypedDict):
    """The session's choices and its base."""

    planner_plugin: str
    seed_detector_plugin: str | None
    kb_plugin: str | None
    goal_solver_plugin: str | None
    deliberation_level: Annotated[int, Between(0, 3)]
    model: str | None
    kb_id: str
    kb_name: str
    workspace_dirty: bool


class SessionCreatedObject(ChoicesReported):
    """A new session."""

    session_id: str
    title: str | None
    created_at: datetime
    expires_at: datetime | None


class SessionMetadata(SessionCreatedObject):
    """A session."""

    label: Annotated[str, "Title, else how the conversation began, else the id."]
    status: Annotated[str, OneOf(("active", "running", "failed", "expired"))]
    last_activity_at: datetime
    flags: Annotated[
        Mapping[str, Any], "The policies chosen for the session; the others are the project's or the server's."
    ]
    message_count: int
    session_context_unit_count: int
    pending_turn_context_unit_count: int
    workspace_source_count: int
    workspace_unit_count: int
    workspace_last_saved_at: Annotated[datetime | None, "When the session last saved into a base or a fork."]
    explainability_turn_count: int
    failed_turn_count: int


class PolicyObject(TypedDict):
    """A policy as it holds for the session's next turn."""

    name: str
    value: Any
    chosen_by: Annotated[str, OneOf(("session", "project", "server"))]
    otherwise: Annotated[Any, "What holds without the session's own choice."]
    choices: Annotated[Any, "All values that it may have; null for a number."]
    least: float | None
    most: float | None


class PolicyList(TypedDict):
    """The policies of a session."""

    session_id: str
    policies: list[PolicyObject]


class PageObject(TypedDict):
    """A page of a list."""

    next_cursor: Annotated[str | None, "Give it back as `cursor` for the next page; null on the last one."]


class MemberObject(TypedDict):
    """A user in the project."""

    name: str
    role: Annotated[str, OneOf(("viewer", "editor", "admin"))]
    is_active: bool
    last_login: datetime | None


class MemberList(TypedDict):
    """Everybody who belongs to the project."""

    members: list[MemberObject]


class InvitationObject(TypedDict):
    """A link that lets one person join."""

    id: int
    role: Annotated[str, OneOf(("viewer", "editor", "admin"))]
    note: str
    created_by: str
    created_at: datetime
    expires_at: datetime


class NewInvitation(InvitationObject):
    """An invitation with its link, which is given this once."""

    link: str


class InvitationList(TypedDict):
    """The invitations that can still be used."""

    invitations: list[InvitationObject]


class AuditPage(PageObject):
    """A page of the audit log."""

    entries: list[AuditEntryObject]


class QuotaObject(TypedDict):
    """How much of something the project uses, and may use."""

    kind: Annotated[str, OneOf(tuple(QuotaKind.values))]
    name: str
    used: Annotated[float, "Now, in this minute, or on this day of UTC."]
    limit: Annotated[float | None, "null where there is none."]


class QuotaList(TypedDict):
    """What the project uses and may use."""

    quotas: list[QuotaObject]


class StoredKindObject(TypedDict):
    """The space that one kind of rows takes, with its indexes."""

    kind: Annotated[str, OneOf(tuple(StorageKind.values))]
    name: str
    byte_count: int
    is_estimate: Annotated[bool, "Whether the database could not tell exactly."]
    growth_bytes_a_day: Annotated[float | None, "null while there is one sample only."]


class StorageObject(TypedDict):
    """The newest sample of the database's size; without a day before the first."""

    day: Annotated[date | None, "Of UTC."]
    growth_days: Annotated[int, "How many days growth looks back."]
    byte_count: int | None
    growth_bytes_a_day: float | None
    kinds: Annotated[list[StoredKindObject], "The largest first."]


class RetentionRule(TypedDict):
    """After how many days a kind is removed."""

    kind: Annotated[str, OneOf(tuple(RetentionKind.values))]
    name: str
    days: Annotated[int, "0 keeps it."]
    server_days: Annotated[int, "What holds where the project has chosen nothing."]
    is_chosen: bool


class RetentionRun(TypedDict):
    """How far removing what is too old has come."""

    status: Annotated[str, OneOf(("waiting", "running", "finished", "stopped"))]
    kind: Annotated[str | None, "What it is at."]
    removed: Annotated[Mapping[str, int], "By kind, how many rows."]
    began_at: datetime | None
    finished_at: datetime | None


class RetentionObject(TypedDict):
    """The rules of a project, and the newest run by them."""

    kinds: list[RetentionRule]
    run: RetentionRun


class RetentionCount(TypedDict):
    """A number of rows."""

    count: int
    is_more: Annotated[bool, "Whether counting ended before the rows did."]


class RetentionKept(RetentionCount):
    """Rows that are old and kept anyway."""

    reason: str


class RetentionKindPreview(TypedDict):
    """What a rule would remove now, and what it would leave."""

    kind: Annotated[str, OneOf(tuple(RetentionKind.values))]
    days: int
    removed: RetentionCount
    kept: list[RetentionKept]


class RetentionPreviewObject(TypedDict):
    """What rules would remove now."""

    kinds: list[RetentionKindPreview]


class SessionPage(PageObject):
    """A page of sessions."""

    sessions: list[SessionMetadata]


class MessageObject(TypedDict):
    """One utterance."""

    sequence: int
    role: Annotated[str, OneOf(("user", "system", "assistant", "tool"))]
    content: str
    payload: Mapping[str, Any] | None
    request_id: str | None
    created_at: datetime


class MessagePage(PageObject):
    """A page of messages."""

    messages: list[MessageObject]


class UnitObject(TypedDict):
    """A unit of a session."""

    unit_id: str
    state: Annotated[str, OneOf(("pending", "committed"))]
    text: str
    request_id: str | None
    created_at: datetime
    committed_at: datetime | None
    unit: UnitValue


class UnitPage(PageObject):
    """A page of units."""

    units: list[UnitObject]


class UnitStep(TypedDict):
    """One step of a unit's life."""

    step: str
    store: str
    request_id: str | None
    execution_id: str | None
    rank: int | None
    score: float | None
    score_parts: Mapping[str, float]
    reason: str
    created_at: datetime


class UnitChange(TypedDict):
    """What was done about a unit, and how many units the session knows of its own now."""

    session_id: str
    unit_id: str
    change: Annotated[str, OneOf(("retracted", "restored", "corrected"))]
    session_context_unit_count: int


class UnitWithSteps(TypedDict):
    """A unit that a session sees or saw, and its ledger.

    `unit` is null where the ledger alone has its text. `kb_id` is the mounted base that it is seen through. `corrects`
    and `corrected_by` are the units that it replaced and that replaced it in the session.
    """

    unit_id: str
    state: Annotated[str, OneOf(("pending", "committed", "base", "draft", "hidden", "retracted", "lost"))]
    text: str
    request_id: str | None
    created_at: datetime
    committed_at: datetime | None
    unit: UnitValue | None
    kb_id: str | None
    corrects: list[str]
    corrected_by: list[str]
    steps: list[UnitStep]
    step_count: int


class MountObject(TypedDict):
    """One mount."""

    kb_id: str
    kb_name: str
    revision: int
    reason: str
    mounted_at: datetime
    mounted_by: str | None
    until: datetime | None


class RememberedObject(TypedDict):
    """One text that a session was told to remember, or that was consolidated on request."""

    id: str
    content: str
    domain: str
    namespace: str | None
    status: str
    source: str
    confidence: float
    created_at: datetime
    verified_at: datetime | None
    expires_at: datetime | None


class MountPage(PageObject):
    """A page of mounts."""

    mounts: list[MountObject]


class ContextLoadedObject(TypedDict):
    """What a context load did."""

    session_id: str
    sourceId: str
    name: str
    unitCount: int
    addedUnitCount: int
    droppedUnitCount: int
    quarantinedChunkCount: int
    session_context_unit_count: int
    kb_id: str
    kb_name: str
    workspace_dirty: bool
    seed_detector_plugin: str


class PluginObject(TypedDict):
    """A plugin's descriptor."""

    id: str
    type: Annotated[str, OneOf(PLUGIN_TYPES)]
    name: str
    version: str
    description: str
    costClass: Annotated[str, OneOf(("cheap", "moderate", "expensive"))]
    usesLLM: bool
    modelRoles: list[str]
    maxLLMCalls: int
    tags: list[str]
    timeoutMs: int
    plannerHints: PlannerHints | None
    provides: list[str]
    accepts: list[str]
    available: bool
    unavailableReason: str | None


class WrapperObject(TypedDict):
    """An external program that helps goal solvers."""

    id: str
    name: str
    version: str
    description: str
    capabilities: list[str]
    keywords: list[str]
    timeoutMs: int
    priority: int
    exclusive: bool
    maxInputSizeBytes: int


class PluginList(TypedDict):
    """The plugins."""

    plugins: list[PluginObject]
    wrappers: list[WrapperObject]


class EvaluationSource(TypedDict):
    """A story of the evaluation."""

    suite: str
    file: str
    name: str
    content: str


class EvaluationSourceList(TypedDict):
    """The stories."""

    sources: list[EvaluationSource]


class ModelObject(TypedDict):
    """A language model."""

    id: str
    provider: str
    tags: list[str]


class ModelList(TypedDict):
    """The models."""

    models: list[ModelObject]


class ModelRolesSnapshot(ModelTable):
    """The project's table and the models there are."""

    updatedAt: datetime | None
    availableModels: list[str]


class ModelConfigObject(SessionModelTable):
    """A session's own table."""

    session_id: str


class HealthReport(TypedDict):
    """Alive."""

    status: Annotated[str, OneOf(("ok",))]


class TextCachesReport(TypedDict):
    """The process's caches of parsed texts: their size and its limit."""

    bytes: int
    max_bytes: int


class ReadinessReport(TypedDict):
    """Whether turns can be answered; `checks` and `text_caches` for callers with access only."""

    ready: bool
    checks: NotRequired[Mapping[str, bool]]
    text_caches: NotRequired[TextCachesReport]


class ImportedBundleObject(TypedDict):
    """What an import stored; `left_out` names in sentences what turns saw and the bundle does not hold."""

    session_id: str
    turn_count: int
    renamed_count: int
    left_out: list[str]
