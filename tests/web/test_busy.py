"""A page whose request timed out waiting for the database shows that, on every kind of server."""

from functools import partial

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.backends import ModelBackend
from django.test import AsyncClient, Client
from django.urls import reverse

from sessions_app.models import Project
from sessions_app.web.sessions import list_views as sessions
from tests.busy import wait_in_vain
from tests.web.page_scene import member_client, text_at


def _defect(*args: object, **kwargs: object) -> None:
    raise RuntimeError("/secret/path")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_page_says_that_the_database_is_busy(
    project: Project, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    cookies = member_client(project).cookies
    client = AsyncClient(raise_request_exception=False) if is_async else Client(raise_request_exception=False)
    client.cookies = cookies
    get = partial(async_to_sync(client.get) if is_async else client.get, reverse("sessions"))
    monkeypatch.setattr(sessions, "page", wait_in_vain)
    answer = get()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "The database was busy" in text_at(answer.text, "h1 + p")
    assert "/var/lib" not in answer.text
    monkeypatch.setattr(sessions, "page", _defect)
    answer = get()
    assert answer.status_code == 500
    assert "secret" not in answer.text


def test_page_says_so_when_its_reader_is_not_readable_either(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error page needs no data from the database."""
    browser = member_client(project)
    browser.raise_request_exception = False
    monkeypatch.setattr(ModelBackend, "get_user", wait_in_vain)
    answer = browser.get(reverse("sessions"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "The database was busy" in text_at(answer.text, "h1 + p")
