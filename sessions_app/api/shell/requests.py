"""What clients send: bodies and query strings, validated as their schema says. Unknown keys are ignored."""

from functools import cache
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from mrpvm.conversation.flags import ALIASES
from mrpvm.conversation.flags import NAMES as FLAGS
from mrpvm.errors import InvalidInput
from mrpvm.llm.roles import THINKING_LEVELS, VERBOSITIES
from mrpvm.wire import JSONObject
from sessions_app.actions.knowledge.source_rows import SOURCE_NAME_CHARS
from sessions_app.actions.sessions.session import TITLE_CHARS, Choices
from sessions_app.actions.settings.retention import MOST_DAYS
from sessions_app.api.shell.fields import (
    ChatMessages,
    HistoryMessages,
    JSONNumber,
    JSONText,
    TextOrNothing,
    Truth,
    WholeNumber,
)
from sessions_app.experiments.trials.documents import REVISION_MAX
from sessions_app.ingest.load import Upload
from sessions_app.layers import CHOSEN_MAX
from sessions_app.models import Role
from sessions_app.models.settings.project import MEMBER_ROLES
from sessions_app.queries.settings.audit import AREAS

INCLUDABLE = ("response_markdown", "details")
PAGE_LIMIT = 50
PAGE_LIMIT_MAX = 200


class Coded(serializers.Serializer):
    """A body whose fields have error codes of their own; other fields are INVALID_INPUT."""

    codes: dict[str, str] = {}

    @property
    def fields(self) -> Any:
        """Return the fields, made once for all bodies of this shape: none of them keeps anything of a body."""
        return _fields_of(type(self))

    def is_valid(self, *, raise_exception: bool = False) -> bool:
        """Return whether the body holds.

        Raises:
            InvalidInput: under the code of the first field that does not hold.
        """
        valid = super().is_valid(raise_exception=False)
        for name, problems in self.errors.items():
            if name in self.codes:
                raise InvalidInput(f"{name}: {_first(problems)}", code=self.codes[name])
        return super().is_valid(raise_exception=raise_exception) if not valid else True


@cache
def _fields_of(shape: type[Coded]) -> Any:
    return super(Coded, shape()).fields


def _first(problems: Any) -> str:
    return str(problems[0]) if isinstance(problems, list) and problems else str(problems)


class ChoicesFields(Coded):
    """Which plugins, level and model to use; null or absent is no choice."""

    planner_plugin = JSONText(required=False, allow_null=True)
    seed_detector_plugin = JSONText(required=False, allow_null=True)
    kb_plugin = JSONText(required=False, allow_null=True)
    goal_solver_plugin = JSONText(required=False, allow_null=True)
    deliberation_level = WholeNumber(required=False, allow_null=True, min_value=0, max_value=3)
    model = JSONText(required=False, allow_null=True, max_length=200)
    grounding = serializers.ChoiceField(("strict", "open"), required=False, allow_null=True)
    kb_id = JSONText(required=False, allow_null=True)

    codes = {
        "planner_plugin": "INVALID_PLANNER_PLUGIN",
        "seed_detector_plugin": "INVALID_SEED_DETECTOR_PLUGIN",
        "kb_plugin": "INVALID_KB_PLUGIN",
        "goal_solver_plugin": "INVALID_GOAL_SOLVER_PLUGIN",
        "deliberation_level": "INVALID_DELIBERATION_LEVEL",
    }


def choices_of(body: dict[str, Any]) -> Choices:
    """Return the choices of a validated body."""
    return Choices(
        planner=body.get("planner_plugin"),
        seed_detector=body.get("seed_detector_plugin"),
        kb=body.get("kb_plugin"),
        goal_solver=body.get("goal_solver_plugin"),
        deliberation_level=body.get("deliberation_level"),
        model=body.get("model"),
        grounding=body.get("grounding"),
    )


class WaitFields(Coded):
    """How long to wait for a running turn."""

    wait_ms = WholeNumber(required=False, default=0, min_value=0)

    def validate_wait_ms(self, value: int) -> int:
        """Return the wait, which the operator bounds."""
        if value > settings.MRPVM_MAX_WAIT_MS:
            raise serializers.ValidationError(f"This server waits at most {settings.MRPVM_MAX_WAIT_MS} ms.")
        return value


