"""What clients get about turns, for the schema: completions, entries, graphs, payloads."""

from rest_framework import serializers

from mrpvm.trace.verdict import LEADS
from mrpvm.values import BASES
from sessions_app.api.shell.responses import (
    Anything,
    AnyValue,
    Bool,
    Int,
    Page,
    Str,
    Time,
    nullable,
)


class GraphEdge(serializers.Serializer):
    """A recorded edge; its start is the key `from`."""

    to = Str()
    kind = Str()


class GraphObject(serializers.Serializer):
    """The turn's graph; `details` are empty unless they were asked for."""

    rootFrameId = nullable(Str)
    frames = serializers.ListField(child=Anything())
    pluginExecutions = serializers.ListField(child=Anything())
    edges = GraphEdge(many=True)
    controlNodes = serializers.ListField(child=Anything())
    controlEdges = GraphEdge(many=True)
    details = Anything()


class ExecutionTrace(serializers.Serializer):
    """The record of a turn."""

    requestId = nullable(Str)
    sessionId = nullable(Str)
    rootFrameId = nullable(Str)
    inputMessage = nullable(Str)
    deliberationLevel = nullable(Int)
    plannerPluginId = nullable(Str)
    plannerAttempts = serializers.ListField(child=Str())
    plannerCandidates = serializers.ListField(child=Str())
    seedDetectorCandidates = serializers.ListField(child=Str())
    plans = serializers.ListField(child=Anything())
    stages = serializers.ListField(child=Anything())
    command = nullable(Anything, help_text="What a typed command meant, and why.")
    skillChoice = nullable(Anything, help_text="What a model was offered of the skills, and what it chose.")
    skill = nullable(Anything, help_text="The turn's one skill, and why it was chosen.")
    frames = serializers.ListField(child=Anything())
    branches = serializers.ListField(child=Anything())
    results = serializers.ListField(child=Anything())
    failures = serializers.ListField(child=Anything())
    graph = GraphObject()
    finalStatus = serializers.ChoiceField(("success", "failure"), allow_null=True)
    finalAnswerStatus = serializers.ChoiceField(("answered", "no-context"), allow_null=True)
    finalAnswerBasis = serializers.ChoiceField(BASES, allow_null=True)
    frameTransitions = Int()
    error = nullable(Anything)


class ResponseGroup(serializers.Serializer):
    """The answer to one intent."""

    intentRef = Int()
    act = Str()
    intent = Str()
    status = serializers.ChoiceField(("answered", "no-context", "plugin-error"))
    basis = serializers.ChoiceField(BASES)
    confidence = serializers.FloatField(allow_null=True, help_text="How likely the shown text answers, if it is known.")
    reason = Str(help_text="What decided.")
    currentTurnContext = serializers.ListField(child=Anything())
    sessionSources = serializers.ListField(child=Anything())
    kbSources = serializers.ListField(child=Anything())
    pluginOutput = nullable(Anything)
    answerMarkdown = Str()
    citedUnitIds = serializers.ListField(child=Str())
    grounded = Bool()
    warnings = serializers.ListField(child=Str())


class ResponseDocument(serializers.Serializer):
    """What a turn answered, group by group."""

    sessionId = Str()
    groups = ResponseGroup(many=True)


class CompletionMessage(serializers.Serializer):
    """The answer's text."""

    role = serializers.ChoiceField(("assistant",))
    content = Str()


class CompletionChoice(serializers.Serializer):
    """The one choice."""

    index = Int()
    message = CompletionMessage()
    finish_reason = serializers.ChoiceField(("stop", "length"))


class Usage(serializers.Serializer):
    """Tokens of all model calls of the turn."""

    prompt_tokens = Int()
    completion_tokens = Int()
    total_tokens = Int()
    estimated = Bool(required=False)


class CommandEnvelope(serializers.Serializer):
    """What a command gave."""

    status = serializers.ChoiceField(("ok", "error"))
    code = Str()
    message = Str()
    data = nullable(Anything)  # type: ignore[assignment]  # a field of this name, not the serializer's own data


class MeantTerm(serializers.Serializer):
    """A word of the conversation that the message means: its stem, as it was written, and its weight in a search."""

    term = Str()
    word = Str()
    probability = serializers.FloatField(min_value=0, max_value=1)
    weight = serializers.FloatField(min_value=0, max_value=1)


class QueryRewriting(serializers.Serializer):
    """The message in the light of what was said before."""

    original_query = Str()
    rewritten_query = Str()
    was_rewritten = Bool()
    skip_reason = nullable(Str)
    skip_code = nullable(Str)
    by = serializers.ChoiceField(("rules", "model"))
    need_probability = serializers.FloatField(min_value=0, max_value=1)
    terms = MeantTerm(many=True)
    read_as = serializers.ListField(child=Str(), required=False, help_text="With what a detector added.")


