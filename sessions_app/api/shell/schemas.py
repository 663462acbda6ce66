"""What the OpenAPI document says about each endpoint, beside what its shapes say."""

from typing import Any, is_typeddict

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from mrpvm.sources.documents.document import FORMATS
from sessions_app.api.experiments import requests as experiment_requests
from sessions_app.api.experiments import responses as experiment_responses
from sessions_app.api.experiments import suite_requests, suite_responses
from sessions_app.api.knowledge import responses as knowledge_responses
from sessions_app.api.sessions import skill_responses
from sessions_app.api.shell import requests, responses
from sessions_app.api.shell.shapes import shape_of
from sessions_app.api.turns import responses as turn_responses
from sessions_app.queries.turns import entries

ERRORS = {
    400: "The request is not acceptable.",
    401: "No valid API key, and no login.",
    403: "The caller's role does not allow this, or the CSRF token is missing.",
    404: "There is no such thing in the caller's project.",
    409: "Busy, dirty, or changed by somebody else meanwhile.",
    410: "The session has expired; it can still be read.",
    413: "Too large.",
    415: "The body, or the file in it, is of a type that is not read.",
    422: "The work was tried and gave nothing.",
    429: "Too many requests; see Retry-After.",
    500: "A defect of the server.",
    502: "The model's provider failed.",
    503: "Not now: full, shutting down, without the database or the model that is needed; see Retry-After.",
    504: "It took too long.",
    507: "There is no room for more: on the disk, or within what the project may use.",
}


def _operation(
    operation_id: str,
    tag: str,
    description: str,
    answers: dict[int, Any],
    *errors: int,
    request: type[serializers.Serializer] | dict[str, type[serializers.Serializer]] | None = None,
    query: type[serializers.Serializer] | None = None,
    extra: list[OpenApiParameter] | None = None,
) -> Any:
    """Return the decorator that documents one method of an endpoint."""
    codes = {401, 403, 500, 503, *errors}
    if request is not None:
        codes |= {400, 413, 415, 507}
    if query is not None:
        codes |= {400}
    error = shape_of(responses.ErrorResponse)
    refused = {code: OpenApiResponse(error, description=ERRORS[code]) for code in sorted(codes)}
    answered = {code: shape_of(answer) if is_typeddict(answer) else answer for code, answer in answers.items()}
    parameters: list[Any] = ([query] if query is not None else []) + (extra or [])
    return extend_schema(
        operation_id=operation_id,
        tags=[tag],
        description=description,
        request=request,
        parameters=parameters,
        responses={**answered, **refused},
    )


_EVENT = {
    "type": "object",
    "description": "One event of the stream; `data` is a line of JSON.",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["event", "data"],
}
_STAGES = OpenApiResponse(
    _EVENT,
    description="With `stream`: `progress` (0..n) with `stage` (reading, storing), `done` and `of`, then "
    "`response.completed`, or `error` in its place.",
)
_STREAM = OpenApiResponse(
    _EVENT,
    description="With `stream`: the events `progress` (0..n), `response.meta`, `response.delta` (1..n), "
    "`response.completed`, or `error` as the last one instead.",
)

_UNCHANGED = OpenApiResponse(description="The client has it already: nothing changed since the `ETag` it sent.")
_IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", OpenApiTypes.STR, OpenApiParameter.HEADER, description="The `ETag` of what the client has."
)

chat = _operation(
    "chat", "chat", "Answers the last user message in the named session, or in a new one. One turn runs in"
    " a session at a time: a busy session answers 409 with the running turn's id, or waits up to "
    "`wait_ms`. A client that leaves does not stop its turn.",
    {(200, "application/json"): turn_responses.ChatCompletion, (200, "text/event-stream"): _STREAM},  # type: ignore[dict-item]
    404, 409, 410, 422, 429, 502, 504,
    request=requests.ChatRequest,
    extra=[OpenApiParameter(
        "X-Session-Id", OpenApiTypes.STR, OpenApiParameter.HEADER,
        description="The client's own name for the session; its first use creates the session.",
    )],
)  # fmt: skip