class WaitQuery(WaitFields):
    """The same in a query string or a form, where a number comes as text."""

    wait_ms = serializers.IntegerField(  # type: ignore[assignment]  # the same field, read from text
        required=False, default=0, min_value=0
    )


class ChatRequest(ChoicesFields, WaitFields):
    """One message to a session."""

    messages = ChatMessages()
    session_id = JSONText(required=False, allow_null=True, allow_blank=True, max_length=128)
    stream = Truth(required=False, default=False)
    include = serializers.ListField(child=serializers.ChoiceField(INCLUDABLE), required=False, max_length=8)
    conversation_history = HistoryMessages(required=False, allow_null=True)
    conversation_context = HistoryMessages(required=False, allow_null=True)
    conversationHistory = HistoryMessages(required=False, allow_null=True)  # as HAL's clients spell it
    remember_choices = Truth(required=False, default=True)
    previous_response_id = TextOrNothing(required=False, allow_null=True, allow_blank=True, max_length=128)


class SessionCreateRequest(ChoicesFields):
    """A new session."""

    title = JSONText(required=False, allow_null=True, allow_blank=True, max_length=TITLE_CHARS)
    freeze_planner_statistics = Truth(required=False, default=False)


class SessionPatchRequest(WaitFields):
    """What of a session can be changed; an empty title takes it away. The flags of a chat request too."""

    title = JSONText(required=False, allow_null=True, allow_blank=True, max_length=TITLE_CHARS)

    def validate(self, attrs: dict[str, Any]) -> JSONObject:
        """Refuse a body that would change nothing."""
        if "title" not in attrs and not any(ALIASES.get(name, name) in FLAGS for name in self.initial_data):
            raise serializers.ValidationError("Name a title or a flag.")
        return attrs


class UnitChangeRequest(WaitFields):
    """A change of a unit that needs no more than its id."""


class CorrectionRequest(WaitFields):
    """What a unit should have said."""

    text = JSONText()


class PoliciesRequest(WaitFields):
    """Policies of a session by their names: the flags of a chat request, and `grounding`; null takes one back."""

    grounding = serializers.ChoiceField(("strict", "open"), required=False, allow_null=True)


class SourceFields(Coded):
    """What may be said about a source, however its text comes."""

    name = JSONText(required=False, max_length=SOURCE_NAME_CHARS)
    source_id = JSONText(required=False, allow_null=True)
    seed_detector_plugin = JSONText(required=False, allow_null=True)
    model = JSONText(required=False, allow_null=True, max_length=200)

    codes = {"source_id": "INVALID_SOURCE_ID", "seed_detector_plugin": "INVALID_SEED_DETECTOR_PLUGIN"}


class ContextRequest(SourceFields, WaitFields):
    """Material to load into a session."""

    content = JSONText()


class SourceRequest(SourceFields):
    """A text that becomes a source of a base."""

    name = JSONText(max_length=SOURCE_NAME_CHARS)
    content = JSONText()


class StagedSourceRequest(SourceRequest, WaitFields):
    """A text that becomes a source of a session's draft."""


class UploadRequest(SourceFields):
    """A file of a format that is read; unless named otherwise the source has its name."""

    file = serializers.FileField()


class BundleRequest(serializers.Serializer):
    """A bundle that `GET /api/sessions/{id}/bundle` gave."""

    file = serializers.FileField()


class SessionUploadRequest(UploadRequest, WaitQuery):
    """A file for a session's memory or draft."""


def sends_file(data: Any) -> bool:
    """Return whether a parsed body is a form with a file."""
    return isinstance(data.get("file"), UploadedFile)


def upload_of(body: dict[str, Any], unnamed: str = "") -> Upload:
    """Return the file that a validated body brings."""
    file = body.get("file")
    return Upload(
        data=body["content"].encode() if file is None else file.read(),
        name=body.get("name") or (unnamed if file is None else file.name),
        declared_type=None if file is None else _declared(file),
        source_id=body.get("source_id"),
        seed_detector=body.get("seed_detector_plugin"),
        model=body.get("model"),
    )


def _declared(file: UploadedFile) -> str | None:
    charset = (file.content_type_extra or {}).get("charset", b"")  # bytes, whatever the attribute's type says
    return f"{file.content_type}; charset={charset.decode('latin-1')}" if charset else file.content_type


class KBCreateRequest(Coded):
    """A new knowledge base."""

    name = JSONText(allow_blank=True, allow_null=True, required=False)