class MemoryUsed(serializers.Serializer):
    """The session's memory after the turn; `preferred_documents`, of earlier turns, ranked higher in it."""

    preferred_documents = serializers.ListField(child=Str())
    turn_count = Int(required=False)
    active_documents = serializers.ListField(child=Str(), required=False)
    active_sections = serializers.ListField(child=Str(), required=False)
    resolved_terms = serializers.ListField(
        child=Str(), required=False, help_text="Those that this turn added; the session's memory gives all."
    )
    expires_at = Time(required=False)


class ResolvedTerm(serializers.Serializer):
    """Something a turn made clear."""

    term = Str()
    text = Str()
    kind = serializers.ChoiceField(("answer", "party", "date", "definition"))
    turn_index = Int()


class ActiveDocument(serializers.Serializer):
    """A source that an answer looked at."""

    source_id = Str()
    name = Str(allow_blank=True)
    turn_index = Int(help_text="The last turn that did.")


class MemoryObject(serializers.Serializer):
    """What a session remembers of its turns, the newest first; empty when it remembers nothing."""

    session_id = Str()
    turn_count = Int()
    resolved_terms = ResolvedTerm(many=True)
    active_documents = ActiveDocument(many=True)
    active_sections = serializers.ListField(child=Str())
    last_accessed_at = nullable(Time)
    expires_at = nullable(Time)


class ToolCalled(serializers.Serializer):
    """A tool that a command ran."""

    name = Str()
    input = Str()
    output = Str()


class ChatCompletion(serializers.Serializer):
    """The answer to a chat request."""

    id = Str()
    object = serializers.ChoiceField(("chat.completion",))
    created = Int()
    request_id = Str()
    session_id = Str()
    planner_plugin = nullable(Str)
    seed_detector_plugin = nullable(Str)
    kb_plugin = nullable(Str)
    goal_solver_plugin = nullable(Str)
    deliberation_level = Int()
    kb_id = Str()
    kb_name = Str()
    expires_at = nullable(Time)
    choices = CompletionChoice(many=True)
    usage = Usage()
    answer_basis = serializers.ChoiceField(BASES, allow_null=True)
    response_document = ResponseDocument(allow_null=True)
    command = CommandEnvelope(allow_null=True)
    execution_trace = ExecutionTrace()
    workspace_dirty = Bool()
    warnings = serializers.ListField(child=Str())
    response_id = nullable(Str)
    tool_calls = ToolCalled(many=True)
    outbound_request = nullable(Anything)
    error_phase = nullable(Str)
    query_rewriting = QueryRewriting(required=False)
    session_memory = MemoryUsed(required=False)
    response_markdown = Str(required=False)


class VerdictClause(serializers.Serializer):
    """One reason in a verdict, with the execution, unit or part of the record that it rests on."""

    text = Str()
    executionId = Str(allow_blank=True)
    unitId = Str(allow_blank=True)
    aspect = serializers.ChoiceField(("", "context", "choice", "state", "base"), allow_blank=True)


class VerdictObject(serializers.Serializer):
    """How the turn ended and what decided it, in one line."""

    kind = serializers.ChoiceField(tuple(LEADS))
    text = Str()
    clauses = VerdictClause(many=True)


class TurnEntry(serializers.Serializer):
    """One turn of the registry."""

    requestId = Str()
    turnIndex = Int()
    kind = Str()
    status = serializers.ChoiceField(("running", "succeeded", "failed", "interrupted", "cancelled"))
    createdAt = Time()
    finishedAt = nullable(Time)
    durationMs = nullable(Int)
    userMessage = Str()
    assistantPreview = Str(allow_blank=True)
    answerStatus = serializers.ChoiceField(("answered", "no-context", "failed"), allow_null=True)
    answerBasis = serializers.ChoiceField(BASES, allow_null=True)
    plannerPlugin = nullable(Str)
    seedDetectorPlugin = nullable(Str)
    kbPlugin = nullable(Str)
    goalSolverPlugin = nullable(Str)
    deliberationLevel = Int()
    model = nullable(Str)
    responseDocument = ResponseDocument(allow_null=True)
    commandResult = CommandEnvelope(allow_null=True)
    unitChanges = Anything()
    executionTrace = ExecutionTrace()
    error = nullable(Anything)
    verdict = VerdictObject()


class ListedTurn(serializers.Serializer):
    """One turn of the project's list."""

    request_id = Str()
    session_id = Str()
    session_label = Str()
    turn_index = Int()
    kind = Str()
    status = Str(help_text="running, succeeded, failed, interrupted or cancelled.")
    outcome = nullable(Str, help_text="What became of it; null while it runs.")
    answer_basis = serializers.ChoiceField(BASES, allow_null=True)
    created_at = Time()
    duration_ms = nullable(Int)
    asked_by = nullable(Str, help_text="The user or API key that asked; null for the server's own.")
    user_message = Str()
    assistant_preview = Str(allow_blank=True)
    kb_id = nullable(Str, help_text="The base that was mounted when it ran.")
    kb_name = nullable(Str)
    planner_plugin = nullable(Str)
    seed_detector_plugin = nullable(Str)
    kb_plugin = nullable(Str)
    goal_solver_plugin = nullable(Str)
    deliberation_level = Int()
    model = nullable(Str)
    token_count = nullable(Int, help_text="What its model calls took and gave; null without one.")
    is_rewritten = Bool(help_text="Whether a follow-up was searched for in other words.")
    left_out_count = Int(help_text="How many messages and texts its context left out.")
    rating = serializers.ChoiceField(("up", "down"), allow_null=True)
    error = nullable(Anything)


