"""Withdraw one invitation, or all those of a member who may no longer invite."""

from django.db import transaction
from django.utils import timezone

from sessions_app.actions.settings.audit import record
from sessions_app.models import AuditKind, Invitation


@transaction.atomic
def withdraw_invitation(invitation: Invitation) -> None:
    """Delete an invitation, so that its link stops working; doing so again changes nothing."""
    gone, _ = Invitation.objects.filter(pk=invitation.pk).delete()
    if gone:
        record(AuditKind.INVITATION_WITHDRAWN, invitation.project_id, f"invitation {invitation.pk}")


@transaction.atomic
def withdraw_invitations_of(author: str, project_pk: int | None = None) -> None:
    """Withdraw the open invitations by a former admin, in one project or all; one would let the author rejoin."""
    waiting = Invitation.objects.filter(used_at__isnull=True, expires_at__gte=timezone.now())
    if project_pk is not None:
        waiting = waiting.filter(project=project_pk)
    for invitation in waiting.filter(created_by_name=author[:150]):
        withdraw_invitation(invitation)
