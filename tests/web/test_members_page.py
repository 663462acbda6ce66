"""Members: invitations by link, changes of role, removal."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from mrpvm.errors import Conflict
from sessions_app.actions.settings.members import create_invitation, join_as_new_user, join_project
from sessions_app.models import ApiKey, AuditEntry, Invitation, Membership, Project
from tests.web.page_scene import HOSTILE, check_html, member_client, notice, text_at


def invited(admin: Client, role: str = "editor", note: str = "Bo") -> str:
    """Return the path of a new invitation's link, which the page shows once."""
    page = admin.post(reverse("members"), {"role": role, "note": note})
    check_html(page.text)
    found = re.search(r"http://testserver(/join/[\w-]+)", page.text)
    assert found, page.text
    assert found[1] not in admin.get(reverse("members")).text
    return found[1]


def test_a_stranger_joins_by_a_link_once(project: Project) -> None:
    admin = member_client(project, name="ann")
    path, stranger = invited(admin, "viewer"), Client()
    shown = stranger.get(path)
    check_html(shown.text)
    assert shown["Referrer-Policy"] == "same-origin"
    assert text_at(shown.text, "h1 + p") == "ann invites you as viewer: reads."
    for name, password in (("ann", "long enough 1"), ("bo", "short"), ("", "long enough 1")):
        assert stranger.post(path, {"name": name, "password": password}).status_code == 400
    assert stranger.post(path, {"name": "bo", "password": "long enough 1"}).status_code == 302
    assert Membership.objects.get(user__username="bo").role == "viewer"
    assert stranger.get(reverse("sessions")).status_code == 200
    for late in (Client().get(path), Client().post(path, {"name": "cy", "password": "long enough 1"})):
        assert late.status_code == 404
    assert not User.objects.filter(username="cy").exists()
    kinds = AuditEntry.objects.filter(kind__startswith="invitation.").order_by("pk").values_list("kind", "actor")
    assert list(kinds) == [("invitation.created", "ann"), ("invitation.used", "")]
    assert path.removeprefix("/join/") not in str(list(Invitation.objects.values()) + list(AuditEntry.objects.values()))


