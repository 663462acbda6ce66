"""What clients get about turns, for the schema: completions, entries, graphs, payloads."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from mrpvm.commands.result import CommandEnvelope
from mrpvm.trace.record import ExecutionTrace
from mrpvm.trace.response import ResponseDocument
from mrpvm.values import BASES
from sessions_app.api.shell.responses import PageObject
from sessions_app.field_notes import Between, OneOf
from sessions_app.interchange.turn_files import ListedTurn
from sessions_app.queries.turns.entries import TurnEntry


class CompletionMessage(TypedDict):
    """The answer's text."""

    role: Annotated[str, OneOf(("assistant",))]
    content: str


class CompletionChoice(TypedDict):
    """The one choice."""

    index: int
    message: CompletionMessage
    finish_reason: Annotated[str, OneOf(("stop", "length"))]


class UsageObject(TypedDict):
    """Tokens of all model calls of the turn."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    estimated: NotRequired[bool]


class MeantTermObject(TypedDict):
    """A word of the conversation that the message means: its stem, as it was written, and its weight in a search."""

    term: str
    word: str
    probability: Annotated[float, Between(0, 1)]
    weight: Annotated[float, Between(0, 1)]


class QueryRewriting(TypedDict):
    """The message in the light of what was said before."""

    original_query: str
    rewritten_query: str
    was_rewritten: bool
    skip_reason: str | None
    skip_code: str | None
    by: Annotated[str, OneOf(("rules", "model"))]
    need_probability: Annotated[float, Between(0, 1)]
    terms: list[MeantTermObject]
    read_as: NotRequired[Annotated[list[str], "With what a detector added."]]


class MemoryUsed(TypedDict):
    """The session's memory after the turn; `preferred_documents`, of earlier turns, ranked higher in it."""

    preferred_documents: list[str]
    turn_count: NotRequired[int]
    active_documents: NotRequired[list[str]]
    active_sections: NotRequired[list[str]]
    resolved_terms: NotRequired[Annotated[list[str], "Those that this turn added; the session's memory gives all."]]
    expires_at: NotRequired[datetime]


class ResolvedTermObject(TypedDict):
    """Something a turn made clear."""

    term: str
    text: str
    kind: Annotated[str, OneOf(("answer", "party", "date", "definition"))]
    turn_index: int


class ActiveDocumentObject(TypedDict):
    """A source that an answer looked at."""

    source_id: str
    name: str
    turn_index: Annotated[int, "The last turn that did."]


class MemoryContents(TypedDict):
    """What a session remembers of its turns, the newest first; empty when it remembers nothing."""

    turn_count: int
    resolved_terms: list[ResolvedTermObject]
    active_documents: list[ActiveDocumentObject]
    active_sections: list[str]
    last_accessed_at: datetime | None
    expires_at: datetime | None


class MemoryObject(MemoryContents):
    """What a session remembers of its turns, the newest first; empty when it remembers nothing."""

    session_id: str


class ToolCalled(TypedDict):
    """A tool that a command ran."""

    name: str
    input: str
    output: str


class CompletionHead(TypedDict):
    """The plugins, session and base of an answer."""

    request_id: str
    session_id: str
    planner_plugin: str | None
    seed_detector_plugin: str | None
    kb_plugin: str | None
    goal_solver_plugin: str | None
    deliberation_level: int
    kb_id: str
    kb_name: str


class CompletionSent(TypedDict):
    """What was really sent and called, and the name under which the next request continues from here."""

    response_id: str | None
    tool_calls: list[ToolCalled]
    outbound_request: Mapping[str, Any] | None
    error_phase: str | None


class CompletionExtras(TypedDict, total=False):
    """What rewriting and memory did, where their policies are on, and the answer as one text, if it was asked for."""

    query_rewriting: QueryRewriting
    session_memory: MemoryUsed
    response_markdown: str