session_list = _operation(
    "list_sessions",
    "sessions",
    "Lists the project's sessions, the latest activity first.",
    {200: responses.SessionPage},
    query=requests.SessionListQuery,
)
session_create = _operation(
    "create_session",
    "sessions",
    "Makes a session and mounts its knowledge base, or nothing at all.",
    {201: skill_responses.NewSession},
    404,
    request=requests.SessionCreateRequest,
)
session_read = _operation(
    "read_session",
    "sessions",
    "Reads a session. Reading is no activity; an expired session stays readable.",
    {200: skill_responses.SessionRecord},
    404,
)
session_patch = _operation(
    "change_session",
    "sessions",
    "Gives the session a title, or takes it away, and sets flags for its later turns.",
    {200: skill_responses.SessionRecord},
    404,
    409,
    410,
    request=requests.SessionPatchRequest,
)
session_delete = _operation(
    "delete_session", "sessions", "Ends the session. Ending one that is gone already is fine.", {204: None}, 404
)

message_list = _operation(
    "list_messages",
    "sessions",
    "Lists the conversation, the first message first.",
    {200: responses.MessagePage},
    404,
    query=requests.PageQuery,
)
unit_list = _operation(
    "list_units",
    "sessions",
    "Lists what the conversation and context loads taught the session, the oldest first.",
    {200: responses.UnitPage},
    404,
    query=requests.UnitListQuery,
)
unit_read = _operation(
    "read_unit",
    "sessions",
    "Reads one unit that the session sees or saw, of its own, its base or its draft, with its newest steps.",
    {200: responses.UnitWithSteps},
    404,
)
unit_retract = _operation(
    "retract_unit", "sessions",
    "Takes a unit out of what the session knows: one of its own is retracted, one of its base or draft is hidden from "
    "this session alone. Turns that saw it can still be run again.",
    {200: responses.UnitChange}, 404, 409, 410, request=requests.UnitChangeRequest,
)  # fmt: skip
unit_restore = _operation(
    "restore_unit", "sessions", "Takes a retraction back: the session uses the unit again.",
    {200: responses.UnitChange}, 404, 409, 410, request=requests.UnitChangeRequest,
)  # fmt: skip
unit_correct = _operation(
    "correct_unit", "sessions",
    "Puts what `text` says in the unit's place, for this session alone. A text in which nothing is said is refused, "
    "and so is one that the session knows already; nothing is changed then.",
    {200: responses.UnitChange}, 404, 409, 410, 422, request=requests.CorrectionRequest,
)  # fmt: skip
mount_list = _operation(
    "list_mounts",
    "sessions",
    "Lists which knowledge bases the session could see and when, the newest first.",
    {200: responses.MountPage},
    404,
    query=requests.PageQuery,
)
policies_read = _operation(
    "read_policies",
    "sessions",
    "Reads the policies of the session's turns, each with its value, who chose it, and what it may be.",
    {200: responses.PolicyList},
    404,
)
policies_patch = _operation(
    "change_policies",
    "sessions",
    "Chooses policies for the session's later turns; null takes a choice back. What is not named stays.",
    {200: responses.PolicyList},
    404,
    409,
    410,
    request=requests.PoliciesRequest,
)
memory_read = _operation(
    "read_memory",
    "sessions",
    "Reads what the session remembers of its turns: a cache that lives some hours after its last use.",
    {200: turn_responses.MemoryObject},
    404,
)
memory_clear = _operation(
    "clear_memory", "sessions", "Clears what the session remembers of its turns; its messages and units stay.",
    {204: None}, 404, 409, 410, query=requests.WaitQuery,
)  # fmt: skip
context_load = _operation(
    "load_context", "sessions",
    "Loads material straight into the session's units: no message, and the draft stays clean. "
    "The same `source_id` again replaces what it brought in.",
    {200: responses.ContextLoadedObject}, 404, 409, 410, 422, 502, 504,
    request={"application/json": requests.ContextRequest, "multipart/form-data": requests.SessionUploadRequest},
)  # fmt: skip
session_quarantine = _operation(
    "list_session_quarantine",
    "sessions",
    "Lists parts of loaded material that did not become units, with the reasons, the newest first.",
    {200: knowledge_responses.QuarantinePage},
    404,
    query=requests.PageQuery,
)
session_export = _operation(
    "export_session", "sessions", "Gives the conversation as Markdown, or everything the session holds as JSON.",
    {(200, "text/markdown"): OpenApiTypes.STR, (200, "application/json"): OpenApiTypes.OBJECT},  # type: ignore[dict-item]
    404, query=requests.ExportQuery,
)  # fmt: skip
session_bundle = _operation(
    "export_bundle", "sessions",
    "Gives the session with everything that its turns need to be read and run again, as a zip that can be checked.",
    {(200, "application/zip"): OpenApiTypes.BINARY},  # type: ignore[dict-item]
    404, 413,
)  # fmt: skip
bundle_import = _operation(
    "import_bundle", "sessions",
    "Stores a bundle as a session to read and to run again. Nothing is stored unless every file of it is what its "
    "manifest says. Ids that are taken get another beginning.",
    {201: responses.ImportedBundleObject},
    request={"multipart/form-data": requests.BundleRequest},
)  # fmt: skip

