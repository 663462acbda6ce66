"""What clients get, for the schema: envelopes in snake_case, the machine's objects in camelCase.

The tests hold every answer against these shapes.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from mrpvm.values import KU_TYPES, PLUGIN_TYPES, ROLES
from sessions_app.models import QuotaKind, RetentionKind, StorageKind

Int, Bool = serializers.IntegerField, serializers.BooleanField
Str, Time = serializers.CharField, serializers.DateTimeField


def nullable(field: type[serializers.Field], **options: Any) -> serializers.Field:
    """Return a field that may be null."""
    return field(allow_null=True, **options)


def texts() -> serializers.Field:
    """Return a field that is a list of texts."""
    return serializers.ListField(child=Str())


@extend_schema_field({"type": "object", "additionalProperties": True})
class Anything(serializers.JSONField):
    """An object whose keys are not listed here."""


@extend_schema_field({})
class AnyValue(serializers.JSONField):
    """Any JSON value."""


class ErrorObject(serializers.Serializer):
    """What went wrong."""

    code = Str()
    module = Str()
    message = Str()
    details = Anything()
    requestId = nullable(Str)
    sessionId = nullable(Str)
    frameId = nullable(Str)
    timestamp = Time()
    type = serializers.ChoiceField(("invalid_request", "processing_error", "server_error"))


class ErrorResponse(serializers.Serializer):
    """The one error shape."""

    error = ErrorObject()


class ChoicesReported(serializers.Serializer):
    """The session's choices and its base."""

    planner_plugin = Str()
    seed_detector_plugin = nullable(Str)
    kb_plugin = nullable(Str)
    goal_solver_plugin = nullable(Str)
    deliberation_level = Int(min_value=0, max_value=3)
    model = nullable(Str)
    kb_id = Str()
    kb_name = Str()
    workspace_dirty = Bool()


class SessionCreated(ChoicesReported):
    """A new session."""

    session_id = Str()
    title = nullable(Str)
    created_at = Time()
    expires_at = nullable(Time)


class SessionMetadata(SessionCreated):
    """A session."""

    label = Str(  # type: ignore[assignment]  # a field of this name, not the serializer's own label
        help_text="Title, else how the conversation began, else the id."
    )
    status = serializers.ChoiceField(("active", "running", "failed", "expired"))
    last_activity_at = Time()
    flags = Anything(help_text="The policies chosen for the session; the others are the project's or the server's.")
    message_count = Int()
    session_context_unit_count = Int()
    pending_turn_context_unit_count = Int()
    workspace_source_count = Int()
    workspace_unit_count = Int()
    workspace_last_saved_at = nullable(Time, help_text="When the session last saved into a base or a fork.")
    explainability_turn_count = Int()
    failed_turn_count = Int()


class PolicyObject(serializers.Serializer):
    """A policy as it holds for the session's next turn."""

    name = Str()
    value = AnyValue()
    chosen_by = serializers.ChoiceField(("session", "project", "server"))
    otherwise = AnyValue(help_text="What holds without the session's own choice.")
    choices = AnyValue(help_text="All values that it may have; null for a number.")
    least = nullable(serializers.FloatField)
    most = nullable(serializers.FloatField)


class PolicyList(serializers.Serializer):
    """The policies of a session."""

    session_id = Str()
    policies = PolicyObject(many=True)


class Page(serializers.Serializer):
    """A page of a list."""

    next_cursor = nullable(Str, help_text="Give it back as `cursor` for the next page; null on the last one.")


class MemberObject(serializers.Serializer):
    """A user in the project."""

    name = Str()
    role = serializers.ChoiceField(("viewer", "editor", "admin"))
    is_active = Bool()
    last_login = nullable(Time)


class MemberList(serializers.Serializer):
    """Everybody who belongs to the project."""

    members = MemberObject(many=True)


class InvitationObject(serializers.Serializer):
    """A link that lets one person join."""

    id = Int()
    role = serializers.ChoiceField(("viewer", "editor", "admin"))
    note = Str()
    created_by = Str()
    created_at = Time()
    expires_at = Time()


class NewInvitation(InvitationObject):
    """An invitation with its link, which is given this once."""

    link = Str()


class InvitationList(serializers.Serializer):
    """The invitations that can still be used."""

    invitations = InvitationObject(many=True)


