"""Access to every page, fragment, form and socket for each kind of client."""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as DjangoSession
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from mrpvm.urls import urlpatterns as doors
from sessions_app.experiments.running.pool import pool
from sessions_app.mcp.endpoint import PATH as MCP_PATH
from sessions_app.models import KnowledgeBase, Membership, Project, Session
from sessions_app.web.routing import websocket_urlpatterns
from sessions_app.web.urls import urlpatterns
from tests.web.access_scene import Scene, add_scene
from tests.web.access_table import LIVE, PAGES, PUBLIC
from tests.web.page_scene import check_html, member_client, text_at

REFUSED = {302, 403, 404, 405}
ROLES = ("viewer", "editor", "admin")


@dataclass(frozen=True)
class Call:
    """A method at an address; `needed` is the least role for it."""

    name: str
    method: str
    path: str
    needed: str


def calls(scene: Scene) -> Iterator[Call]:
    for pattern in urlpatterns:
        if pattern.name in PUBLIC:
            continue
        needs, path = PAGES[str(pattern.name)], scene.address(pattern)
        if needs.reads:
            yield Call(str(pattern.name), "get", path, needs.reads)
        if needs.writes:
            yield Call(str(pattern.name), "post", path, needs.writes)


def ask(client: Client, call: Call, **form: str) -> Any:
    """Return the answer to a call and roll its writes back, so that the next call finds the same rows."""
    with transaction.atomic():
        if call.name in DELETED_BEFORE:
            DELETED_BEFORE[call.name].objects.update(deleted_at=timezone.now())
        answer = client.post(call.path, form) if call.method == "post" else client.get(call.path)
        transaction.set_rollback(True)
    return answer


DELETED_BEFORE: dict[str, type[Session] | type[KnowledgeBase]] = {
    "session-restore": Session,
    "knowledge-undelete": KnowledgeBase,
}
"""What brings a row back, and what must be deleted for it."""


@pytest.fixture
def scene(project: Project, monkeypatch: pytest.MonkeyPatch) -> Scene:
    # Background work that a call starts is not run, since its rows are rolled back.
    ended: Future[None] = Future()
    ended.set_result(None)
    monkeypatch.setattr(pool, "start", lambda run, *args, **kwargs: ended)
    return add_scene(project)


def test_every_address_has_an_entry() -> None:
    assert {str(pattern.name) for pattern in urlpatterns} == {*PAGES, *PUBLIC}
    assert {str(pattern.pattern) for pattern in websocket_urlpatterns} == LIVE
    # Probes, the API, its OpenAI dialect and the admin have their own tables.
    assert {str(door.pattern) for door in doors} == {"health", "ready", "metrics", "api/", "v1/", "admin/", ""}
    assert MCP_PATH == "/mcp"


@pytest.mark.rule("DECISION-8")
def test_nothing_opens_without_a_login_that_lasts(scene: Scene) -> None:
    expired, gone = member_client(scene.project, name="expired"), member_client(scene.project, name="gone")
    DjangoSession.objects.update(expire_date=timezone.now())
    gone = member_client(scene.project, name="disabled")
    User.objects.filter(username="disabled").update(is_active=False)
    for client in (Client(), expired, gone):
        for call in calls(scene):
            answer = ask(client, call)
            assert answer.status_code == 302, call
            assert answer["Location"].startswith(reverse("login")), call


def test_whoever_is_in_no_project_gets_nothing(scene: Scene) -> None:
    removed, superuser = member_client(scene.project, name="removed"), Client()
    Membership.objects.filter(user__username="removed").delete()
    superuser.force_login(User.objects.create_superuser("root"))
    for client in (removed, superuser):
        for call in calls(scene):
            answer = ask(client, call)
            assert answer.status_code == 403, call
            assert text_at(answer.text, "h1") == "You are not in a project yet", call


@pytest.mark.rule("DECISION-8")
def test_an_admin_of_another_project_finds_nothing(scene: Scene) -> None:
    stranger = member_client(Project.objects.create(name="Other", slug="other"), name="stranger")
    for call in calls(scene):
        answer = ask(stranger, call)
        if scene.is_of_a_row(call.path):
            assert answer.status_code == 404, call
        elif call.method == "get":
            assert not scene.is_shown(answer.text), call


@pytest.mark.rule("DECISION-25")
@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_what_the_table_says(scene: Scene, role: str) -> None:
    client = member_client(scene.project, role, "asking")
    for call in calls(scene):
        answer = ask(client, call, id=scene.ids["unit_id"], turn=scene.ids["request_id"])
        if ROLES.index(role) < ROLES.index(call.needed):
            assert answer.status_code == 403, call
        else:
            assert is_let_in(answer), (call, answer.status_code)
            assert "no-store" in answer["Cache-Control"], call
            if call.method == "get" and role == "viewer" and "text/html" in answer.get("Content-Type", ""):
                check_html(answer.text)


