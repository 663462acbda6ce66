"""The live socket: access, and that every event arrives once and in order [UI, trap 5]."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import InMemoryChannelLayer, get_channel_layer
from channels.testing import WebsocketCommunicator
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import Settings

from sessions_app import events
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.session import create_session, delete_session, rename_session
from sessions_app.actions.settings.api_keys import create_key, revoke_key
from sessions_app.actions.settings.projects import ensure_default_project, remove_member
from sessions_app.actions.upkeep.events import EventCompaction
from sessions_app.models import KnowledgeBase, Membership, Project, Role, Session
from sessions_app.web import consumers
from sessions_app.web.consumers.refusals import TRY_AGAIN_LATER
from tests.actions.knowledge_scene import add_text
from tests.busy import wait_in_vain
from tests.layers.units import make_unit

PATIENCE_SECONDS = 30
"""How long a test waits for what must come; a busy machine needs some of it, a lost message all of it."""
RENAMES = 25
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


@pytest.fixture(autouse=True)
def _own_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_server_loop", None)


def world() -> tuple[Session, User, str]:
    """Return a session, a member of its project, and the member's login cookie."""
    project = ensure_default_project()
    user = User.objects.create_user("ada")
    Membership.objects.create(project=project, user=user, role=Role.VIEWER)
    return create_session(project), user, cookie_of(user)


def cookie_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"mrpvm_session={client.cookies['mrpvm_session'].value}"


def socket(session: Session, cookie: str | None, since: int | str = 0) -> WebsocketCommunicator:
    from mrpvm.asgi import application

    headers = [(b"origin", b"http://127.0.0.1"), (b"host", b"127.0.0.1")]
    if cookie:
        headers.append((b"cookie", cookie.encode()))
    return WebsocketCommunicator(application, f"/live/sessions/{session.session_id}?since={since}", headers)


def socket_of_key(session: Session, key: str, since: int = 0) -> WebsocketCommunicator:
    """Return a socket as a program opens it, without an origin."""
    from mrpvm.asgi import application

    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {key}".encode())]
    return WebsocketCommunicator(application, f"/live/sessions/{session.session_id}?since={since}", headers)


@sync_to_async
def rename(session: Session, count: int = 1) -> None:
    for place in range(count):
        rename_session(session, f"name {place}")


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/nothing", b"http://127.0.0.1"),
        ("/mcp", b"http://127.0.0.1"),
        ("/live/sessions/x", b"http://["),
        ("/live/sessions/x", b"http://127.0.0.1:99999"),
        ("/live/sessions/x", b"http://evil.example"),
    ],
)
async def test_a_socket_that_cannot_be_is_refused(path: str, origin: bytes) -> None:
    """It is refused before it is accepted, and without an error in the log, since anyone can try."""
    from mrpvm.asgi import application

    asking = WebsocketCommunicator(application, path, [(b"origin", origin), (b"host", b"127.0.0.1")])
    assert not (await asking.connect())[0]


async def received(communicator: WebsocketCommunicator, count: int) -> list[Any]:
    return [await communicator.receive_json_from(timeout=PATIENCE_SECONDS) for _ in range(count)]


async def closing_code(communicator: WebsocketCommunicator) -> int:
    while True:
        message = await communicator.receive_output(timeout=PATIENCE_SECONDS)
        if message["type"] == "websocket.close":
            return int(message["code"])


async def test_what_was_missed_comes_first_then_what_happens() -> None:
    session, _, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie)
    assert (await communicator.connect())[0]
    first = await received(communicator, 2)
    await rename(session, 3)
    numbers = [message["sequence"] for message in first + await received(communicator, 3)]
    assert numbers == [1, 2, 3, 4, 5]
    assert await communicator.receive_nothing()
    await communicator.disconnect()


async def test_a_key_follows_a_session_until_it_is_revoked(settings: Settings) -> None:
    settings.MRPVM_ACCESS_SECONDS = 0.05
    session, _, _ = await sync_to_async(world)()
    key, plain = await sync_to_async(create_key)(session.project, "events", Role.VIEWER)
    communicator = socket_of_key(session, plain, since=2)
    assert (await communicator.connect())[0]
    await rename(session, 2)
    assert [message["sequence"] for message in await received(communicator, 2)] == [3, 4]
    await sync_to_async(revoke_key)(key)
    assert await closing_code(communicator) == consumers.FORBIDDEN


async def test_a_chat_key_follows_no_session() -> None:
    session, _, _ = await sync_to_async(world)()
    key, plain = await sync_to_async(create_key)(session.project, "site", Role.CHAT)
    await Session.objects.filter(pk=session.pk).aupdate(started_with=key)
    communicator = socket_of_key(session, plain)
    await communicator.connect()
    assert await closing_code(communicator) == consumers.UNAUTHENTICATED


