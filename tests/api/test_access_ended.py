"""A key that is revoked, or a member who is removed, while a stream is open."""

import json

import httpx
import pytest
from django.contrib.auth.models import User

from sessions_app.actions.settings.api_keys import create_key, revoke_key
from sessions_app.api.shell.authentication import Access
from sessions_app.models import Experiment, Membership, Project, Session
from tests.live import LiveServer


@pytest.mark.parametrize("taken", ["role", "user", "nothing"])
def test_access_lasts_as_long_as_the_membership(project: Project, taken: str) -> None:
    user = User.objects.create_user("ann")
    membership = Membership.objects.create(project=project, user=user)
    access = Access(project=project, role="editor", caller="user-1", actor=user)
    assert access.lasts()
    if taken == "role":
        membership.delete()
    elif taken == "user":
        User.objects.update(is_active=False)
    assert access.lasts() == (taken == "nothing")


def test_a_revoked_key_loses_its_open_stream(live_project: Project, live_asgi: LiveServer) -> None:
    key, plain = create_key(live_project, "laptop")
    headers = {"Authorization": f"Bearer {plain}"}
    with httpx.Client(base_url=live_asgi.url, headers=headers, timeout=30) as client:
        session_id = client.post("/api/sessions", json={}).json()["session_id"]
        experiment = Experiment.objects.create(
            project=live_project, session=Session.objects.get(session_id=session_id), kind="trials", status="running"
        )
        with client.stream("GET", f"/api/experiments/{experiment.experiment_id}?stream=true") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: progress"
            revoke_key(key)
            rest = list(lines)
    assert rest[-3] == "event: error"
    assert json.loads(rest[-2].removeprefix("data: "))["error"]["code"] == "UNAUTHENTICATED"
