"""Combined reads of pages: a window of the conversation, the registry, the ledger with its texts."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Prefetch, Q, QuerySet, Subquery

from mrpvm.trace.response import ResponseDocument
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KBMount,
    KnowledgeLayer,
    LayerUnit,
    Message,
    Session,
    UnitEvent,
)
from sessions_app.queries.search.filter_language import Filter
from sessions_app.queries.search.results import session_turns
from sessions_app.queries.sessions.lookups import mounts
from sessions_app.queries.turns.outcomes import outcome

EXCHANGES_SHOWN = 30
IMPORTED_SHOWN = 100
UNITS_SHOWN = 30
TURNS_SHOWN = 20
MOUNTS_SHOWN = 20
WINDOW_MAX = 300
"""The most rows that a page which has loaded more can request again."""
SESSIONS_SHOWN_MAX = 200


class ConversationEntry(NamedTuple):
    """Messages without a turn, and the turn that follows them, None at the end."""

    messages: list[Message]
    turn: ExplainabilityTurn | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A window of the conversation: turns with their messages, messages without a turn among them, oldest first.

    `older_before` is the turn index before which to continue, None at the beginning. `unanswered` are the response
    documents of turns without an answer, by turn key. `since` is when the window begins, None if it begins with the
    conversation.
    """

    entries: list[ConversationEntry]
    unanswered: dict[int, ResponseDocument]
    imported_left_out: bool
    older_before: int | None
    since: datetime | None


def conversation(session: Session, before: int | None = None, count: int | None = None) -> Conversation:
    """Return the newest turns below turn index `before` with their messages, including failed turns."""
    limit = _window(count, EXCHANGES_SHOWN)
    turns = session.turns.select_related("rating").only(*_SHOWN_OF_TURNS, *_RATING).order_by("-turn_index")
    if before is not None:
        turns = turns.filter(turn_index__lt=before)
    said = Prefetch("messages", queryset=Message.objects.order_by("sequence"))
    newest = list(turns.prefetch_related(said, "scores")[: limit + 1])
    shown = newest[:limit][::-1]
    has_older = len(newest) > limit
    bounds = shown if has_older else None
    has_others = before is not None or _last_place(bounds, shown) != session.message_sequence
    imported = _without_turn(session, bounds, before) if has_others else []
    return Conversation(
        entries=_in_order(shown, imported[:IMPORTED_SHOWN][::-1]),
        unanswered=_unanswered(shown),
        imported_left_out=len(imported) > IMPORTED_SHOWN,
        older_before=shown[0].turn_index if has_older else None,
        since=shown[0].created_at if has_older else None,
    )


_SHOWN_OF_TURNS = (
    "session_id", "request_id", "turn_index", "kind", "status", "answer_status", "answer_basis", "created_at",
    "duration_ms", "user_message", "assistant_preview", "is_grounded", "command_result", "context_report", "error",
    "cited_sources", "goal_solver_plugin",
)  # fmt: skip
_RATING = ("rating__turn_id", "rating__value", "rating__note")


def newest_mounts(session: Session) -> list[KBMount]:
    """Return the newest mounts, each with its base and who mounted it, newest first."""
    return list(mounts(session)[:MOUNTS_SHOWN])


def _unanswered(turns: Iterable[ExplainabilityTurn]) -> dict[int, ResponseDocument]:
    open_ones = [turn.pk for turn in turns if outcome(turn) == ExplainabilityTurn.AnswerStatus.NO_CONTEXT]
    if not open_ones:
        return {}
    documents = ExplainabilityTurn.objects.filter(pk__in=open_ones).values_list("pk", "response_document")
    return {pk: document for pk, document in documents if document}


def _without_turn(session: Session, after: list[ExplainabilityTurn] | None, before: int | None) -> list[Message]:
    """Return the newest messages without a turn, the newest first, one more than is shown if there are more.

    Args:
        after: only messages after the first message of these turns; None for no such bound.
        before: only messages before the turn with this index.
    """
    messages = session.messages.filter(turn__isnull=True).order_by("-sequence")
    if after is not None:
        first = next((place for turn in after if (place := _place(turn)) is not None), None)
        messages = messages.none() if first is None else messages.filter(sequence__gt=first)
    if before is not None:
        later = session.messages.filter(turn__turn_index__gte=before).order_by("turn__turn_index", "sequence").first()
        messages = messages if later is None else messages.filter(sequence__lt=later.sequence)
    return list(messages[: IMPORTED_SHOWN + 1])


def _last_place(after: list[ExplainabilityTurn] | None, turns: list[ExplainabilityTurn]) -> int:
    """Return the sequence of the last message of these turns, if no message without a turn is between theirs.

    Args:
        after: as `_without_turn`.
    """
    first = next((place for turn in after or () if (place := _place(turn)) is not None), 1)
    return first - 1 + sum(len(turn.messages.all()) for turn in turns)


def _place(turn: ExplainabilityTurn) -> int | None:
    """Return the sequence of the first message of a turn with prefetched messages; None if it has none."""
    return next((message.sequence for message in turn.messages.all()), None)