class TurnPage(Page):
    """A page of turns."""

    turns = ListedTurn(many=True)


class SavedFilterObject(serializers.Serializer):
    """A filter of the list of turns under a name."""

    filter_id = Str()
    name = Str()
    q = Str(help_text="In the filter language, as `GET /api/turns` takes it.")
    created_by = Str()
    created_at = Time()


class SavedFilterList(serializers.Serializer):
    """The project's saved filters."""

    filters = SavedFilterObject(many=True)


class ScoreObject(serializers.Serializer):
    """What one person thinks of an answer."""

    person = Str(allow_blank=True, help_text="A user's name, or that of an API key.")
    value = serializers.ChoiceField(("up", "down", "skipped"))
    note = Str(allow_blank=True)
    scored_at = Time()


class TurnScoresObject(serializers.Serializer):
    """What people think of an answer; `rating` is the newest thumb."""

    rating = serializers.ChoiceField(("up", "down"), allow_null=True)
    scores = ScoreObject(many=True)


class QueuedTurnObject(serializers.Serializer):
    """A turn of the review queue."""

    request_id = Str()
    session_id = Str()
    user_message = Str()
    assistant_preview = Str(allow_blank=True)
    added_by = Str()
    added_at = Time()
    scores = ScoreObject(many=True)


class ReviewPage(Page):
    """A page of the review queue, and how far the caller is."""

    queued = Int(help_text="Turns of the whole queue.")
    done = Int(help_text="How many of them the caller has rated or skipped.")
    turns = QueuedTurnObject(many=True)


class ReviewsAdded(serializers.Serializer):
    """What came of adding turns to the queue."""

    added = Int()
    known = Int(help_text="Those that were in the queue already.")
    unanswered = Int(help_text="Those without an answer that could be rated.")


class AgreementObject(serializers.Serializer):
    """How two people rated the answers that both have rated."""

    people = serializers.ListField(child=Str(allow_blank=True))
    both = Int()
    equal = Int()
    kappa = nullable(
        serializers.FloatField, help_text="Cohen's kappa; null where both gave one and the same rating throughout."
    )


class AgreementList(serializers.Serializer):
    """How far people agree in the newest 5,000 ratings; `equal_share` of all pairs of ratings of one answer."""

    both = Int()
    equal = Int()
    equal_share = nullable(serializers.FloatField)
    pairs = AgreementObject(many=True)


class CrossingObject(serializers.Serializer):
    """One time that a limit was passed."""

    crossing_id = Str(help_text="The id of the message that tells it, the same in each try.")
    crossed_at = Time()
    ended_at = nullable(Time, help_text="When the rate was within the limit again.")
    matched = Int()
    turns = Int()
    status = serializers.ChoiceField(("waiting", "sent", "failed"))
    tries = Int()
    problem = Str(allow_blank=True, help_text="Why the newest try failed.")


class AlertObject(serializers.Serializer):
    """An alert, how its rate stood when it was looked at, and its newest crossings."""

    alert_id = Str()
    filter_id = Str()
    filter = Str()
    limit_percent = serializers.FloatField()
    window_minutes = Int()
    least_turns = Int()
    channel = serializers.ChoiceField(("hook", "mail"))
    target = Str()
    is_over = Bool()
    rate_percent = nullable(serializers.FloatField, help_text="Null where there were too few turns.")
    checked_at = nullable(Time)
    created_by = Str()
    created_at = Time()
    crossings = CrossingObject(many=True)


class NewAlertObject(AlertObject):
    """An alert that was just made."""

    signing_key = nullable(Str, help_text="By which the receiver of a web hook checks messages; given this once.")


class AlertList(serializers.Serializer):
    """The project's alerts."""

    alerts = AlertObject(many=True)


class Registry(serializers.Serializer):
    """A part of a session's registry."""

    session_id = Str()
    turn_count = Int(help_text="Of the whole registry.")
    turns = TurnEntry(many=True)
    has_more = Bool(help_text="Whether there are older entries.")


class DetailObject(serializers.Serializer):
    """A node's payload."""

    ref = Str()
    input = AnyValue()
    output = AnyValue()
    error = AnyValue()
    meta = AnyValue()
    text = nullable(Str, help_text="The first part of the payload's JSON, when it is too long to come inline.")
    truncated = Bool()
    size = Int(help_text="Bytes of the whole payload.")
    cutBytes = Int(help_text="Bytes that were too many to be stored.")
    pruned = Bool(help_text="Whether retention has removed the payload.")


class CancelAccepted(serializers.Serializer):
    """A turn that will end."""

    request_id = Str()
    session_id = Str()
    status = serializers.ChoiceField(("cancelling",))