registry = _operation(
    "list_turns",
    "turns",
    "Lists the registry: every turn with its trace, failed ones included, oldest first. `before` pages "
    "towards the beginning; `details=full` adds the payloads.",
    {200: turn_responses.RegistryObject},
    404,
    query=requests.RegistryQuery,
)
turn_list = _operation(
    "list_project_turns",
    "turns",
    "Lists the turns of all sessions, the newest first. `q` is the filter language of the pages: "
    "`status:no-answer is:slow after:today`. A page that few of the rows fit may be short or empty and still have a "
    "`next_cursor`: each looks at so many rows at most.",
    {200: turn_responses.TurnPageObject},
    query=requests.TurnListQuery,
)
turns_export = _operation(
    "export_project_turns",
    "turns",
    "Sends the turns that fit `q` as a file, the newest first, while they are read: each as in the list, with its whole"
    " answer and the note of its rating.",
    {(200, "application/jsonl"): OpenApiTypes.BINARY, (200, "text/csv"): OpenApiTypes.BINARY},  # type: ignore[dict-item]
    query=requests.TurnExportQuery,
)
filter_list = _operation(
    "list_saved_filters", "turns", "Lists the project's saved filters by name.", {200: turn_responses.SavedFilterList}
)
filter_save = _operation(
    "save_filter",
    "turns",
    "Saves a filter of the list of turns under a name that is unique in the project.",
    {201: turn_responses.SavedFilterObject},
    409,
    request=requests.FilterRequest,
)
filter_change = _operation(
    "change_saved_filter",
    "turns",
    "Changes the name of a saved filter, or what it looks for.",
    {200: turn_responses.SavedFilterObject},
    404,
    409,
    request=requests.FilterPatchRequest,
)
filter_delete = _operation("delete_saved_filter", "turns", "Removes a saved filter.", {204: None}, 404)
alert_list = _operation(
    "list_alerts",
    "alerts",
    "Lists the project's alerts, each with its newest crossings. Needs the role admin.",
    {200: turn_responses.AlertList},
)
alert_create = _operation(
    "create_alert",
    "alerts",
    "Makes an alert: a web hook or mail is sent once each time that more of the turns of a window fit a saved filter"
    " than the limit says. Needs the role admin.",
    {201: turn_responses.NewAlertObject},
    404,
    409,
    request=requests.AlertRequest,
)
alert_delete = _operation(
    "delete_alert", "alerts", "Removes an alert with its history. Needs the role admin.", {204: None}, 404
)
scores_read = _operation(
    "list_scores",
    "reviews",
    "Lists what people think of a turn's answer, the oldest first; `rating` is the newest thumb, by which lists"
    " filter.",
    {200: turn_responses.TurnScoresObject},
    404,
)
score_set = _operation(
    "rate_turn",
    "reviews",
    "Sets what the caller thinks of a turn's answer; everybody has one score a turn.",
    {200: turn_responses.TurnScoresObject},
    404,
    request=requests.RatingRequest,
)
score_delete = _operation(
    "unrate_turn", "reviews", "Takes back what the caller thought of a turn's answer.", {204: None}, 400, 404
)
review_list = _operation(
    "list_reviews",
    "reviews",
    "Lists the turns of the project's review queue, the oldest first, each with its scores.",
    {200: turn_responses.ReviewPage},
    query=requests.PageQuery,
)
review_add = _operation(
    "add_reviews",
    "reviews",
    "Adds turns to the end of the review queue. Those that are there already, and those without an answer,"
    " are counted.",
    {201: turn_responses.ReviewsAdded},
    404,
    409,
    request=requests.SeveralTurns,
)
review_remove = _operation(
    "remove_review", "reviews", "Takes a turn out of the review queue; its scores stay.", {204: None}, 404
)
agreement_read = _operation(
    "read_agreement",
    "reviews",
    "Reads how far people agree who have rated the same answers.",
    {200: turn_responses.AgreementList},
)
member_list = _operation(
    "list_members", "members", "Lists who belongs to the project. Needs the role admin.", {200: responses.MemberList}
)
member_change = _operation(
    "change_member",
    "members",
    "Gives a member another role; the last admin keeps theirs. Needs the role admin.",
    {200: responses.MemberObject},
    404, 409,
    request=requests.RoleRequest,
)  # fmt: skip
member_remove = _operation(
    "remove_member",
    "members",
    "Removes a member, whose open pages and streams end within two seconds; the last admin stays. Needs admin.",
    {204: None},
    404,
    409,
)
invitation_list = _operation(
    "list_invitations",
    "members",
    "Lists the invitations that can still be used, without their links. Needs the role admin.",
    {200: responses.InvitationList},
)
invitation_create = _operation(
    "create_invitation",
    "members",
    "Makes a link by which one person joins the project, within seven days. Needs the role admin.",
    {201: responses.NewInvitation},
    409,
    request=requests.InvitationRequest,
)
invitation_withdraw = _operation(
    "withdraw_invitation", "members", "Makes an invitation useless. Needs the role admin.", {204: None}, 404
)
quotas_read = _operation(
    "read_quotas",
    "quotas",
    "Reads what the project uses of sessions, units, bytes, turns a minute, tokens and cost a day, and what it may use."
    " Needs the role admin.",
    {200: responses.QuotaList},
)
quotas_change = _operation(
    "change_quotas",
    "quotas",
    "Changes the limits that are named; what is above a new one stays. Needs the role admin.",
    {200: responses.QuotaList},
    request=requests.QuotasRequest,
)
storage_read = _operation(
    "read_storage",
    "storage",
    "Reads how large the database of all projects is, by what it holds, and how fast it grows; measured once a day."
    " Needs the role admin.",
    {200: responses.StorageObject},
)
retention_read = _operation(
    "read_retention",
    "retention",
    "Reads after how many days the project removes what, and how far that has come. Needs the role admin.",
    {200: responses.RetentionObject},
)
retention_change = _operation(
    "change_retention",
    "retention",
    "Changes the rules that are named; what is too old is removed in the background. Needs the role admin.",
    {200: responses.RetentionObject},
    request=requests.RetentionRequest,
)
retention_preview = _operation(
    "preview_retention",
    "retention",
    "Counts what rules would remove now, and what they would leave, with the reason; kinds that are not named go by the"
    " project's rules. Needs the role admin.",
    {200: responses.RetentionPreviewObject},
    query=requests.RetentionQuery,
)
retention_stop = _operation(
    "stop_retention",
    "retention",
    "Removes nothing more until it is started again; a run ends after the rows that it is at. Needs the role admin.",
    {200: responses.RetentionObject},
)
retention_start = _operation(
    "start_retention",
    "retention",
    "Has what is too old removed soon, whether that was stopped or was done lately. Needs the role admin.",
    {200: responses.RetentionObject},
)
audit_list = _operation(
    "list_audit_entries",
    "audit",
    "Lists who changed what in the project, the newest first: bases, keys, members, settings, deletions, logins of its"
    " members, exports. Needs the role admin.",
    {200: responses.AuditPage},
    query=requests.AuditListQuery,
)
audit_export = _operation(
    "export_audit_entries",
    "audit",
    "Sends the entries that fit as a file, the oldest first, while they are read. Needs the role admin.",
    {(200, "application/jsonl"): OpenApiTypes.BINARY, (200, "text/csv"): OpenApiTypes.BINARY},  # type: ignore[dict-item]
    query=requests.AuditExportQuery,
)
turn_read = _operation(
    "read_turn",
    "turns",
    "Reads one turn with the structure of its graph, also while it runs.",
    {200: entries.TurnEntry, 304: _UNCHANGED},
    404,
    extra=[_IF_NONE_MATCH],
)
detail_read = _operation(
    "read_detail", "turns", "Reads what one node of the graph got and gave, up to a size; `download` gives"
    " the whole as a file.",
    {(200, "application/json"): entries.DetailObject, (200, "application/octet-stream"): OpenApiTypes.BINARY,  # type: ignore[dict-item]
     304: _UNCHANGED},
    404, query=requests.DetailQuery, extra=[_IF_NONE_MATCH],
)  # fmt: skip
turn_cancel = _operation(
    "cancel_turn",
    "turns",
    "Asks a running turn to end. It ends as cancelled and leaves what a failed turn leaves.",
    {202: turn_responses.CancelAccepted},
    404,
    409,
)

