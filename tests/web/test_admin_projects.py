"""Projects, members and login links in the admin: created, changed and ended by actions."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.settings.projects import change_project, create_login_link, create_project, set_member
from sessions_app.models import KnowledgeBase, LoginLink, Membership, Project, Role
from tests.web.page_scene import link_of, parsed, text_at, texts_of


def address_of(model: str, page: str, *arguments: int) -> str:
    return reverse(f"admin:sessions_app_{model}_{page}", args=arguments)


def test_a_new_project_gets_its_default_base(operators: Client) -> None:
    page = operators.post(address_of("project", "add"), {"name": "New & old"}, follow=True)
    project = Project.objects.get()
    assert (project.name, project.slug, project.grounding) == ("New & old", "new-old", "")
    assert KnowledgeBase.objects.get(project=project).is_default
    assert text_at(page.text, ".messagelist") == "The project was created: New & old"
    assert LogEntry.objects.get().object_id == str(project.pk)


def test_who_adds_a_project_can_open_it(operators: Client) -> None:
    add = address_of("project", "add")
    assert parsed(operators.get(add).text).css('[name="joins"][checked]')
    operators.post(add, {"name": "Zoo", "joins": "on"})
    assert Membership.objects.get().role == "admin"
    projects = operators.get(reverse("projects")).text
    assert "Zoo" in texts_of(projects, "[aria-label='Your projects'] strong")
    assert link_of(projects, "Add a project in the admin") == add


def test_a_project_is_changed(operators: Client) -> None:
    project = create_project("Old")
    address = address_of("project", "edit", project.pk)
    assert parsed(operators.get(address).text).css('[value="Old"]')
    operators.post(address, {"name": " New ", "short_name": "new", "grounding": "strict"})
    project.refresh_from_db()
    assert (project.name, project.slug, project.grounding) == ("New", "new", "strict")
    assert LogEntry.objects.get().change_message == "Changed to “New” (new)."


def test_a_slug_that_is_taken_is_refused_and_nothing_is_made(operators: Client) -> None:
    create_project("First", "taken")
    page = operators.post(address_of("project", "add"), {"name": "Second", "short_name": "taken"})
    assert "Another project has the slug" in text_at(page.text, ".errorlist")
    assert Project.objects.count() == KnowledgeBase.objects.count() == 1
    assert not LogEntry.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "slug", "grounding"),
    [(" ", "a", ""), ("x" * 201, "a", ""), ("…", "", ""), ("a", "a b", ""), ("a", "a" * 81, ""), ("a", "a", "loose")],
)
def test_what_is_no_project_is_refused(name: str, slug: str, grounding: str) -> None:
    with pytest.raises(InvalidInput):
        create_project(name, slug, grounding)
    assert not Project.objects.exists()


@pytest.mark.django_db
def test_a_change_that_is_refused_changes_nothing() -> None:
    create_project("First", "first")
    project = create_project("Second", "second")
    with pytest.raises(Conflict):
        change_project(project, "Third", "first", "")
    assert Project.objects.get(pk=project.pk).name == "Second"


def test_a_member_gets_a_role_and_loses_it(operators: Client) -> None:
    project, user = create_project("Zoo"), User.objects.create_user("ada")
    entered = {"project": project.pk, "user": user.pk, "role": "viewer"}
    operators.post(address_of("membership", "add"), entered)
    operators.post(address_of("membership", "add"), entered | {"role": "editor"})
    membership = Membership.objects.get()
    assert membership.role == Role.EDITOR, "one role a member"
    operators.post(address_of("membership", "role", membership.pk), {"role": "admin"})
    membership.refresh_from_db()
    assert membership.role == Role.ADMIN
    operators.post(address_of("membership", "delete", membership.pk), {"post": "yes"})
    assert not Membership.objects.exists()
    assert LogEntry.objects.count() == 4


def test_several_members_are_removed_at_once(operators: Client) -> None:
    project = create_project("Zoo")
    members = [set_member(project, User.objects.create_user(name), "viewer").pk for name in ("ada", "bob", "eve")]
    chosen = {"action": "delete_selected", "_selected_action": members[:2], "post": "yes"}
    operators.post(address_of("membership", "changelist"), chosen)
    assert [member.pk for member in Membership.objects.all()] == members[2:]


@pytest.mark.django_db
def test_there_are_no_other_roles() -> None:
    with pytest.raises(InvalidInput, match="owner"):
        set_member(create_project("Zoo"), User.objects.create_user("ada"), "owner")


def test_an_ended_login_link_logs_nobody_in(operators: Client) -> None:
    secret = create_login_link(User.objects.create_user("ada"))
    operators.post(address_of("loginlink", "delete", LoginLink.objects.get().pk), {"post": "yes"})
    assert not LoginLink.objects.exists()
    visitor = Client()
    visitor.post(reverse("login-link", args=[secret]))
    assert "_auth_user_id" not in visitor.session