class AuditEntryObject(serializers.Serializer):
    """Who changed what."""

    id = Int()
    at = Time()
    kind = Str(help_text="The noun that was changed, a point, and what was done to it.")
    actor_kind = serializers.ChoiceField(("user", "key", "stranger", "server"))
    actor = Str(help_text="The user's name, or the key's with its beginning.")
    address = Str(help_text="The caller's IP address; empty for the server.")
    request_id = Str(help_text="As the log names the request.")
    subject = Str()
    facts = Anything(help_text="What else is known; secrets are blacked out.")


class AuditPage(Page):
    """A page of the audit log."""

    entries = AuditEntryObject(many=True)


class QuotaObject(serializers.Serializer):
    """How much of something the project uses, and may use."""

    kind = serializers.ChoiceField(QuotaKind.values)
    name = Str()
    used = serializers.FloatField(help_text="Now, in this minute, or on this day of UTC.")
    limit = nullable(serializers.FloatField, help_text="null where there is none.")


class QuotaList(serializers.Serializer):
    """What the project uses and may use."""

    quotas = QuotaObject(many=True)


class StoredKindObject(serializers.Serializer):
    """The space that one kind of rows takes, with its indexes."""

    kind = serializers.ChoiceField(StorageKind.values)
    name = Str()
    byte_count = Int()
    is_estimate = Bool(help_text="Whether the database could not tell exactly.")
    growth_bytes_a_day = nullable(serializers.FloatField, help_text="null while there is one sample only.")


class StorageObject(serializers.Serializer):
    """The newest sample of the database's size; without a day before the first."""

    day = nullable(serializers.DateField, help_text="Of UTC.")
    growth_days = Int(help_text="How many days growth looks back.")
    byte_count = nullable(Int)
    growth_bytes_a_day = nullable(serializers.FloatField)
    kinds = StoredKindObject(many=True, help_text="The largest first.")


class RetentionRule(serializers.Serializer):
    """After how many days a kind is removed."""

    kind = serializers.ChoiceField(RetentionKind.values)
    name = Str()
    days = Int(help_text="0 keeps it.")
    server_days = Int(help_text="What holds where the project has chosen nothing.")
    is_chosen = Bool()


class RetentionRun(serializers.Serializer):
    """How far removing what is too old has come."""

    status = serializers.ChoiceField(("waiting", "running", "finished", "stopped"))
    kind = nullable(Str, help_text="What it is at.")
    removed = serializers.DictField(child=Int(), help_text="By kind, how many rows.")
    began_at = nullable(Time)
    finished_at = nullable(Time)


class RetentionObject(serializers.Serializer):
    """The rules of a project, and the newest run by them."""

    kinds = RetentionRule(many=True)
    run = RetentionRun()


class RetentionCount(serializers.Serializer):
    """A number of rows."""

    count = Int()
    is_more = Bool(help_text="Whether counting ended before the rows did.")


class RetentionKept(RetentionCount):
    """Rows that are old and kept all the same."""

    reason = Str()


class RetentionKindPreview(serializers.Serializer):
    """What a rule would remove now, and what it would leave."""

    kind = serializers.ChoiceField(RetentionKind.values)
    days = Int()
    removed = RetentionCount()
    kept = RetentionKept(many=True)


class RetentionPreviewObject(serializers.Serializer):
    """What rules would remove now."""

    kinds = RetentionKindPreview(many=True)


class SessionPage(Page):
    """A page of sessions."""

    sessions = SessionMetadata(many=True)


class MessageObject(serializers.Serializer):
    """One utterance."""

    sequence = Int()
    role = serializers.ChoiceField(("user", "system", "assistant", "tool"))
    content = Str(allow_blank=True)
    payload = nullable(Anything)
    request_id = nullable(Str)
    created_at = Time()


class MessagePage(Page):
    """A page of messages."""

    messages = MessageObject(many=True)


class UnitValue(serializers.Serializer):
    """A knowledge unit; further fields as the unit has them."""

    id = Str()
    kuType = serializers.ChoiceField(KU_TYPES)
    role = serializers.ChoiceField(ROLES)
    topic = Str()
    claim = nullable(Str)
    phaseScopes = texts()
    hash = Str()


class UnitObject(serializers.Serializer):
    """A unit of a session."""

    unit_id = Str()
    state = serializers.ChoiceField(("pending", "committed"))
    text = Str()
    request_id = nullable(Str)
    created_at = Time()
    committed_at = nullable(Time)
    unit = UnitValue()


class UnitPage(Page):
    """A page of units."""

    units = UnitObject(many=True)


