"""Saying what an answer was worth; an expired session's answers can still be rated, because reading them goes on."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app import events
from sessions_app.actions.turns.counting import mark_outdated
from sessions_app.models import ExplainabilityTurn, TurnRating

NOTE_CHARS = 2_000


@transaction.atomic
def rate_turn(turn: ExplainabilityTurn, value: str, note: str = "", actor: User | None = None) -> None:
    """Set the verdict on the turn's answer and its note, or take both away with an empty `value`.

    Raises:
        InvalidInput: another value, too long a note, or a turn without an answer.

    Effects: the rating's row, its hour of the overview is counted again; `turn.rated`.
    """
    note = note.strip()
    if value not in ("", *TurnRating.Value.values):
        raise InvalidInput(f"A rating is up or down, not '{value[:20]}'.")
    if len(note) > NOTE_CHARS:
        raise InvalidInput(f"A note has at most {NOTE_CHARS} characters; this one has {len(note)}.")
    if turn.status != ExplainabilityTurn.Status.SUCCEEDED:
        raise InvalidInput("This turn gave no answer that could be rated.")
    if value:
        columns = {"value": value, "note": note, "rated_by": actor, "rated_at": timezone.now()}
        TurnRating.objects.update_or_create(turn=turn, defaults=columns)
    else:
        TurnRating.objects.filter(turn=turn).delete()
    mark_outdated(turn)
    events.append(turn.session, ("turn.rated", events.TurnRated(request_id=turn.request_id, value=value)))
