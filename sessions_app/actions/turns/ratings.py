"""Rate answers, also those of expired sessions."""

from django.db import transaction
from django.utils import timezone

from mrpvm.errors import InvalidInput
from sessions_app import events
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.turns.counting import mark_outdated
from sessions_app.models import ExplainabilityTurn, TurnRating, TurnScore

NOTE_CHARS = 2_000
NOBODY = Author(name="")


@transaction.atomic
def rate_turn(turn: ExplainabilityTurn, value: str, note: str = "", author: Author = NOBODY) -> None:
    """Set a person's rating and note of the turn's answer, or remove both with an empty `value`.

    Raises:
        InvalidInput: another value, too long a note, or a turn without an answer.

    Effects: the person's score; the turn's rating, which is the newest score; the turn's hour is counted again;
    `turn.rated`.
    """
    note = note.strip()
    if value not in ("", *TurnRating.Value.values):
        raise InvalidInput(f"A rating is up or down, not '{value[:20]}'.")
    if len(note) > NOTE_CHARS:
        raise InvalidInput(f"A note has at most {NOTE_CHARS} characters; this one has {len(note)}.")
    if turn.status != ExplainabilityTurn.Status.SUCCEEDED:
        raise InvalidInput("This turn gave no answer that could be rated.")
    ExplainabilityTurn.objects.select_for_update().only("pk").get(pk=turn.pk)  # orders concurrent ratings
    person = author.name[:150]
    if value:
        columns = {"value": value, "note": note, "user": author.user, "scored_at": timezone.now()}
        TurnScore.objects.update_or_create(turn=turn, person=person, defaults=columns)
    else:
        TurnScore.objects.filter(turn=turn, person=person).delete()
    newest = _take_newest_score(turn)
    mark_outdated(turn.session.project_id, [turn.created_at])
    events.append(turn.session, ("turn.rated", events.TurnRated(request_id=turn.request_id, value=newest)))


def _take_newest_score(turn: ExplainabilityTurn) -> str:
    """Make the newest score with a thumb the turn's rating; return its value, empty if there is none."""
    scores = TurnScore.objects.filter(turn=turn).exclude(value=TurnScore.Value.SKIPPED)
    newest = scores.order_by("-scored_at", "-id").first()
    if newest is None:
        TurnRating.objects.filter(turn=turn).delete()
        return ""
    columns = {"value": newest.value, "note": newest.note, "rated_by": newest.user, "rated_at": newest.scored_at}
    TurnRating.objects.update_or_create(turn=turn, defaults=columns)
    return newest.value