turn_replay = _operation(
    "replay_turn",
    "experiments",
    "Runs an ended turn again over what it saw and compares it with its record. Nothing is stored.",
    {200: experiment_responses.ReplayObject},
    404,
    409,
)
turn_diagnose = _operation(
    "diagnose_turn",
    "experiments",
    "Searches by trials for what the answer depends on, or for what makes an expectation come true. The conversation"
    " stays as it is; the search is kept as an experiment.",
    {200: experiment_responses.DiagnosisObject},
    404,
    409,
    request=experiment_requests.DiagnosisRequest,
)
turn_bisect = _operation(
    "bisect_turn",
    "experiments",
    "Puts the turn's message to earlier states of the session, or to earlier revisions of a base, and names the first"
    " after which it is answered as now. Kept as an experiment.",
    {200: experiment_responses.BisectObject},
    404,
    409,
    request=experiment_requests.BisectRequest,
)
experiment_list = _operation(
    "list_experiments",
    "experiments",
    "Lists the project's experiments, the newest first.",
    {200: experiment_responses.ExperimentList},
    query=experiment_requests.ExperimentListQuery,
)
experiment_create = _operation(
    "create_experiment",
    "experiments",
    "Runs an ended turn again with changes, or a message that was never sent: several trials side by side. No model is"
    " asked what it was not asked in the recorded turn, unless `allow_model` is set.",
    {201: experiment_responses.ExperimentObject},
    404,
    409,
    410,
    request=experiment_requests.ExperimentRequest,
)
experiment_estimate = _operation(
    "estimate_experiment",
    "experiments",
    "Says how many calls and tokens trials are likely to take from a model with `allow_model`, and what that costs"
    " where a price is set. Nothing is run.",
    {200: experiment_responses.EstimateObject},
    404,
    409,
    request=experiment_requests.ExperimentRequest,
)
_TRIAL_EVENTS = OpenApiResponse(
    _EVENT,
    description="With `stream`: `progress` (0..n) with the `trials` that have ended since the one before, then"
    " `response.completed` with the experiment, or `error` in its place.",
)
experiment_read = _operation(
    "read_experiment",
    "experiments",
    "Reads an experiment with its trials; with `stream`, follows it until it has ended.",
    {
        (200, "application/json"): experiment_responses.ExperimentObject,  # type: ignore[dict-item]
        (200, "text/event-stream"): _TRIAL_EVENTS,  # type: ignore[dict-item]
    },
    404,
    query=requests.StreamQuery,
)
experiment_delete = _operation(
    "delete_experiment",
    "experiments",
    "Removes an experiment with its trials and their traces.",
    {204: None},
    404,
)
experiment_add = _operation(
    "add_trials",
    "experiments",
    "Runs further trials in an experiment that has ended.",
    {201: experiment_responses.ExperimentObject},
    404,
    409,
    request=experiment_requests.TrialsRequest,
)
experiment_cancel = _operation(
    "cancel_experiment",
    "experiments",
    "Stops a running experiment; what it has tried is kept.",
    {202: experiment_responses.ExperimentCancelled},
    404,
    409,
)

