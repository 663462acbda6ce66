"""Single sign-on by a header of a trusted proxy."""

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as used
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django import Settings
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from sessions_app.actions.settings.projects import add_member, ensure_default_project
from sessions_app.models import AuditEntry, AuditKind
from sessions_app.web.shell.proxy_login import PEER, KnownPeer, Scope

PROXY, STRANGER = "10.1.2.3", "192.0.2.7"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def signing_on(settings: Settings) -> None:
    """Switch single sign-on on, as the environment variables do."""
    settings.MRPVM_PROXY_USER_HEADER, settings.MRPVM_PROXY_ADDRESSES = "X-Forwarded-User", ["10.0.0.0/8"]
    place = used.MIDDLEWARE.index("sessions_app.acting.ActingUser")
    middleware = [*used.MIDDLEWARE]
    middleware.insert(place, "sessions_app.web.shell.proxy_login.ProxyLogin")
    settings.MIDDLEWARE = middleware
    settings.AUTHENTICATION_BACKENDS = [
        "django.contrib.auth.backends.ModelBackend",
        "sessions_app.web.shell.proxy_users.ProxyUserBackend",
    ]


async def status(client: AsyncClient, peer: str, **headers: str) -> int:
    """Return the status of the first page: 302 to the login, or 403 for a user without a project."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client.defaults[PEER] = peer  # a part of the scope
    return int((await client.get("/", headers=named)).status_code)


@pytest.mark.asyncio
async def test_a_trusted_proxy_says_who_somebody_is() -> None:
    client = AsyncClient()
    assert await status(client, f"::ffff:{PROXY}", X_Forwarded_User="ann") == 403
    assert [(user.username, user.has_usable_password()) async for user in User.objects.all()] == [("ann", False)]
    assert await AuditEntry.objects.filter(kind=AuditKind.LOGIN_SUCCEEDED, subject__contains="ann").acount() == 1
    assert await status(client, PROXY, X_Forwarded_User="ann") == 403
    assert await AuditEntry.objects.filter(kind=AuditKind.LOGIN_SUCCEEDED).acount() == 1
    assert await status(client, PROXY, X_Forwarded_User="bob") == 403
    assert await User.objects.filter(username="bob").aexists()


@pytest.mark.asyncio
async def test_whom_the_proxy_logs_in_sets_no_password_here() -> None:
    """It would still log in somebody whom the proxy no longer knows."""
    client = AsyncClient()
    await status(client, PROXY, X_Forwarded_User="ann")
    await sync_to_async(add_member)(await sync_to_async(ensure_default_project)(), "ann", "viewer")
    named = {"X-Forwarded-User": "ann"}
    assert 'name="password"' not in (await client.get("/password", headers=named)).content.decode()
    answer = await client.post("/password", {"password": "battery staple"}, headers=named)
    assert answer.status_code == 403
    assert not (await User.objects.aget(username="ann")).has_usable_password()


@pytest.mark.asyncio
async def test_a_name_is_utf_8_or_latin_1() -> None:
    for sent in ("Łukasz".encode().decode("latin-1"), "José"):
        assert await status(AsyncClient(), PROXY, X_Forwarded_User=sent) == 403
    assert {user.username async for user in User.objects.all()} == {"Łukasz", "José"}


@pytest.mark.asyncio
async def test_a_login_of_the_proxy_ends_without_its_header() -> None:
    client = AsyncClient()
    await status(client, PROXY, X_Forwarded_User="ann")
    assert await status(client, PROXY) == 302
    await status(client, PROXY, X_Forwarded_User="ann")
    assert await status(client, STRANGER, X_Forwarded_User="ann") == 302


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["root", "", "x" * 151, "a\tb", "root,ann"])
@pytest.mark.parametrize("peer", [STRANGER, f"::ffff:{STRANGER}", "::1", f"{PROXY}, {PROXY}", "", PROXY])
async def test_nobody_else_is_believed(peer: str, name: str) -> None:
    await sync_to_async(User.objects.create_superuser)("root")
    if peer == PROXY and name == "root":
        return
    assert await status(AsyncClient(), peer, X_Forwarded_User=name) == 302
    assert await User.objects.acount() == 1


@pytest.mark.asyncio
async def test_a_disabled_user_stays_outside() -> None:
    await sync_to_async(User.objects.create_user)("ann", is_active=False)
    assert await status(AsyncClient(), PROXY, X_Forwarded_User="ann") == 302


@pytest.mark.asyncio
async def test_a_superuser_logs_in_otherwise_unless_a_setting_says_so(settings: Settings) -> None:
    """A name at the proxy is often free to choose, and the first superuser's is known."""
    root = await sync_to_async(User.objects.create_superuser)("admin")
    assert await status(AsyncClient(), PROXY, X_Forwarded_User="admin") == 302
    failed = await AuditEntry.objects.aget(kind=AuditKind.LOGIN_FAILED)
    assert (failed.subject, failed.facts["reason"]) == ("user admin", "the proxy may not log in this user")
    client = AsyncClient()
    await client.aforce_login(root, "django.contrib.auth.backends.ModelBackend")
    assert await status(client, PROXY, X_Forwarded_User="admin") != 302
    settings.MRPVM_PROXY_SUPERUSERS = True
    client = AsyncClient()
    assert await status(client, PROXY, X_Forwarded_User="admin") != 302
    settings.MRPVM_PROXY_SUPERUSERS = False
    assert await status(client, PROXY, X_Forwarded_User="admin") == 302


@pytest.mark.asyncio
async def test_a_login_by_password_needs_no_proxy() -> None:
    client = AsyncClient()
    await client.aforce_login(
        await sync_to_async(User.objects.create_user)("ann"), "django.contrib.auth.backends.ModelBackend"
    )
    assert await status(client, STRANGER) == 403


@pytest.mark.asyncio
async def test_what_is_forwarded_hides_no_peer() -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: object, send: object) -> None:
        seen.append(scope)

    served = KnownPeer(ProxyHeadersMiddleware(app, PROXY))  # type: ignore[arg-type]
    for peer in (PROXY, STRANGER):
        scope = {"type": "http", "client": (peer, 5), "headers": [(b"x-forwarded-for", b"10.9.9.9")]}
        await served(scope, None, None)  # type: ignore[arg-type]
    assert [(scope["client"][0], scope[PEER]) for scope in seen] == [("10.9.9.9", PROXY), (STRANGER, STRANGER)]
