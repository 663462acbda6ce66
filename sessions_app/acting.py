"""The actor and the address that this thread acts for: set once by the door, read where a change is recorded."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from django.http import HttpRequest, HttpResponseBase

from sessions_app.logs import logged_request_id
from sessions_app.models import ApiKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A user, the holder of a key, somebody who has not logged in, or the server and the commands of its operator.

    `address` is the caller's IP address, empty for the server; `request_id` that of the log's lines.
    """

    kind: Literal["user", "key", "stranger", "server"]
    name: str
    address: str = ""
    request_id: str = ""


_NAME_CHARS = 150
SERVER = Actor(kind="server", name="server")

_actor: ContextVar[Callable[[], Actor]] = ContextVar("actor")


def current_actor() -> Actor:
    """Return who acts now; the server where no door has said."""
    return _actor.get(lambda: SERVER)()


def asking_name() -> str:
    """Return the name of the user or key that asks for a turn, empty where the server itself does."""
    actor = current_actor()
    return actor.name[:_NAME_CHARS] if actor.kind in ("user", "key") else ""


@contextmanager
def acting_as(actor: Callable[[], Actor]) -> Iterator[None]:
    """Run the block for an actor, who is looked up when first asked for."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def act_with_key(key: ApiKey, address: str) -> None:
    """Name the holder of a key as who acts, until the block of `acting_as` around this ends."""
    _actor.set(lambda: holder_of(key, address))


def holder_of(key: ApiKey, address: str) -> Actor:
    """Return the holder of a key who calls from an address."""
    return Actor(kind="key", name=named(key), address=address, request_id=logged_request_id())


def named(key: ApiKey) -> str:
    """Return a key's name, and how what follows "mrp_" begins, which nothing takes for a key."""
    return f"{key.name} ({key.prefix.removeprefix('mrp_')}…)"


def user_at(user: Any, address: str) -> Actor:
    """Return a user who calls from an address; a stranger for one who has not logged in."""
    if not user.is_authenticated:
        return Actor(kind="stranger", name="", address=address, request_id=logged_request_id())
    return Actor(kind="user", name=user.get_username(), address=address, request_id=logged_request_id())


class ActingUser:
    """Middleware: the request's user acts in everything below it, or the holder of the key that it turns out to have.

    The user is read when a change is recorded: a request that changes nothing costs no query.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer."""
        address = request.META.get("REMOTE_ADDR") or ""
        with acting_as(lambda: user_at(request.user, address)):
            return self._get_response(request)