class KBMountRequest(WaitFields):
    """Which base to mount, and whether unsaved changes may go."""

    kb_id = JSONText()
    discard_draft = Truth(required=False, default=False)

    codes = {"kb_id": "KB_VALIDATION_MISSING_ID"}


class KBForkRequest(WaitFields):
    """What the new base is called; without a name, after the mounted one; what goes into it."""

    name = JSONText(required=False, allow_null=True, allow_blank=True)
    include_conversation_units = Truth(required=False, default=True)
    conversation_unit_ids = serializers.ListField(
        child=JSONText(), required=False, allow_null=True, max_length=CHOSEN_MAX,
        help_text="Of what the conversation told only these units; the others stay in the session. Null: all.",
    )  # fmt: skip


class KBSaveRequest(KBForkRequest):
    """Where to save, and what; which revision of the base the client has seen and replaces."""

    target_kb_id = JSONText(required=False, allow_null=True)
    fork = Truth(required=False, default=False)
    expected_revision = WholeNumber(required=False, allow_null=True, min_value=1, max_value=REVISION_MAX)


class RestoreRequest(Coded):
    """Which revision of a base shall come back, and which one the client takes for the present one."""

    revision = WholeNumber(min_value=1, max_value=REVISION_MAX)
    expected_revision = WholeNumber(required=False, allow_null=True, min_value=1, max_value=REVISION_MAX)


def _entry(*names: str) -> JSONObject:
    """Return the schema of an object with one of these texts."""
    one_of = [
        {
            "type": "object",
            "properties": {name: {"type": "string", "maxLength": 200}},
            "required": [name],
            "additionalProperties": False,
        }
        for name in names
    ]
    return {"oneOf": one_of} if len(one_of) > 1 else one_of[0]


@extend_schema_field({"type": "object", "additionalProperties": _entry("model")})
class RolesField(serializers.JSONField):
    """A model for each role."""


@extend_schema_field({"type": "object", "additionalProperties": _entry("role", "model")})
class OverridesField(serializers.JSONField):
    """A role or a model for each plugin."""


class ModelRolesRequest(serializers.Serializer):
    """A table of model roles; its shapes are checked where it is stored."""

    roles = RolesField(required=False, help_text="By role; an empty model means automatic.")
    pluginOverrides = OverridesField(required=False, help_text="By plugin id; a role or a model.")
    temperature = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=2)
    thinkingLevel = serializers.ChoiceField(THINKING_LEVELS, required=False, allow_null=True)
    verbosity = serializers.ChoiceField(VERBOSITIES, required=False, allow_null=True)


class RetentionRequest(serializers.Serializer):
    """Rules of retention; kinds that are not named stay as they are."""

    days = serializers.DictField(
        child=serializers.IntegerField(allow_null=True, min_value=0, max_value=MOST_DAYS),
        help_text="By kind: after how many days it is removed; 0 keeps it, null leaves it to the server's setting.",
    )


class QuotasRequest(serializers.Serializer):
    """Limits of what the project may use; kinds that are not named stay as they are."""

    limits = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="By kind: how much may be used; null takes a limit away. All are whole numbers but for a cost.",
    )


class RetentionQuery(serializers.Serializer):
    """Rules whose effect is asked for: after how many days each kind is removed, 0 for never."""

    trials = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)
    imported_traces = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)
    traces = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)
    model_exchanges = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)
    payloads = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)
    messages = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)
    audit = serializers.IntegerField(required=False, min_value=0, max_value=MOST_DAYS)


class ModelConfigRequest(ModelRolesRequest, WaitFields):
    """A change of a session's table."""

    take_current_roles = Truth(required=False, default=False)


class PageQuery(serializers.Serializer):
    """A page of a list: how many, and after which place."""

    limit = serializers.IntegerField(min_value=1, max_value=PAGE_LIMIT_MAX, default=PAGE_LIMIT)
    cursor = JSONText(required=False, allow_blank=True, max_length=500)


class _AuditFilter(serializers.Serializer):
    """Which entries of the audit log are wanted."""

    area = serializers.ChoiceField(AREAS, required=False, help_text="The noun that kinds begin with.")
    actor = JSONText(required=False, allow_blank=True, max_length=200, help_text="Part of who it was.")
    subject = JSONText(required=False, allow_blank=True, max_length=200, help_text="Part of the subject.")
    since = serializers.DateField(required=False, help_text="First day, in UTC.")
    until = serializers.DateField(required=False, help_text="Last day, in UTC.")