class ChatCompletion(CompletionHead):
    """The answer to a chat request."""

    id: str
    object: Annotated[str, OneOf(("chat.completion",))]
    created: int
    expires_at: datetime | None
    choices: list[CompletionChoice]
    usage: UsageObject
    answer_basis: Annotated[str | None, OneOf(BASES)]
    response_document: ResponseDocument | None
    command: CommandEnvelope | None
    execution_trace: ExecutionTrace
    workspace_dirty: bool
    warnings: list[str]
    response_id: str | None
    tool_calls: list[ToolCalled]
    outbound_request: Mapping[str, Any] | None
    error_phase: str | None
    query_rewriting: NotRequired[QueryRewriting]
    session_memory: NotRequired[MemoryUsed]
    response_markdown: NotRequired[str]


class TurnPageObject(PageObject):
    """A page of turns."""

    turns: list[ListedTurn]


class SavedFilterObject(TypedDict):
    """A filter of the list of turns under a name."""

    filter_id: str
    name: str
    q: Annotated[str, "In the filter language, as `GET /api/turns` takes it."]
    created_by: str
    created_at: datetime


class SavedFilterList(TypedDict):
    """The project's saved filters."""

    filters: list[SavedFilterObject]


class ScoreObject(TypedDict):
    """What one person thinks of an answer."""

    person: Annotated[str, "A user's name, or that of an API key."]
    value: Annotated[str, OneOf(("up", "down", "skipped"))]
    note: str
    scored_at: datetime


class TurnScoresObject(TypedDict):
    """What people think of an answer; `rating` is the newest thumb."""

    rating: Annotated[str | None, OneOf(("up", "down"))]
    scores: list[ScoreObject]


class QueuedTurnObject(TypedDict):
    """A turn of the review queue."""

    request_id: str
    session_id: str
    user_message: str
    assistant_preview: str
    added_by: str
    added_at: datetime
    scores: list[ScoreObject]


class ReviewPage(PageObject):
    """A page of the review queue, and how far the caller is."""

    queued: Annotated[int, "Turns of the whole queue."]
    done: Annotated[int, "How many of them the caller has rated or skipped."]
    turns: list[QueuedTurnObject]


class ReviewsAdded(TypedDict):
    """The results of adding turns to the queue."""

    added: int
    known: Annotated[int, "Those that were in the queue already."]
    unanswered: Annotated[int, "Those without an answer that could be rated."]


class AgreementObject(TypedDict):
    """How two people rated the answers that both have rated."""

    people: list[str]
    both: int
    equal: int
    kappa: Annotated[float | None, "Cohen's kappa; null where both gave one and the same rating throughout."]


class AgreementList(TypedDict):
    """How far people agree in the newest 5,000 ratings; `equal_share` of all pairs of ratings of one answer."""

    both: int
    equal: int
    equal_share: float | None
    pairs: list[AgreementObject]


class CrossingObject(TypedDict):
    """One time that a limit was passed."""

    crossing_id: Annotated[str, "The id of the message that tells it, the same in each try."]
    crossed_at: datetime
    ended_at: Annotated[datetime | None, "When the rate was within the limit again."]
    matched: int
    turns: int
    status: Annotated[str, OneOf(("waiting", "sent", "failed"))]
    tries: int
    problem: Annotated[str, "Why the newest try failed."]


class AlertObject(TypedDict):
    """An alert, how its rate stood when it was looked at, and its newest crossings."""

    alert_id: str
    filter_id: str
    filter: str
    limit_percent: float
    window_minutes: int
    least_turns: int
    channel: Annotated[str, OneOf(("hook", "mail"))]
    target: str
    is_over: bool
    rate_percent: Annotated[float | None, "Null where there were too few turns."]
    checked_at: datetime | None
    created_by: str
    created_at: datetime
    crossings: list[CrossingObject]


class NewAlertObject(AlertObject):
    """An alert that was just made."""

    signing_key: Annotated[str | None, "By which the receiver of a web hook checks messages; given this once."]


class AlertList(TypedDict):
    """The project's alerts."""

    alerts: list[AlertObject]


class RegistryObject(TypedDict):
    """A part of a session's registry."""

    session_id: str
    turn_count: Annotated[int, "Of the whole registry."]
    turns: list[TurnEntry]
    has_more: Annotated[bool, "Whether there are older entries."]


class CancelAccepted(TypedDict):
    """A turn that will end."""

    request_id: str
    session_id: str
    status: Annotated[str, OneOf(("cancelling",))]
