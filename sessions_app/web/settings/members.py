"""The members page, for admins of the project, and the page that an invitation leads to."""

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from mrpvm.errors import MRPError
from sessions_app.actions.settings.invitations import withdraw_invitation
from sessions_app.actions.settings.members import (
    change_role,
    create_invitation,
    dismiss_member,
    join_as_new_user,
    join_project,
)
from sessions_app.actions.settings.projects import show_project
from sessions_app.call_rates import is_allowed, network_of
from sessions_app.models.settings.project import MEMBER_ROLES
from sessions_app.queries.settings import members
from sessions_app.queries.settings.projects import keys_made_by
from sessions_app.queries.settings.second_factor import users_with_second_factor
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error

JOINS_A_MINUTE = 20
"""Limit per address. It does not protect the secret, which cannot be guessed, but each attempt hashes a password."""
_BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the members and who is invited; a POST invites, and shows the link once."""
    context: dict[str, object] = {"roles": MEMBER_ROLES.items(), "chosen_role": "editor"}
    status = 200
    if request.method == "POST":
        role, note = (request.POST.get(field, "") for field in ("role", "note"))
        try:
            _, secret = create_invitation(member.project, role, note, member.user.get_username())
        except MRPError as refused:
            context |= {"error": refused.message, "note": note, "chosen_role": role}
            status = 400
        else:
            context["link"] = request.build_absolute_uri(reverse("invitation", args=[secret]))
    context["memberships"] = memberships = list(members.members(member.project))
    context["secured"] = users_with_second_factor([membership.user_id for membership in memberships])
    context["invitations"] = members.open_invitations(member.project)
    return page(request, "settings/members.html", member, context, section="members", status=status)


@form_of("members")
@member_view("admin")
def role(request: HttpRequest, member: Member, name: str) -> HttpResponse:
    membership = members.member(member.project, name)
    try:
        changed = change_role(membership, request.POST.get("role", ""))
    except MRPError as refused:
        tell_error(request, refused)
    else:
        tell(request, f"{name} is {changed.role} now.")
    return HttpResponseRedirect(reverse("members"))


@form_of("members")
@member_view("admin")
def remove(request: HttpRequest, member: Member, name: str) -> HttpResponse:
    membership = members.member(member.project, name)
    try:
        dismiss_member(membership)
    except MRPError as refused:
        tell_error(request, refused)
    else:
        kept = ", ".join(f"“{key.name}”" for key in keys_made_by(member.project, membership.user_id))
        still = f" Keys that {name} made still work, until you revoke them: {kept}." if kept else ""
        tell(request, f"{name} is no member any more.{still}")
        if membership.user_id == member.user.pk:
            return HttpResponseRedirect(reverse("sessions"))
    return HttpResponseRedirect(reverse("members"))


@form_of("members")
@member_view("admin")
def withdraw(request: HttpRequest, member: Member, key: int) -> HttpResponse:
    withdraw_invitation(members.open_invitation(member.project, key))
    tell(request, "The invitation is withdrawn.")
    return HttpResponseRedirect(reverse("members"))


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what an invitation is to, and accept it: as the user who is logged in, or as a new one."""
    invitation = members.invitation_of(secret)
    context = {"invitation": invitation, "name": "", "error": ""}
    status = 200 if invitation else 404
    if invitation and request.method == "POST":
        context["name"] = request.POST.get("name", "")
        try:
            if not is_allowed(f"join:{network_of(request.META.get('REMOTE_ADDR', ''))}", JOINS_A_MINUTE):
                context["error"], status = "Too many attempts. Try again in a minute.", 429
            else:
                return _join(request, secret, invitation.project.slug, str(context["name"]))
        except MRPError as refused:
            context["error"], status = refused.message, 400
    return render(request, "settings/invitation.html", context, status=status)


def _join(request: HttpRequest, secret: str, slug: str, name: str) -> HttpResponse:
    if isinstance(request.user, User):
        join_project(secret, request.user)
        user = request.user
    else:
        user = join_as_new_user(secret, name, request.POST.get("password", ""))
        login(request, user, backend=_BACKEND)
    project = show_project(user, slug)
    tell(request, f"You are a member of “{project.name}” now.")
    return HttpResponseRedirect(reverse("sessions"))
