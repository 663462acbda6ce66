"""What clients of the OpenAI dialect do with what they asked."""

from django.db import transaction

from sessions_app.models import ExplainabilityTurn


@transaction.atomic
def forget_response(turn: ExplainabilityTurn) -> None:
    """Take the turn's response out of the dialect; the turn, its messages and its record stay."""
    locked = ExplainabilityTurn.objects.select_for_update().only("client_request").get(pk=turn.pk)
    locked.client_request = {**(locked.client_request or {}), "deleted": True}
    locked.save(update_fields=["client_request"])