def test_a_user_joins_another_project_and_keeps_a_higher_role(project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other")
    client = member_client(other, "admin", "bo")
    client.post(invited(member_client(project, name="ann"), "viewer"))
    bo = User.objects.get(username="bo")
    assert dict(bo.memberships.values_list("project__slug", "role")) == {"default": "viewer", "other": "admin"}
    _, secret = create_invitation(other, "viewer", "", "ann")
    assert join_project(secret, bo).role == "admin"


@pytest.mark.parametrize("end", ["withdrawn", "too old"])
def test_an_ended_invitation_lets_nobody_in(project: Project, end: str) -> None:
    admin = member_client(project)
    path = invited(admin)
    if end == "withdrawn":
        admin.post(reverse("invitation-withdraw", args=[Invitation.objects.get().pk]))
    else:
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().post(path, {"name": "bo", "password": "long enough 1"}).status_code == 404
    assert not User.objects.filter(username="bo").exists()


@pytest.mark.parametrize("change", ["deactivated", "deleted", "renamed"])
def test_user_shut_out_cannot_return_by_own_invitation(project: Project, change: str) -> None:
    ann, eve = member_client(project, name="ann"), member_client(project, name="eve")
    own, path = invited(ann, note="Cy"), invited(eve, "admin")
    user = User.objects.get(username="eve")
    if change == "deleted":
        user.delete()
    else:
        user.is_active, user.username = change != "deactivated", "eva" if change == "renamed" else "eve"
        user.save()
    assert Client().post(path, {"name": "bo", "password": "long enough 1"}).status_code == 404
    assert Client().post(own, {"name": "cy", "password": "long enough 1"}).status_code == 302


@pytest.mark.parametrize("role", ["removed", "editor"])
def test_former_admin_cannot_return_by_own_invitation(project: Project, role: str) -> None:
    ann, eve = member_client(project, name="ann"), member_client(project, name="eve")
    own, path = invited(ann, note="Cy"), invited(eve, "admin")
    if role == "removed":
        ann.post(reverse("member-remove", args=["eve"]))
    else:
        ann.post(reverse("member-role", args=["eve"]), {"role": role})
    assert Client().post(path, {"name": "bo", "password": "long enough 1"}).status_code == 404
    assert AuditEntry.objects.filter(kind="invitation.withdrawn").count() == 1
    assert Client().post(own, {"name": "cy", "password": "long enough 1"}).status_code == 302


def test_roles_are_changed_and_members_removed(project: Project) -> None:
    admin = member_client(project, name="ann")
    bo = member_client(project, "viewer", "bo")
    admin.post(reverse("member-role", args=["bo"]), {"role": "editor"})
    assert Membership.objects.get(user__username="bo").role == "editor"
    refused = admin.post(reverse("member-role", args=["bo"]), {"role": "king"}, follow=True).text
    assert text_at(refused, ".notice--said.status-error").startswith("There is no role 'king'.")
    admin.post(reverse("member-remove", args=["bo"]))
    assert bo.get(reverse("sessions")).status_code == 403
    assert admin.post(reverse("member-remove", args=["bo"])).status_code == 404


def test_the_last_admin_stays(project: Project) -> None:
    Membership.objects.all().delete()
    admin = member_client(project, name="ann")
    for name, form in (("member-role", {"role": "viewer"}), ("member-remove", {})):
        page = admin.post(reverse(name, args=["ann"]), form, follow=True).text
        assert notice(page).startswith("A project needs an admin")
    assert Membership.objects.get(project=project).role == "admin"
    member_client(project, "admin", "bo")
    admin.post(reverse("member-remove", args=["ann"]))
    assert admin.get(reverse("members")).status_code == 403


def test_removing_a_member_names_the_keys_that_they_made(project: Project) -> None:
    admin, eve = member_client(project, name="ann"), member_client(project, name="eve")
    for client, name in ((admin, "own"), (eve, "laptop"), (eve, "robot")):
        client.post(reverse("api-keys"), {"name": name, "role": "admin"})
    eve.post(reverse("api-key-revoke", args=[ApiKey.objects.get(name="robot").pk]))
    page = admin.post(reverse("member-remove", args=["eve"]), follow=True).text
    assert notice(page) == (
        "eve is no member any more. Keys that eve made still work, until you revoke them: “laptop”."
    )


def test_invitations_that_wait_are_limited(project: Project, settings: Settings) -> None:
    settings.MRPVM_MAX_INVITATIONS = 1
    _, secret = create_invitation(project, "viewer", "", "ann")
    with pytest.raises(Conflict):
        create_invitation(project, "viewer", "", "ann")
    join_as_new_user(secret, "bo", "long enough 1")
    create_invitation(project, "viewer", "", "ann")


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_members_are_the_admins_affair(project: Project, role: str) -> None:
    client = member_client(project, role, "bo")
    assert client.get(reverse("members")).status_code == 403
    assert client.post(reverse("members"), {"role": "admin"}).status_code == 403
    assert client.post(reverse("member-role", args=["bo"]), {"role": "admin"}).status_code == 403
    assert client.post(reverse("member-remove", args=["bo"])).status_code == 403
    assert not Invitation.objects.exists()


def test_other_projects_people_are_out_of_reach(project: Project) -> None:
    other = Project.objects.create(name="Other", slug="other")
    member_client(other, "viewer", "bo")
    invitation, _ = create_invitation(other, "viewer", "", "cy")
    admin = member_client(project)
    assert admin.post(reverse("member-role", args=["bo"]), {"role": "admin"}).status_code == 404
    assert admin.post(reverse("member-remove", args=["bo"])).status_code == 404
    assert admin.post(reverse("invitation-withdraw", args=[invitation.pk])).status_code == 404
    assert Invitation.objects.filter(pk=invitation.pk).exists()


def test_hostile_notes_and_names_are_escaped(project: Project) -> None:
    admin = member_client(project)
    Project.objects.update(name=HOSTILE)
    path = invited(admin, note=HOSTILE[:120])
    for html in (admin.get(reverse("members")).text, Client().get(path).text):
        check_html(html)
        assert "<script>alert(1)" not in html
