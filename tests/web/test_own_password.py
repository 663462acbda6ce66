"""The page on which people set or change their own password."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from sessions_app.actions.settings.projects import create_login_link
from sessions_app.models import AuditEntry, AuditKind, Project
from tests.web.page_scene import check_html, member_client, parsed, text_at

PAGE, PRESENT, OTHER = "/password", "correct horse", "battery staple"


@pytest.fixture
def ann(project: Project) -> User:
    """Return a viewer with a password."""
    member_client(project, "viewer", name="ann")
    user = User.objects.get(username="ann")
    user.set_password(PRESENT)
    user.save()
    return user


def logged_in(password: str) -> Client | None:
    """Return a client after a login by this password; None if it was refused."""
    client = Client()
    return client if client.post("/login", {"username": "ann", "password": password}).status_code == 302 else None


def by_link(user: User) -> Client:
    client = Client()
    client.get(f"/login/link/{create_login_link(user)}")
    return client


def test_a_user_changes_the_password(ann: User) -> None:
    here, elsewhere = logged_in(PRESENT), logged_in(PRESENT)
    assert here is not None
    assert elsewhere is not None
    check_html(here.get(PAGE).text)
    assert parsed(here.get("/").text).css_first(f"a[href='{PAGE}']") is not None
    answer = here.post(PAGE, {"present": PRESENT, "password": OTHER}, follow=True)
    assert "Your password is changed." in answer.text
    assert elsewhere.get(PAGE).status_code == 302
    assert logged_in(PRESENT) is None
    assert logged_in(OTHER) is not None
    entry = AuditEntry.objects.get(kind=AuditKind.USER_CHANGED, actor="ann")
    assert entry.facts == {"password": True}


@pytest.mark.parametrize(
    ("present", "password", "said"),
    [
        ("wrong horse", OTHER, "That is not your present password."),
        ("", OTHER, "That is not your present password."),
        (PRESENT, "short", "This password is too short."),
        (PRESENT, "12345678", "This password is too common."),
    ],
)
def test_a_refused_change_says_why(ann: User, present: str, password: str, said: str) -> None:
    here = logged_in(PRESENT)
    assert here is not None
    answer = here.post(PAGE, {"present": present, "password": password})
    assert answer.status_code == 400
    check_html(answer.text)
    assert said in text_at(answer.text, "#password-error span")
    assert logged_in(PRESENT) is not None


def test_who_has_none_sets_one(ann: User) -> None:
    ann.set_unusable_password()
    ann.save()
    here = by_link(ann)
    assert parsed(here.get(PAGE).text).css_first("#present-password") is None
    here.post(PAGE, {"password": OTHER})
    assert here.get(PAGE).status_code == 200
    assert logged_in(OTHER) is not None


def test_guesses_are_counted(ann: User, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 2
    here = by_link(ann)
    tried = [here.post(PAGE, {"present": "guess", "password": OTHER}).status_code for _ in range(3)]
    assert tried == [400, 400, 429]
    assert here.post(PAGE, {"present": PRESENT, "password": OTHER}).status_code == 429