forget_plan = _operation(
    "plan_forgetting",
    "forgetting",
    "Looks for everything that came from a message, a unit, a source or a session, or that holds a text; nothing is"
    " removed. For admins.",
    {201: experiment_responses.ForgettingObject},
    404,
    410,
    request=experiment_requests.PlanRequest,
)
forget_run = _operation(
    "forget",
    "forgetting",
    "Carries out a plan: removes everything that it names and searches every table and file again. It cannot be undone."
    " For admins.",
    {202: experiment_responses.ForgettingObject},
    404,
    409,
    request=experiment_requests.ForgetRequest,
)
forget_list = _operation(
    "list_forgettings",
    "forgetting",
    "Lists the project's acts of forgetting, the newest first. For admins.",
    {200: experiment_responses.ForgettingList},
    query=requests.PageQuery,
)
forget_read = _operation(
    "read_forgetting",
    "forgetting",
    "Reads an act with its plan and its certificate. For admins.",
    {200: experiment_responses.ForgettingObject},
    404,
)
forget_cancel = _operation(
    "cancel_forgetting",
    "forgetting",
    "Drops a plan, or stops an act between two steps; what it has removed stays removed. For admins.",
    {202: experiment_responses.ForgettingObject},
    404,
    409,
)
suite_list = _operation(
    "list_suites",
    "suites",
    "Lists the project's suites of tests by name, each with its newest run.",
    {200: suite_responses.SuiteList},
)
suite_create = _operation(
    "create_suite",
    "suites",
    "Makes an empty suite; its name is unique in the project.",
    {201: suite_responses.SuiteObject},
    409,
    request=suite_requests.SuiteRequest,
)
suite_import = _operation(
    "import_suite",
    "suites",
    "Makes a suite as a YAML file gives it; one with its name gets the file's tests in place of its own.",
    {201: suite_responses.SuiteObject},
    409,
    request=suite_requests.SuiteFileRequest,
)
suite_read = _operation(
    "read_suite", "suites", "Reads a suite with its tests in order.", {200: suite_responses.SuiteObject}, 404
)
suite_change = _operation(
    "change_suite",
    "suites",
    "Renames a suite, or puts its tests in another order.",
    {200: suite_responses.SuiteObject},
    404,
    409,
    request=suite_requests.SuitePatchRequest,
)
suite_delete = _operation("delete_suite", "suites", "Removes a suite with its tests and runs.", {204: None}, 404)
suite_export = _operation(
    "export_suite",
    "suites",
    "Reads a suite as YAML, the same text for the same tests.",
    {200: suite_responses.SuiteFile},
    404,
)
test_add = _operation(
    "add_test",
    "suites",
    "Adds a test: of a turn, held to what it answered unless `expect` says otherwise, or of a knowledge base.",
    {201: suite_responses.TestObject},
    404,
    409,
    request=suite_requests.TestRequest,
)
tests_keep = _operation(
    "keep_turns",
    "suites",
    "Keeps turns as tests, each held to what it answered, in one step: all that can be run again and are no test of the"
    " suite yet; `refused` says of the others why not.",
    {201: suite_responses.KeptTurns},
    404,
    409,
    request=requests.SeveralTurns,
)
test_change = _operation(
    "change_test",
    "suites",
    "Replaces the fields of a test that are named.",
    {200: suite_responses.TestObject},
    404,
    409,
    request=suite_requests.TestPatchRequest,
)
test_delete = _operation("delete_test", "suites", "Removes a test; earlier runs keep its results.", {204: None}, 404)
kb_tests = _operation(
    "test_kb",
    "suites",
    "Runs the tests of a base, in all suites, against what a save of a session would make or against a revision, and"
    " says which of them it would break: those that pass on the present state.",
    {201: suite_responses.BaseTests},
    404,
    request=suite_requests.BaseTestsRequest,
)
run_list = _operation(
    "list_runs",
    "suites",
    "Lists the runs of a suite, the newest first.",
    {200: suite_responses.RunList},
    404,
    query=requests.PageQuery,
)
run_start = _operation(
    "run_suite",
    "suites",
    "Runs a suite in the background, each test as a trial: against a base, a revision, what a save of a session would"
    " make, or with other plugins or another model.",
    {201: suite_responses.RunObject},
    404,
    409,
    request=suite_requests.RunRequest,
)
run_read = _operation(
    "read_run",
    "suites",
    "Reads the result of each test of a run, and the changes since the run before, or since `against`.",
    {200: suite_responses.RunObject},
    404,
    query=suite_requests.RunQuery,
)