class RoleRequest(serializers.Serializer):
    """A member's other role."""

    role = serializers.ChoiceField(list(MEMBER_ROLES))


class InvitationRequest(serializers.Serializer):
    """Whom a link lets in."""

    role = serializers.ChoiceField(list(MEMBER_ROLES), default=Role.EDITOR.value)
    note = JSONText(required=False, allow_blank=True, max_length=120, help_text="Whom it is for.")


class AuditListQuery(PageQuery, _AuditFilter):
    """A page of the audit log."""


class AuditExportQuery(_AuditFilter):
    """What goes into a file of the audit log."""

    format = serializers.ChoiceField(("jsonl", "csv"), default="jsonl")


class StreamQuery(serializers.Serializer):
    """Whether the answer comes as a stream that describes the stages."""

    stream = serializers.BooleanField(required=False, default=False)


class SessionListQuery(PageQuery):
    """A page of sessions."""

    q = JSONText(required=False, allow_blank=True, max_length=200)
    status = serializers.ChoiceField(("active", "running", "failed", "expired"), required=False)
    kb_id = JSONText(required=False, max_length=64)


class TurnListQuery(PageQuery):
    """A page of the project's turns."""

    q = JSONText(required=False, allow_blank=True, max_length=500, help_text="In the filter language.")


class TurnExportQuery(serializers.Serializer):
    """What goes into a file of turns."""

    q = JSONText(required=False, allow_blank=True, max_length=500, help_text="In the filter language.")
    format = serializers.ChoiceField(("jsonl", "csv"), default="jsonl")


SEVERAL_TURNS_MAX = 200
"""Turns that one request keeps or has reviewed."""


class SeveralTurns(Coded):
    """Turns by their ids, or the newest that a filter finds: one of the two."""

    request_ids = serializers.ListField(
        child=JSONText(max_length=64), required=False, min_length=1, max_length=SEVERAL_TURNS_MAX
    )
    q = JSONText(
        required=False,
        max_length=500,
        help_text=f"In the filter language; the newest {SEVERAL_TURNS_MAX} turns that it finds.",
    )


class RatingRequest(Coded):
    """What the caller thinks of an answer."""

    value = serializers.ChoiceField(("up", "down", "skipped"), help_text="skipped: looked at, and no rating given.")
    note = JSONText(required=False, allow_blank=True, max_length=2_000)


class AlertRequest(Coded):
    """What an alert looks at, and whom it tells."""

    filter_id = JSONText(max_length=64)
    limit_percent = JSONNumber(min_value=0, max_value=100, help_text="Passed where more of the turns fit.")
    window_minutes = WholeNumber(min_value=1, max_value=10_080)
    least_turns = WholeNumber(
        min_value=1, max_value=1_000_000, default=20, help_text="Fewer in the window say nothing."
    )
    channel = serializers.ChoiceField(("hook", "mail"))
    target = JSONText(max_length=500, help_text="The address of a web hook, or a mail address.")


class FilterPatchRequest(Coded):
    """A saved filter's name, and what it looks for."""

    name = JSONText(required=False, max_length=80)
    q = JSONText(required=False, max_length=500, help_text="In the filter language.")


class FilterRequest(Coded):
    """A filter to be saved."""

    name = JSONText(max_length=80)
    q = JSONText(max_length=500, help_text="In the filter language.")


class UnitListQuery(PageQuery):
    """A page of a session's units."""

    state = serializers.ChoiceField(("pending", "committed"), required=False)


class RegistryQuery(serializers.Serializer):
    """A part of a session's registry."""

    limit = serializers.IntegerField(min_value=1, max_value=PAGE_LIMIT_MAX, default=PAGE_LIMIT)
    before = serializers.IntegerField(required=False, min_value=1, max_value=2_147_483_647)
    details = serializers.ChoiceField(("full",), required=False)


class DetailQuery(serializers.Serializer):
    """Whether the whole payload is wanted, as a file."""

    download = serializers.BooleanField(required=False, default=False)


class ExportQuery(serializers.Serializer):
    """In which form a session leaves."""

    format = serializers.ChoiceField(("markdown", "json"), default="markdown")


class PluginListQuery(serializers.Serializer):
    """Which plugins; an unknown type gives none."""

    type = JSONText(required=False, allow_blank=True, max_length=100)
