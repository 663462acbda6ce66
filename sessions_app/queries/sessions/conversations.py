"""Lookups for OpenAI clients: conversations that they send in full or continue, and responses."""

from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app.models import ConversationPoint, ExplainabilityTurn, Message, Project, Session
from sessions_app.models.named_sql import beginning_count, continuation_pk
from sessions_app.queries.sessions.lookups import messages

_LOOKED_AT = 50
"""With more matching sessions than this, a conversation counts as unknown."""


def recognised_point(conversation_hash: str) -> tuple[ConversationPoint | None, bool]:
    """Return the point with this hash, and whether it is ambiguous: several unrelated sessions have one.

    Forks of one conversation are related; the one with the latest activity is returned. A deleted session is never
    returned but still counts, so that its user is not led into an unrelated session.
    """
    points = list(
        ConversationPoint.objects.filter(conversation_hash=conversation_hash)
        .select_related("session")
        .order_by("-session__last_activity_at", "-session_id")[: _LOOKED_AT + 1]
    )
    if len(points) > 1 and (len(points) > _LOOKED_AT or beginning_count({point.session_id for point in points}) > 1):
        return None, True
    return next((point for point in points if point.session.deleted_at is None), None), False


def continuation(session: Session) -> Session:
    """Return the session that continues this expired one, or itself if there is none."""
    latest = continuation_pk(session.pk) if session.is_expired else session.pk
    return session if latest == session.pk else Session.objects.get(pk=latest)


def response_turn(project: Project, request_id: str) -> ExplainabilityTurn | None:
    """Return one turn of the project with its session, None if there is none or its response was deleted."""
    return response_turns(project, [request_id]).get(request_id)


def response_turns(project: Project, request_ids: Collection[str]) -> dict[str, ExplainabilityTurn]:
    """Return those turns of the project whose responses were not deleted, by their ids, each with its session."""
    turns = _of_requests(project.pk, request_ids)
    return {turn.request_id: turn for turn in turns if not (turn.client_request or {}).get("deleted")}


def turn_of_request(project_pk: int, request_id: str) -> ExplainabilityTurn:
    """Return a turn that is known to exist, with its session."""
    return _of_requests(project_pk, [request_id]).get()


def _of_requests(project_pk: int, request_ids: Collection[str]) -> QuerySet[ExplainabilityTurn]:
    return ExplainabilityTurn.objects.filter(
        request_id__in=request_ids, session__project_id=project_pk, session__deleted_at__isnull=True
    ).select_related("session")


def asked_messages(turn: ExplainabilityTurn) -> list[Message]:
    """Return the turn's input messages in order: all but the answer, or the question of a failed turn."""
    stored = list(turn.messages.order_by("sequence"))
    if stored and stored[-1].role == Message.Speaker.ASSISTANT:
        stored.pop()
    return stored or [Message(session=turn.session, role="user", content=turn.user_message)]


def items(session: Session) -> QuerySet[Message]:
    """Return the messages in order, each with its turn and `is_answer`: whether it is that turn's answer.

    A turn with several input messages has stored all of them, and its answer last.
    """
    later = Message.objects.filter(turn=OuterRef("turn"), sequence__gt=OuterRef("sequence"))
    spoken = Q(role=Message.Speaker.ASSISTANT, turn__isnull=False)
    return messages(session).annotate(is_answer=spoken & ~Exists(later))


def items_behind(session: Session, last: Message | None, *, is_newest_first: bool) -> QuerySet[Message]:
    """Return the items that follow `last` in the order asked for, all of them for None."""
    rows = items(session)
    if is_newest_first:
        rows = rows.order_by("-sequence")
    if last is None:
        return rows
    return rows.filter(sequence__lt=last.sequence) if is_newest_first else rows.filter(sequence__gt=last.sequence)