kb_list = _operation(
    "list_kbs",
    "knowledge",
    "Lists the project's knowledge bases, the default one first, then by name.",
    {200: knowledge_responses.RepositoryPage},
    query=requests.PageQuery,
)
kb_create = _operation(
    "create_kb",
    "knowledge",
    "Makes an empty knowledge base. Names need not be unique.",
    {201: knowledge_responses.RepositoryCreated},
    request=requests.KBCreateRequest,
)
kb_read = _operation(
    "read_kb",
    "knowledge",
    "Reads a knowledge base; `default` is an alias for the project's default one.",
    {200: knowledge_responses.Repository},
    404,
)
kb_delete = _operation(
    "delete_kb", "knowledge",
    "Takes the base out of all lists; forks and the turns that saw it keep what they hold. One that sessions have "
    "mounted, and the default base, are refused. Deleting one that is gone already is fine.",
    {204: None}, 400, 404, 409,
)  # fmt: skip
kb_undelete = _operation(
    "undelete_kb", "knowledge", "Brings a deleted base back as it was.", {200: knowledge_responses.Repository}, 404
)
workspace_read = _operation(
    "read_workspace", "knowledge",
    "Reads what the session's draft shows: the mounted base with what was staged or removed and is not saved.",
    {200: knowledge_responses.WorkspaceObject}, 404, query=requests.PageQuery,
)  # fmt: skip
workspace_stage = _operation(
    "stage_source", "knowledge",
    f"Stages a text, or a file of {FORMATS}, in the session's draft: it can be found there "
    "at once, and no base has it before a save or a fork. The same `source_id` again replaces that source.",
    {(200, "application/json"): knowledge_responses.SourceStaged, (200, "text/event-stream"): _STAGES},  # type: ignore[dict-item]
    404, 409, 410, 422, 502, 504, query=requests.StreamQuery,
    request={"application/json": requests.StagedSourceRequest, "multipart/form-data": requests.SessionUploadRequest},
)  # fmt: skip
workspace_remove = _operation(
    "remove_staged_source", "knowledge",
    "Takes a source out of the session's draft, also one of the mounted base, which keeps it until a save.",
    {200: knowledge_responses.WorkspaceObject}, 404, 409, 410, query=requests.WaitQuery,
)  # fmt: skip
kb_load = _operation(
    "load_session_kb", "knowledge",
    "Mounts a base in the session as it is now. Unsaved changes refuse it unless `discard_draft` throws them away.",
    {200: skill_responses.SessionRecord}, 404, 409, 410, request=requests.KBMountRequest,
)  # fmt: skip
kb_mount = _operation(
    "mount_session_kb", "knowledge", "Another name for `kb/load`.",
    {200: skill_responses.SessionRecord}, 404, 409, 410, request=requests.KBMountRequest,
)  # fmt: skip
kb_save = _operation(
    "save_session_kb", "knowledge",
    "Saves the session's draft, and what it was told, into the mounted base, `target_kb_id` or a new one; mounts that. "
    "A base that has changed since it was mounted refuses; so does one that was never mounted and is not empty, "
    "unless `expected_revision` names its present revision.",
    {200: skill_responses.SessionRecord}, 404, 409, 410, request=requests.KBSaveRequest,
)  # fmt: skip
kb_fork = _operation(
    "fork_session_kb", "knowledge", "Makes a base of all that the session sees, and mounts it there.",
    {200: skill_responses.SessionRecord}, 404, 409, 410, request=requests.KBForkRequest,
)  # fmt: skip
kb_revisions = _operation(
    "list_kb_revisions", "knowledge", "Lists what the base was, the newest revision first.",
    {200: knowledge_responses.RevisionPage}, 404, query=requests.PageQuery,
)  # fmt: skip
kb_restore = _operation(
    "restore_kb", "knowledge",
    "Gives the base a new revision that shows what an earlier one showed. Sessions go on seeing what they mounted.",
    {200: knowledge_responses.Repository}, 404, 409, request=requests.RestoreRequest,
)  # fmt: skip
kb_compact = _operation(
    "compact_kb", "knowledge",
    "Has the base's chain of layers shortened in the background; what it shows, and its revision, stay.",
    {202: knowledge_responses.Repository}, 404,
)  # fmt: skip