def _in_order(turns: list[ExplainabilityTurn], messages: list[Message]) -> list[ConversationEntry]:
    """Return both in the order of the conversation; a turn without messages stays after its predecessor."""
    entries: list[ConversationEntry] = []
    for turn in turns:
        place = _place(turn)
        earlier = [message for message in messages if place is not None and message.sequence < place]
        messages = messages[len(earlier) :]
        entries.append(ConversationEntry(earlier, turn))
    return [*entries, ConversationEntry(messages, None)]


def _window(limit: int | None, usual: int) -> int:
    return min(max(limit or 0, usual), WINDOW_MAX)


def turn_registry(
    session: Session, wanted: Filter, before: int | None = None, count: int | None = None
) -> tuple[list[ExplainabilityTurn], int | None]:
    """Return the registry's entries that match, newest first, and the turn index below which to continue."""
    limit = _window(count, TURNS_SHOWN)
    turns = session_turns(session, wanted)
    if before is not None:
        turns = turns.filter(turn_index__lt=before)
    rows = list(turns[: limit + 1])
    return rows[:limit], rows[limit - 1].turn_index if len(rows) > limit else None


def newest_units(
    session: Session, before: int | None = None, count: int | None = None
) -> tuple[list[ContextUnit], int | None]:
    """Return units newest first with the turn that brought each, and the row id below which to continue."""
    limit = _window(count, UNITS_SHOWN)
    units = session.context_units.select_related("turn").order_by("-id")
    units = units.only(
        "session_id", "state", "role", "topic", "title", "claim", "procedure", "source_id", "provenance", "unit_id",
        "created_at", "turn__request_id", "turn__turn_index",
    )  # fmt: skip
    if before is not None:
        units = units.filter(id__lt=before)
    rows = list(units[: limit + 1])
    return rows[:limit], rows[limit - 1].pk if len(rows) > limit else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The turns before and after one, by request id."""

    previous: str | None
    next: str | None


def neighbours(turn: ExplainabilityTurn) -> Neighbours:
    """Return the neighbours of a turn in its session."""
    others = ExplainabilityTurn.objects.filter(session_id=turn.session_id)
    place = turn.turn_index
    # Numbers have gaps only where turns were removed, so usually one query finds both.
    beside = dict(others.filter(turn_index__in=(place - 1, place + 1)).values_list("turn_index", "request_id"))
    previous, following = beside.get(place - 1), beside.get(place + 1)
    if previous is None and place > 1:
        previous = _first_of(others.filter(turn_index__lt=place).order_by("-turn_index"))
    if following is None and place < turn.session.turn_sequence:
        following = _first_of(others.filter(turn_index__gt=place).order_by("turn_index"))
    return Neighbours(previous=previous, next=following)


def _first_of(turns: QuerySet[ExplainabilityTurn]) -> str | None:
    return turns.values_list("request_id", flat=True).first()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownUnit:
    """The text of a unit, and the turn that staged it, if that is one of this session."""

    text: str
    origin: ExplainabilityTurn | None = None


def known_units(turn: ExplainabilityTurn, unit_ids: Collection[str]) -> dict[str, KnownUnit]:
    """Return units by id: the ledger keeps staged ones, the session its own, layers the rest.

    A unit that is gone from all three is left out.
    """
    session = turn.session
    staged = UnitEvent.objects.filter(session_id=session.pk, unit_id__in=unit_ids, step=UnitEvent.Step.STAGED)
    own = ContextUnit.objects.filter(session_id=session.pk, unit_id__in=unit_ids)
    mounted = session.mounts.filter(mounted_at__lte=turn.created_at).order_by("-id").values("layer_id")[:1]
    tops = KnowledgeLayer.objects.filter(Q(pk=session.draft_id) | Q(pk=Subquery(mounted)))
    layers = {pk for top in tops for pk in top.chain}
    based = LayerUnit.objects.filter(layer_id__in=layers, unit_id__in=unit_ids)
    units_by_id = {row.unit_id: KnownUnit(text=row.text) for row in (*_texts_only(based), *_texts_only(own))}
    for event in staged.select_related("turn").order_by("id"):
        units_by_id[event.unit_id] = KnownUnit(text=event.text, origin=event.turn)
    return units_by_id


def _texts_only[Row: (ContextUnit, LayerUnit)](rows: QuerySet[Row]) -> Iterable[Row]:
    return rows.only("unit_id", "claim", "procedure", "topic")


def after_session(sessions: QuerySet[Session], column: str, value: datetime | int, pk: int) -> QuerySet[Session]:
    """Return the sessions that follow the named row in a list by this column, the greatest first."""
    # The first condition is redundant; it lets the database start in the index at this place.
    return sessions.filter(Q(**{f"{column}__lte": value}), Q(**{f"{column}__lt": value}) | Q(pk__lt=pk))


def deleted_session(session_id: str, project_pk: int) -> Session | None:
    """Return a soft-deleted session of the project that may still be restored."""
    return Session.objects.filter(session_id=session_id, project_id=project_pk, deleted_at__isnull=False).first()
