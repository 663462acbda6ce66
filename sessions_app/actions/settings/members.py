"""Members of a project: invite them by a link, change their role, remove them."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput, NotFound
from sessions_app.actions.settings.audit import record
from sessions_app.actions.settings.passwords import set_checked_password
from sessions_app.actions.settings.projects import remove_member, set_member
from sessions_app.models import AuditKind, Invitation, Membership, Project, Role
from sessions_app.models.settings.project import MEMBER_ROLES, digest
from sessions_app.queries.settings.members import open_invitations

INVITATION_LIFETIME = timedelta(days=7)
NOTE_CHARS = 120


@transaction.atomic
def create_invitation(project: Project, role: str, note: str, author: str) -> tuple[Invitation, str]:
    """Return a new invitation and the secret of its link, which can never be read again.

    Args:
        note: a description of the invited person, shown in the list of invitations.
        author: the name of the inviting user.

    Raises:
        InvalidInput: an unknown role, a note that is too long.
        Conflict: the project has too many open invitations.
    """
    if role not in MEMBER_ROLES:
        raise InvalidInput(f"There is no role '{role}'. Known: {', '.join(MEMBER_ROLES)}.")
    note = note.strip()
    if len(note) > NOTE_CHARS:
        raise InvalidInput(f"The note has at most {NOTE_CHARS} characters; this one has {len(note)}.")
    limit = settings.MRPVM_MAX_INVITATIONS
    if open_invitations(project).count() >= limit:
        raise Conflict(f"{limit} invitations wait to be used, as many as may. Withdraw one first.")
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        note=note,
        digest=digest(secret),
        created_by_name=author[:150],
        expires_at=timezone.now() + INVITATION_LIFETIME,
    )
    record(AuditKind.INVITED, project.pk, f"invitation {invitation.pk}", role=role, note=note)
    return invitation, secret


@transaction.atomic
def join_project(secret: str, user: User) -> Membership:
    """Accept an invitation for a logged-in user. A member with the same or a higher role keeps that role.

    Raises:
        NotFound: INVITATION_NOT_FOUND, the link is unknown, used or expired.
    """
    invitation = _use(secret, user.get_username())
    member = Membership.objects.filter(project=invitation.project_id, user=user).first()
    if member is not None and Role(member.role).rank >= Role(invitation.role).rank:
        return member
    return set_member(invitation.project, user, invitation.role)


@transaction.atomic
def join_as_new_user(secret: str, name: str, password: str) -> User:
    """Accept an invitation for a new user, and return that user.

    Raises:
        NotFound: INVITATION_NOT_FOUND.
        InvalidInput: the name cannot be used or is taken, the password is too weak; the invitation stays.
    """
    user = User(username=name.strip())
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages)) from None
    set_checked_password(user, password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        raise InvalidInput("A user with that name is there already. Log in first, then open the link again.") from None
    invitation = _use(secret, user.username)
    set_member(invitation.project, user, invitation.role)
    return user


def _use(secret: str, name: str) -> Invitation:
    now = timezone.now()
    valid = Invitation.objects.filter(digest=digest(secret), used_at__isnull=True, expires_at__gte=now)
    invitation = valid.select_related("project").first()
    if invitation is None or not valid.update(used_at=now, used_by_name=name):
        raise NotFound(
            "This invitation was used or withdrawn, or is too old. Ask who sent it for a new one.",
            code="INVITATION_NOT_FOUND",
        )
    record(AuditKind.INVITATION_USED, invitation.project_id, f"invitation {invitation.pk}", by=name)
    return invitation


@transaction.atomic
def change_role(membership: Membership, role: str) -> Membership:
    """Change a member's role.

    Raises:
        InvalidInput: an unknown role.
        Conflict: the project would be left without an admin.
    """
    if role != Role.ADMIN:
        _keep_an_admin(membership)
    return set_member(membership.project, membership.user, role)


@transaction.atomic
def dismiss_member(membership: Membership) -> None:
    """Remove a member; their open pages and streams end within two seconds.

    Raises:
        Conflict: the project would be left without an admin.
    """
    _keep_an_admin(membership)
    remove_member(membership)


def _keep_an_admin(membership: Membership) -> None:
    admins = Membership.objects.select_for_update().filter(project=membership.project_id, role=Role.ADMIN)
    keys = list(admins.values_list("pk", flat=True))
    if keys == [membership.pk]:
        raise Conflict("A project needs an admin, and this is the last one. Make somebody else an admin first.")
