"""A revoked key, an ended login, a removed member, an outage or the end of the server, while a stream is open."""

import json
import time
from unittest.mock import Mock

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from mrpvm.errors import StorageUnavailable
from sessions_app import shutdown
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.api_keys import create_key, revoke_key
from sessions_app.api.shell.errors import access_ended
from sessions_app.api.turns.live_answer import LiveAnswer
from sessions_app.api.turns.sse import Feed
from sessions_app.models import Experiment, Membership, Project
from sessions_app.queries.experiments import experiments
from tests.live import LiveServer


@pytest.fixture(autouse=True)
def looked_often(settings: Settings) -> None:
    """Let streams look often whether their readers may still read."""
    settings.MRPVM_ACCESS_SECONDS = settings.MRPVM_STREAM_POLL_SECONDS = 0.02


@pytest.mark.parametrize("taken", ["role", "user", "login", "password", "nothing"])
def test_a_stream_of_a_browser_lasts_as_long_as_its_login(
    live_project: Project, live_asgi: LiveServer, taken: str
) -> None:
    user, browser = User.objects.create_user("ann", password="long enough 1"), Client()
    membership = Membership.objects.create(project=live_project, user=user, role="viewer")
    browser.force_login(user)
    cookies = {"mrpvm_session": browser.cookies["mrpvm_session"].value}
    address = f"{live_asgi.url}{running_experiment(live_project)}"
    with httpx.Client(cookies=cookies, timeout=30) as client, client.stream("GET", address) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        if taken == "role":
            membership.delete()
        elif taken == "user":
            User.objects.update(is_active=False)
        elif taken == "login":
            browser.logout()
        elif taken == "password":
            user.set_password("another one 2")
            user.save()
        else:
            Experiment.objects.update(status="finished")
        rest = list(lines)
    assert (error_of(rest) == "UNAUTHENTICATED") == (taken != "nothing")


def running_experiment(project: Project) -> str:
    """Return the address of the stream of an experiment that does not end."""
    experiment = Experiment.objects.create(
        project=project, session=create_session(project), kind="trials", status="running"
    )
    return f"/api/experiments/{experiment.experiment_id}?stream=true"


def error_of(lines: list[str]) -> str | None:
    """Return the code of the error that ended a stream."""
    last = json.loads(lines[-2].removeprefix("data: "))
    return last["error"]["code"] if lines[-3] == "event: error" else None


def test_a_revoked_key_loses_its_open_stream(live_project: Project, live_asgi: LiveServer) -> None:
    key, plain = create_key(live_project, "laptop")
    headers = {"Authorization": f"Bearer {plain}"}
    address = f"{live_asgi.url}{running_experiment(live_project)}"
    with httpx.stream("GET", address, headers=headers, timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        revoke_key(key)
        rest = list(lines)
    assert error_of(rest) == "UNAUTHENTICATED"


@pytest.mark.parametrize("code", ["UNAVAILABLE", "SERVER_SHUTTING_DOWN"])
def test_a_stream_that_cannot_read_on_says_why(
    live_project: Project, live_asgi: LiveServer, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    _, plain = create_key(live_project, "laptop")
    address = f"{live_asgi.url}{running_experiment(live_project)}"
    with httpx.stream("GET", address, headers={"Authorization": f"Bearer {plain}"}, timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        if code == "UNAVAILABLE":
            monkeypatch.setattr(experiments, "trials", Mock(side_effect=StorageUnavailable("The database is away.")))
        else:
            monkeypatch.setattr(shutdown, "_deadline", time.monotonic() + 60)
        rest = list(lines)
    assert error_of(rest) == code


def test_what_was_sent_to_a_reader_who_lost_access_is_not_void() -> None:
    """The turn goes on; only what was sent of a turn that failed is void."""
    answer = LiveAnswer(Feed(), ())
    answer.sent = "It is Rex"
    ended = access_ended("req-1", None)
    assert list(answer.failed(ended)) == [("error", ended)]