async def test_a_key_opens_no_session_of_another_project() -> None:
    session, _, _ = await sync_to_async(world)()
    other = await sync_to_async(Project.objects.create)(slug="other", name="Other")
    _, plain = await sync_to_async(create_key)(other, "events", Role.ADMIN)
    communicator = socket_of_key(session, plain)
    await communicator.connect()
    assert await closing_code(communicator) == consumers.FORBIDDEN


async def test_an_unknown_key_opens_nothing_even_beside_a_login() -> None:
    session, _, cookie = await sync_to_async(world)()
    communicator = socket_of_key(session, "mrp_unknown")
    communicator.scope["headers"].append((b"cookie", cookie.encode()))
    await communicator.connect()
    assert await closing_code(communicator) == consumers.UNAUTHENTICATED


async def test_a_page_that_comes_back_gets_only_what_it_has_not_seen() -> None:
    session, _, cookie = await sync_to_async(world)()
    await rename(session, 4)
    communicator = socket(session, cookie, since=4)
    await communicator.connect()
    assert [message["sequence"] for message in await received(communicator, 2)] == [5, 6]
    assert await communicator.receive_nothing()
    await communicator.disconnect()


async def test_an_event_out_of_turn_sends_the_socket_back_to_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a lost message, the next one makes the socket read the rows, and no event is sent twice."""
    session, _, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie, since=2)
    await communicator.connect()
    send = events.send
    monkeypatch.setattr(events, "send", lambda *given: None)
    await rename(session, 2)
    monkeypatch.setattr(events, "send", send)
    await rename(session)
    assert [message["sequence"] for message in await received(communicator, 3)] == [3, 4, 5]
    assert await communicator.receive_nothing()
    await communicator.disconnect()


async def test_the_heartbeat_brings_a_lost_last_message(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.MRPVM_HEARTBEAT_MS = 50
    session, _, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie, since=2)
    await communicator.connect()
    monkeypatch.setattr(events, "send", lambda *given: None)
    await rename(session)
    assert [message["sequence"] for message in await received(communicator, 1)] == [3]
    await communicator.disconnect()


async def test_a_page_that_was_away_too_long_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session, _, cookie = await sync_to_async(world)()
    await rename(session, 4)
    await sync_to_async(EventCompaction(kept_whole=timedelta(0)))()
    communicator = socket(session, cookie, since=2)
    await communicator.connect()
    told = await received(communicator, 1)
    assert [(message["sequence"], message["kind"]) for message in told] == [(6, "events.compacted")]
    await rename(session)
    assert [message["sequence"] for message in await received(communicator, 1)] == [7]
    await communicator.disconnect()


@sync_to_async
def revise(base: KnowledgeBase, name: str) -> None:
    add_text(base, name, name, [make_unit(name, f"The {name} stands.")])


@sync_to_async
def base_of(session: Session) -> KnowledgeBase:
    return Session.objects.get(pk=session.pk).mounted_kb


def revised(base: KnowledgeBase, revision: int) -> dict[str, Any]:
    payload = {"kb_id": base.kb_id, "revision": revision}
    return {"sequence": None, "kind": "kb.revised", "payload": payload, "created_at": None}


async def test_a_newer_revision_of_the_mounted_base_is_told_at_once(settings: Settings) -> None:
    """The heartbeat is too late to matter. After a mount, only revisions of the new base are reported."""
    settings.MRPVM_HEARTBEAT_MS = 3_600_000
    session, _, cookie = await sync_to_async(world)()
    first, other = await base_of(session), await sync_to_async(create_base)(session.project, "Other")
    communicator = socket(session, cookie, since="2&revision=1")
    await communicator.connect()
    await revise(first, "pump")
    assert await received(communicator, 1) == [revised(first, 2)]
    await sync_to_async(mount_base)(session, other, reason="load-api")
    assert [message["kind"] for message in await received(communicator, 2)] == ["kb.mounted", "kb.revised"]
    await revise(first, "valve")
    assert await communicator.receive_nothing()
    await revise(other, "lift")
    assert await received(communicator, 1) == [revised(other, 2)]
    await communicator.disconnect()


async def test_a_revision_missed_by_the_socket_is_sent(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    session, _, cookie = await sync_to_async(world)()
    base = await base_of(session)
    await revise(base, "pump")
    communicator = socket(session, cookie, since="2&revision=1")
    await communicator.connect()
    assert await received(communicator, 1) == [revised(base, 2)]
    await communicator.disconnect()
    settings.MRPVM_HEARTBEAT_MS = 50
    monkeypatch.setattr(events, "_send", lambda *given: None)
    communicator = socket(session, cookie, since="2&revision=2")
    await communicator.connect()
    await revise(base, "valve")
    assert await received(communicator, 1) == [revised(base, 3)]
    assert await communicator.receive_nothing()
    await communicator.disconnect()


@pytest.mark.parametrize("failing", ["new_channel", "group_add", "receive"])
async def test_a_layer_that_fails_for_a_while_is_joined_again(
    failing: str, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """The heartbeat is too late to matter: earlier events are read after joining, later ones arrive as messages."""
    settings.MRPVM_HEARTBEAT_MS = 3_600_000
    settings.MRPVM_REJOIN_PAUSE_SECONDS = 0.01
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    sound, failures, is_back = getattr(InMemoryChannelLayer, failing), iter(range(3)), asyncio.Event()

    async def fails_at_first(layer: InMemoryChannelLayer, *given: Any) -> Any:
        if next(failures, None) is not None:
            raise ConnectionError("the layer is away")
        is_back.set()
        return await sound(layer, *given)

    monkeypatch.setattr(InMemoryChannelLayer, failing, fails_at_first)
    session, _, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie, since=2)
    assert (await communicator.connect())[0]
    await rename(session)
    assert [message["sequence"] for message in await received(communicator, 1)] == [3]
    await asyncio.wait_for(is_back.wait(), PATIENCE_SECONDS)
    await rename(session)
    assert [message["sequence"] for message in await received(communicator, 1)] == [4]
    await communicator.disconnect()


async def test_deliveries_to_a_layer_that_hangs_end_and_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """A delivery that fails is logged; the events are in the rows."""
    settings.MRPVM_MAX_DELIVERIES = 3
    settings.MRPVM_DELIVERY_SECONDS = 0.2
    layer = HangingLayer()
    monkeypatch.setattr(events, "get_channel_layer", lambda: layer)
    events.use_server_loop(asyncio.get_running_loop())
    for _ in range(5):
        events.announce_progress(1, "request", 1)
    while layer.sent < 3:
        await asyncio.sleep(0)
    begun = set(events._deliveries)
    assert len(begun) == layer.sent == 3
    done, _ = await asyncio.wait(begun, timeout=PATIENCE_SECONDS)
    assert done == begun


class HangingLayer:
    """A channel layer that accepts messages and never returns."""

    sent = 0

    async def group_send(self, group: str, message: Any) -> None:
        """Count the call and never return."""
        self.sent += 1
        await asyncio.Event().wait()


async def test_many_events_at_once_arrive_in_order_and_once() -> None:
    session, _, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie, since=2)
    await communicator.connect()
    await asyncio.gather(*(rename(session) for _ in range(20)))
    assert [message["sequence"] for message in await received(communicator, 20)] == list(range(3, 23))
    await communicator.disconnect()


async def test_a_late_socket_gets_each_event_once(settings: Settings) -> None:
    """No heartbeat runs: each event arrives by its message, or by the rows that a message makes the socket read."""
    settings.MRPVM_HEARTBEAT_MS = 3_600_000
    session, _, cookie = await sync_to_async(world)()
    events.use_server_loop(asyncio.get_running_loop())
    last = 2 + RENAMES
    writing = asyncio.get_running_loop().run_in_executor(None, rename_on_a_thread_of_its_own, session)
    sockets = []
    while not writing.done() and len(sockets) < 8:
        sockets.append(socket(session, cookie))
        await sockets[-1].connect(timeout=PATIENCE_SECONDS)
        await asyncio.sleep(0.005)
    await writing
    for communicator in sockets:
        seen = [(await communicator.receive_json_from(timeout=PATIENCE_SECONDS))["sequence"] for _ in range(last)]
        assert seen == list(range(1, last + 1))
        assert communicator.output_queue.empty()
        await communicator.disconnect()


def rename_on_a_thread_of_its_own(session: Session) -> None:
    try:
        for place in range(RENAMES):
            rename_session(session, f"name {place}")
    finally:
        connection.close()


async def test_where_no_page_listens_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    session, _, _ = await sync_to_async(world)()
    sent: list[str] = []

    async def group_send(group: str, message: Any) -> None:
        sent.append(message["message"]["kind"])

    monkeypatch.setattr(get_channel_layer(), "group_send", group_send)
    await rename(session)
    if isinstance(get_channel_layer(), InMemoryChannelLayer):
        assert sent == []
    else:
        assert sent == ["session.renamed"], "a page of another process may listen"


async def test_without_a_login_the_socket_closes() -> None:
    session, _, _ = await sync_to_async(world)()
    communicator = socket(session, None)
    await communicator.connect()
    assert await closing_code(communicator) == consumers.UNAUTHENTICATED


async def test_socket_is_to_come_again_when_its_reader_is_not_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    session, _, cookie = await sync_to_async(world)()
    monkeypatch.setattr(ModelBackend, "get_user", wait_in_vain)
    communicator = socket(session, cookie)
    assert await communicator.connect(timeout=PATIENCE_SECONDS) == (False, TRY_AGAIN_LATER)


async def test_socket_needs_the_second_factor_where_it_is_required(settings: Settings) -> None:
    def with_password() -> tuple[Session, str]:
        session, user, _ = world()
        user.set_password("correct horse")
        user.save()
        return session, cookie_of(user)

    session, cookie = await sync_to_async(with_password)()
    settings.MRPVM_SECOND_FACTOR = "required"
    communicator = socket(session, cookie)
    await communicator.connect()
    assert await closing_code(communicator) == consumers.UNAUTHENTICATED


async def test_another_projects_session_closes_the_socket() -> None:
    """The id of a session gives no access to it (trap 5)."""

    def stranger() -> tuple[Session, str]:
        session, _, _ = world()
        user = User.objects.create_user("eve")
        other = Project.objects.create(name="Other", slug="other")
        Membership.objects.create(project=other, user=user, role=Role.ADMIN)
        return session, cookie_of(user)

    session, cookie = await sync_to_async(stranger)()
    communicator = socket(session, cookie)
    await communicator.connect()
    assert await closing_code(communicator) == consumers.FORBIDDEN


@pytest.mark.parametrize("loss", ["membership", "logout", "password", "deactivated", "deleted"])
async def test_permission_is_checked_again_for_every_event(loss: str) -> None:
    session, user, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie, since=2)
    await communicator.connect()

    def lose() -> None:
        from django.contrib.sessions.models import Session as Login

        if loss == "membership":
            Membership.objects.filter(user=user).delete()
        elif loss == "logout":
            Login.objects.all().delete()
        elif loss == "password":
            user.set_password("another one 2")
            user.save()
        elif loss == "deactivated":
            User.objects.filter(pk=user.pk).update(is_active=False)
        else:
            delete_session(session)

    await sync_to_async(lose)()
    if loss != "deleted":
        await rename(session)
    expected = consumers.DELETED if loss == "deleted" else consumers.FORBIDDEN
    assert await closing_code(communicator) == expected


async def test_readers_sharing_a_read_lose_rights_separately() -> None:
    session, user, cookie = await sync_to_async(world)()

    def another() -> str:
        other = User.objects.create_user("bob")
        Membership.objects.create(project=session.project, user=other, role=Role.VIEWER)
        return cookie_of(other)

    stays, goes = socket(session, await sync_to_async(another)(), since=2), socket(session, cookie, since=2)
    for communicator in (stays, goes):
        await communicator.connect()
    await rename(session)
    for communicator in (stays, goes):
        assert [message["sequence"] for message in await received(communicator, 1)] == [3]
    await sync_to_async(Membership.objects.filter(user=user).delete)()
    await rename(session)
    assert await goes.receive_output(timeout=PATIENCE_SECONDS) == {
        "type": "websocket.close", "code": consumers.FORBIDDEN,
    }  # fmt: skip
    assert [message["sequence"] for message in await received(stays, 1)] == [4]
    await stays.disconnect()


@pytest.mark.rule("DECISION-42")
async def test_a_name_used_twice_is_followed_in_the_shown_project() -> None:
    """A client's own session id is valid only in its project."""
    session, _, cookie = await sync_to_async(two_projects)()
    communicator = socket(session, cookie)
    assert (await communicator.connect())[0]
    first, _ = await received(communicator, 2)
    assert first["payload"] == {}
    await rename(session)
    assert (await received(communicator, 1))[0]["kind"] == "session.renamed"
    await communicator.disconnect()


def two_projects() -> tuple[Session, User, str]:
    """Return a session of the default project that is newer than another project's session with the same id."""
    _, user, cookie = world()
    other = Project.objects.create(name="Other", slug="other")
    Membership.objects.create(project=other, user=user, role=Role.VIEWER)
    create_session(other, client_name="mine")
    return create_session(ensure_default_project(), client_name="mine"), user, cookie


@sync_to_async
def leave(user: User) -> None:
    remove_member(Membership.objects.get(user=user))


async def test_a_removed_member_s_page_closes_without_any_event(settings: Settings) -> None:
    settings.MRPVM_ACCESS_SECONDS = 0.05
    settings.MRPVM_HEARTBEAT_MS = 3_600_000
    session, user, cookie = await sync_to_async(world)()
    communicator = socket(session, cookie, since=2)
    await communicator.connect()
    assert await communicator.receive_nothing(timeout=0.3)
    await leave(user)
    assert await closing_code(communicator) == 4403