class UnitStep(serializers.Serializer):
    """One step of a unit's life."""

    step = Str()
    store = Str()
    request_id = nullable(Str)
    execution_id = nullable(Str)
    rank = nullable(Int)
    score = serializers.FloatField(allow_null=True)
    score_parts = serializers.DictField(child=serializers.FloatField())
    reason = Str(allow_blank=True)
    created_at = Time()


class UnitChange(serializers.Serializer):
    """What was done about a unit, and how many units the session knows of its own now."""

    session_id = Str()
    unit_id = Str()
    change = serializers.ChoiceField(("retracted", "restored", "corrected"))
    session_context_unit_count = Int()


class UnitWithSteps(UnitObject):
    """A unit and its ledger."""

    steps = UnitStep(many=True)
    step_count = Int()


class MountObject(serializers.Serializer):
    """One mount."""

    kb_id = Str()
    kb_name = Str()
    revision = Int()
    reason = Str()
    mounted_at = Time()
    mounted_by = nullable(Str)
    until = nullable(Time)


class MountPage(Page):
    """A page of mounts."""

    mounts = MountObject(many=True)


class ContextLoaded(serializers.Serializer):
    """What a context load did."""

    session_id = Str()
    sourceId = Str()
    name = Str()
    unitCount = Int()
    addedUnitCount = Int()
    droppedUnitCount = Int()
    quarantinedChunkCount = Int()
    session_context_unit_count = Int()
    kb_id = Str()
    kb_name = Str()
    workspace_dirty = Bool()
    seed_detector_plugin = Str()


class PluginObject(serializers.Serializer):
    """A plugin's descriptor."""

    id = Str()
    type = serializers.ChoiceField(PLUGIN_TYPES)
    name = Str()
    version = Str()
    description = Str()
    costClass = serializers.ChoiceField(("cheap", "moderate", "expensive"))
    usesLLM = Bool()
    modelRoles = texts()
    maxLLMCalls = Int()
    tags = texts()
    timeoutMs = Int()
    plannerHints = nullable(Anything)
    provides = texts()
    accepts = texts()
    available = Bool()
    unavailableReason = nullable(Str)


class WrapperObject(serializers.Serializer):
    """An external program that helps goal solvers."""

    id = Str()
    name = Str()
    version = Str()
    description = Str(allow_blank=True)
    capabilities = texts()
    keywords = texts()
    timeoutMs = Int()
    priority = Int()
    exclusive = Bool()
    maxInputSizeBytes = Int()


class PluginList(serializers.Serializer):
    """The plugins."""

    plugins = PluginObject(many=True)
    wrappers = WrapperObject(many=True)


class EvaluationSource(serializers.Serializer):
    """A story of the evaluation."""

    suite = Str()
    file = Str()
    name = Str()
    content = Str()


class EvaluationSourceList(serializers.Serializer):
    """The stories."""

    sources = EvaluationSource(many=True)


class ModelObject(serializers.Serializer):
    """A language model."""

    id = Str()
    provider = Str()
    tags = texts()


class ModelList(serializers.Serializer):
    """The models."""

    models = ModelObject(many=True)


class ModelTable(serializers.Serializer):
    """Which model answers in which role."""

    roles = Anything(help_text="By role: `{model}`, empty for automatic.")
    pluginOverrides = Anything(help_text="By plugin id: `{role}` or `{model}`.")
    temperature = serializers.FloatField(allow_null=True)
    thinkingLevel = nullable(Str, help_text="Null leaves it to the provider.")
    verbosity = nullable(Str, help_text="Null leaves it to the provider.")


class ModelRolesSnapshot(ModelTable):
    """The project's table and the models there are."""

    updatedAt = nullable(Time)
    availableModels = texts()


class SessionModelTable(ModelTable):
    """The session's model configuration."""

    model = nullable(Str)


class ModelConfig(SessionModelTable):
    """A session's own table."""

    session_id = Str()


class HealthReport(serializers.Serializer):
    """Alive."""

    status = serializers.ChoiceField(("ok",))


class TextCachesReport(serializers.Serializer):
    """What the process keeps of what it worked out of texts, and how much that may be."""

    bytes = serializers.IntegerField()
    max_bytes = serializers.IntegerField()


class ReadinessReport(serializers.Serializer):
    """Whether turns can be answered; `checks` and `text_caches` for callers with access only."""

    ready = Bool()
    checks = serializers.DictField(child=Bool(), required=False)
    text_caches = TextCachesReport(required=False)


class ImportedBundle(serializers.Serializer):
    """What an import stored; `left_out` names in sentences what turns saw and the bundle does not hold."""

    session_id = Str()
    turn_count = Int()
    renamed_count = Int()
    left_out = texts()