def is_let_in(answer: HttpResponse) -> bool:
    """Return whether the call reached the view's work, whatever its answer to an empty form."""
    is_led_on = answer.status_code == 302 and not answer["Location"].startswith(reverse("login"))
    return is_led_on or (answer.status_code not in REFUSED and answer.status_code < 500)


def test_an_address_has_no_other_use_than_its_entry_says(scene: Scene) -> None:
    client = member_client(scene.project)
    for pattern in urlpatterns:
        if pattern.name in PUBLIC or not PAGES[str(pattern.name)].reads:
            continue
        if PAGES[str(pattern.name)].writes is None:
            call = Call(str(pattern.name), "post", scene.address(pattern), "viewer")
            assert ask(client, call).status_code in (200, 204, 400, 405), call


def test_what_was_deleted_is_not_there(scene: Scene) -> None:
    client, now = member_client(scene.project), timezone.now()
    Session.objects.update(deleted_at=now)
    KnowledgeBase.objects.filter(kb_id=scene.base_id).update(deleted_at=now)
    for call in calls(scene):
        if call.path.startswith((f"/sessions/{scene.session_id}", f"/knowledge/{scene.base_id}")):
            is_brought_back = call.name in ("session-restore", "knowledge-undelete")
            answer = ask(client, call)
            assert answer.status_code == (302 if is_brought_back else 404), call


def test_every_form_needs_the_token_of_its_page(scene: Scene) -> None:
    member_client(scene.project, name="strict")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="strict"))
    for call in calls(scene):
        if call.method == "post":
            assert ask(strict, call).status_code == 403, call


@pytest.mark.parametrize("written", ["a" * 10_000, "9" * 30, "%\\\0\u202e(*:"])
def test_no_page_fails_on_what_stands_in_its_address(scene: Scene, written: str) -> None:
    client = member_client(scene.project)
    for call in calls(scene):
        if call.method == "get":
            assert client.get(call.path, dict.fromkeys(PARAMETERS, written)).status_code < 500, call


def test_no_form_fails_on_a_character_that_no_database_keeps(scene: Scene) -> None:
    client = member_client(scene.project, "admin", name="chief")
    for call in calls(scene):
        if call.method == "post":
            assert ask(client, call, **dict.fromkeys(FIELDS, "a\0b")).status_code < 500, call


PARAMETERS = (
    "after", "back", "before", "by", "cursor", "experiment", "from", "id", "kb_id", "kind", "older", "open", "part",
    "q", "rows", "run", "shut", "side", "turn", "unit", "with", "written",
)  # fmt: skip
FIELDS = (
    *PARAMETERS, "act", "base", "code", "confirm", "content", "include_conversation_units", "message", "name",
    "new_suite", "note", "reason", "revision", "role", "source_id", "suite", "text", "title", "value", "which",
)  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_socket_is_for_readers_of_its_session_alone() -> None:
    from asgiref.sync import sync_to_async

    cookies, session_id = await sync_to_async(people_at_a_socket)()
    assert {name: await first_answer(session_id, cookie) for name, cookie in cookies.items()} == {
        "nobody": 4401, "expired": 4401, "disabled": 4401, "removed": 4403, "root": 4403, "stranger": 4403,
        "viewer": None,
    }  # fmt: skip


def people_at_a_socket() -> tuple[dict[str, str], str]:
    """Return the cookies of each kind of client, and a session."""
    project = Project.objects.create(name="Default", slug="default", is_default=True)
    session_id = add_scene(project).session_id
    other = Project.objects.create(name="Other", slug="other")
    names = ("expired", "disabled", "removed", "viewer")
    clients = {name: member_client(project, "viewer", name) for name in names}
    clients |= {"stranger": member_client(other, "admin", "stranger"), "root": Client()}
    clients["root"].force_login(User.objects.create_superuser("root"))
    cookies = {name: client.cookies["mrpvm_session"].value for name, client in clients.items()}
    DjangoSession.objects.filter(session_key=cookies["expired"]).update(expire_date=timezone.now())
    User.objects.filter(username="disabled").update(is_active=False)
    Membership.objects.filter(user__username="removed").delete()
    return {"nobody": "", **cookies}, session_id


async def first_answer(session_id: str, cookie: str) -> int | None:
    """Return the code with which a socket closes at once, or None if it stays open."""
    from mrpvm.asgi import application

    headers = [
        (b"origin", b"http://127.0.0.1"),
        (b"host", b"127.0.0.1"),
        (b"cookie", f"mrpvm_session={cookie}".encode()),
    ]
    socket = WebsocketCommunicator(application, f"/live/sessions/{session_id}?since=999999", headers)
    await socket.connect(timeout=30)
    is_silent = await socket.receive_nothing(timeout=0.5)
    code = None if is_silent else (await socket.receive_output())["code"]
    await socket.disconnect()
    return code
