"""The people of the project and who is invited, for its admins."""

from django.urls import reverse
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.settings.invitations import withdraw_invitation
from sessions_app.actions.settings.members import change_role, create_invitation, dismiss_member
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import InvitationRequest, RoleRequest
from sessions_app.api.shell.responses import InvitationObject, MemberObject
from sessions_app.api.shell.views import AdminsView
from sessions_app.models import Invitation, Membership
from sessions_app.queries.settings import members


class Members(AdminsView):
    """Everybody who belongs to the project."""

    @schemas.member_list
    def get(self, request: Request) -> Response:
        """List the members by name."""
        return Response({"members": [_member(membership) for membership in members.members(self.project)]})


class OneMember(AdminsView):
    """One member, by the user's name."""

    @schemas.member_change
    def patch(self, request: Request, name: str) -> Response:
        membership = members.member(self.project, name)
        return Response(_member(change_role(membership, self.body(RoleRequest)["role"])))

    @schemas.member_remove
    def delete(self, request: Request, name: str) -> Response:
        membership = members.members(self.project).filter(user__username=name).first()
        if membership is not None:
            dismiss_member(membership)
        return Response(status=204)


class Invitations(AdminsView):
    """Links by which people join."""

    @schemas.invitation_list
    def get(self, request: Request) -> Response:
        """List the invitations that can still be used."""
        return Response({"invitations": [_invitation(item) for item in members.open_invitations(self.project)]})

    @schemas.invitation_create
    def post(self, request: Request) -> Response:
        """Make one; its link is given this once."""
        body = self.body(InvitationRequest)
        invitation, secret = create_invitation(self.project, body["role"], body.get("note", ""), self.author.name)
        link = request.build_absolute_uri(reverse("invitation", args=[secret]))
        return Response({**_invitation(invitation), "link": link}, status=201)


class OneInvitation(AdminsView):
    @schemas.invitation_withdraw
    def delete(self, request: Request, invitation_id: int) -> Response:
        invitation = members.open_invitations(self.project).filter(pk=invitation_id).first()
        if invitation is not None:
            withdraw_invitation(invitation)
        return Response(status=204)


def _member(membership: Membership) -> MemberObject:
    user = membership.user
    return {
        "name": user.get_username(),
        "role": membership.role,
        "is_active": user.is_active,
        "last_login": user.last_login,
    }


def _invitation(invitation: Invitation) -> InvitationObject:
    return {
        "id": invitation.pk,
        "role": invitation.role,
        "note": invitation.note,
        "created_by": invitation.created_by_name,
        "created_at": invitation.created_at,
        "expires_at": invitation.expires_at,
    }
