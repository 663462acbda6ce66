"""Actions of OpenAI clients on their earlier requests."""

from django.db import transaction

from sessions_app.actions.settings.audit import record_of_session
from sessions_app.models import AuditKind, ExplainabilityTurn


@transaction.atomic
def forget_response(turn: ExplainabilityTurn) -> None:
    """Remove the turn's response from the OpenAI API; the turn, its messages and its record stay."""
    locked = ExplainabilityTurn.objects.select_for_update().only("client_request").get(pk=turn.pk)
    if not (locked.client_request or {}).get("deleted"):
        record_of_session(AuditKind.RESPONSE_FORGOTTEN, turn.session, turn=turn.request_id)
    locked.client_request = {**(locked.client_request or {}), "deleted": True}
    locked.save(update_fields=["client_request"])