source_list = _operation(
    "list_sources", "knowledge", "Lists a base's sources without their texts, the newest first.",
    {200: knowledge_responses.SourcePage}, 404, query=requests.PageQuery,
)  # fmt: skip
source_add = _operation(
    "add_source", "knowledge",
    f"Makes a text, or a file of {FORMATS}, a source of the base. The same `source_id` "
    "again replaces that source. All of it is there at once, or nothing.",
    {(201, "application/json"): knowledge_responses.SourceAdded, (200, "text/event-stream"): _STAGES},  # type: ignore[dict-item]
    404, 409, 422, 502, 504, query=requests.StreamQuery,
    request={"application/json": requests.SourceRequest, "multipart/form-data": requests.UploadRequest},
)  # fmt: skip
source_remove = _operation(
    "remove_source", "knowledge",
    "Removes a source and its units from what the base shows, as a new revision; earlier revisions keep them. Removing "
    "one that is gone already is fine.",
    {204: None}, 404, 409,
)  # fmt: skip
kb_quarantine = _operation(
    "list_kb_quarantine",
    "knowledge",
    "Lists parts of the base's sources that did not become units, with the reasons, the newest first.",
    {200: knowledge_responses.QuarantinePage},
    404,
    query=requests.PageQuery,
)

plugin_list = _operation(
    "list_plugins",
    "server",
    "Lists the registered plugins by type, then id; an unknown type gives none.",
    {200: responses.PluginList},
    query=requests.PluginListQuery,
)
model_list = _operation(
    "list_models", "server", "Lists the language models; none unless one is configured.", {200: responses.ModelList}
)
evaluation_source_list = _operation(
    "list_evaluation_sources", "server",
    "Lists the stories that the evaluation asks about; none where the server was installed without it.",
    {200: responses.EvaluationSourceList},
)  # fmt: skip
model_roles_read = _operation(
    "read_llm_roles", "server", "Reads which model answers in which role.", {200: responses.ModelRolesSnapshot}
)
model_roles_write = _operation(
    "write_llm_roles",
    "server",
    "Replaces the project's table of model roles as a whole; what is left out falls back to its default, an empty "
    "model means automatic. Sessions made from now on take it over.",
    {200: responses.ModelRolesSnapshot},
    request=requests.ModelRolesRequest,
)
model_config_read = _operation(
    "read_model_config",
    "sessions",
    "Reads the session's own table of model roles.",
    {200: responses.ModelConfigObject},
    404,
)
model_config_write = _operation(
    "change_model_config",
    "sessions",
    "Replaces what is named in the session's table; with `take_current_roles` the project's table first.",
    {200: responses.ModelConfigObject},
    404,
    409,
    410,
    request=requests.ModelConfigRequest,
)
skills_read = _operation(
    "read_skills",
    "sessions",
    "Reads the session's skills as they were frozen, with their instructions. Files are not looked at.",
    {200: skill_responses.SessionSkills},
    404,
)
skills_difference = _operation(
    "preview_reload",
    "sessions",
    "Holds the session's skills against what the files say now: what a reload would change.",
    {200: skill_responses.ReloadPreview},
    404,
)
skills_reload = _operation(
    "reload_skills", "sessions", "Replaces the session's skills by what the files say now; other sessions keep theirs.",
    {200: skill_responses.SkillsReloaded}, 404, 409, 410, request=requests.WaitFields,
)  # fmt: skip
health = extend_schema(
    operation_id="health",
    tags=["server"],
    description="Says that the process answers.",
    auth=[],
    responses={200: shape_of(responses.HealthReport)},
)
ready = extend_schema(
    operation_id="ready", tags=["server"],
    description="Tries everything that a turn needs. Callers with access are told which check failed.",
    auth=[{}, {"apiKey": []}],  # type: ignore[list-item]
    responses={code: shape_of(responses.ReadinessReport) for code in (200, 503)},
)  # fmt: skip
