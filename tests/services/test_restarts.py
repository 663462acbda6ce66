"""PostgreSQL and Redis restart under load: sessions work again within seconds, and no acknowledged turn is lost."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx2 as httpx
import psycopg
import pytest

from tests.server import ServerProcess
from tests.services.node import KEY, SHARED_SECRET, Node
from tests.services.own_servers import OwnPostgres, OwnRedis

pytestmark = pytest.mark.services

RECOVERY_SECONDS = 5
MOST_SECONDS = 20
"""How long a test waits for what must come sooner, so that it can say how much later it came."""
SESSIONS = 4
PAUSE_SECONDS = 0.05
HEADERS = {"Authorization": f"Bearer {KEY}"}
CLAIM_KEY = """SELECT classid::bigint << 32 | objid::bigint FROM pg_locks WHERE locktype = 'advisory'
    GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"""
ADVISORY_LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
MESSAGES = """SELECT session.session_id, content FROM sessions_app_message message
    JOIN sessions_app_session session ON session.id = message.session_id WHERE role = 'user'"""
RUNNING_TURNS = "SELECT count(*) FROM sessions_app_explainabilityturn WHERE status = 'running'"


@dataclass(frozen=True, slots=True)
class Told:
    """A message, the time at which it was sent, and the answer."""

    text: str
    said_at: float
    status: int
    code: str
    retry_after: str | None


@dataclass(slots=True)
class Talk:
    """A session, and a client that runs one turn after another in it."""

    node: Node
    session_id: str
    told: list[Told] = field(default_factory=list)

    def go_on(self, stop_asked: threading.Event) -> None:
        """Run turns until a stop is requested."""
        with httpx.Client(base_url=self.node.url, headers=HEADERS, timeout=60) as client:
            while not stop_asked.wait(PAUSE_SECONDS):
                number = len(self.told) + 1
                text = f"My box {number} is called Box{number}."
                said_at = time.monotonic()
                body = {"session_id": self.session_id, "messages": [{"role": "user", "content": text}]}
                answer = client.post("/api/chat/completions", json=body)
                code = "" if answer.status_code == 200 else answer.json()["error"]["code"]
                self.told.append(Told(text, said_at, answer.status_code, code, answer.headers.get("Retry-After")))

    def has_gone_on_since(self, moment: float) -> bool:
        """Return whether a turn that was sent after this time has succeeded."""
        return any(told.said_at >= moment and told.status == 200 for told in self.told)

    def acknowledged(self) -> list[str]:
        """Return the messages of successful turns."""
        return [told.text for told in self.told if told.status == 200]


@contextmanager
def load(nodes: list[Node], postgres: OwnPostgres) -> Iterator[list[Talk]]:
    """Run turns in several sessions at once during the block; assert that all acknowledged messages are then stored."""
    talks = [Talk(node := nodes[number % len(nodes)], node.new_session()) for number in range(SESSIONS)]
    stop_asked = threading.Event()
    threads = [threading.Thread(target=talk.go_on, args=(stop_asked,)) for talk in talks]
    for thread in threads:
        thread.start()
    try:
        within(MOST_SECONDS, lambda: all(talk.acknowledged() for talk in talks))
        yield talks
    finally:
        stop_asked.set()
        for thread in threads:
            thread.join()
    stored = {tuple(row) for row in postgres.execute(MESSAGES)}
    assert {(talk.session_id, text) for talk in talks for text in talk.acknowledged()} <= stored


def within(seconds: float, holds: Callable[[], bool]) -> float:
    """Return how long it took until the condition held; fail after the time limit."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < MOST_SECONDS, "it never did"
        time.sleep(0.02)
    took = time.monotonic() - began
    assert took < seconds, f"it took {took:.1f} s"
    return took


def all_go_on(talks: list[Talk]) -> None:
    """Assert that every session runs turns again in time, and that failed requests were told to retry."""
    moment = time.monotonic()
    within(RECOVERY_SECONDS, lambda: all(talk.has_gone_on_since(moment) for talk in talks))
    failed = [told for talk in talks for told in talk.told if told.status != 200]
    assert {(told.status, told.code, told.retry_after) for told in failed} <= {(503, "UNAVAILABLE", "1")}


def readiness(node: Node) -> dict[str, Any]:
    return dict(node.http.get("/api/ready").json())


def is_ready(nodes: list[Node]) -> bool:
    return all(readiness(node)["ready"] for node in nodes)


@pytest.fixture(scope="module")
def postgres() -> Iterator[OwnPostgres]:
    """Return a PostgreSQL cluster for these tests."""
    cluster = OwnPostgres()
    yield cluster
    cluster.remove()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    """Return a Redis server for these tests."""
    server = OwnRedis(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(scope="module", params=["one process", "two processes and Redis"])
def nodes(
    request: pytest.FixtureRequest, postgres: OwnPostgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Node]]:
    """Return the server's processes, on a separate database."""
    name = "alone" if request.param == "one process" else "beside"
    postgres.execute(f"CREATE DATABASE {name}", database="postgres")
    variables = {
        "DATABASE_URL": postgres.url_of(name),
        "MRPVM_API_KEY": KEY,
        "SECRET_KEY": SHARED_SECRET,
        "MRPVM_CHATS_PER_MINUTE": "0",
    }
    postgres.database = name
    with ExitStack() as stack:

        def started(*arguments: str) -> Node:
            data = tmp_path_factory.mktemp("data")
            return Node(stack.enter_context(ServerProcess(data, *arguments, **variables)))

        if name == "alone":
            yield [started()]
        else:
            variables["REDIS_URL"] = request.getfixturevalue("redis").url
            yield [started(), started("--no-bootstrap")]


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_sessions_go_on_when_postgresql_has_restarted(
    nodes: list[Node], postgres: OwnPostgres, mode: Literal["fast", "immediate"]
) -> None:
    within(MOST_SECONDS, lambda: is_ready(nodes))
    with load(nodes, postgres) as talks:
        postgres.stop(mode)
        within(RECOVERY_SECONDS, lambda: not any(readiness(node)["ready"] for node in nodes))
        postgres.start()
        all_go_on(talks)
        within(RECOVERY_SECONDS, lambda: is_ready(nodes))
        # Processes that share the database claim it, and hold a lock of their own.
        assert postgres.execute(ADVISORY_LOCKS) == [(1 if len(nodes) == 1 else 2 * len(nodes),)]
    within(RECOVERY_SECONDS, lambda: postgres.execute(RUNNING_TURNS) == [(0,)])


def test_sessions_go_on_when_their_connections_are_cut(nodes: list[Node], postgres: OwnPostgres) -> None:
    """Many connections are cut, some of them in a transaction."""
    with load(nodes, postgres) as talks:
        cut = 0
        until = time.monotonic() + 3
        while time.monotonic() < until:
            cut += postgres.cut_connections("state <> 'idle' AND application_name = ''")
        assert cut > 0
        postgres.cut_connections()
        all_go_on(talks)
        within(RECOVERY_SECONDS, lambda: is_ready(nodes))
        assert any(told.status == 503 for talk in talks for told in talk.told), "no turn was cut"
    within(RECOVERY_SECONDS, lambda: postgres.execute(RUNNING_TURNS) == [(0,)])


def test_a_claim_that_another_server_took_is_awaited(nodes: list[Node], postgres: OwnPostgres) -> None:
    """Meanwhile the server answers requests, and its readiness check fails with the reason."""
    within(MOST_SECONDS, lambda: is_ready(nodes))
    with psycopg.connect(postgres.url_of(postgres.database), autocommit=True) as other:
        ((key,),) = other.execute(CLAIM_KEY).fetchall()
        postgres.cut_connections("application_name LIKE 'mrpvm, process%'")
        other.execute("SELECT pg_advisory_lock(%s)", [key])  # before the server checks again
        within(RECOVERY_SECONDS, lambda: not any(readiness(node)["ready"] for node in nodes))
        assert [name for name, holds in readiness(nodes[0])["checks"].items() if not holds] == ["claim"]
        assert nodes[0].say(nodes[0].new_session(), "My dog is called Rex.").status_code == 200
    within(RECOVERY_SECONDS, lambda: is_ready(nodes))


def test_idle_connections_that_are_closed_fail_no_turn(nodes: list[Node], postgres: OwnPostgres) -> None:
    """A pooler closes idle connections; each turn and each of its plugins then reconnects."""
    session_ids = [node.new_session() for node in nodes]
    for _ in range(3):
        for node, session_id in zip(nodes, session_ids, strict=True):
            assert node.say(session_id, "My dog is called Rex. Who is Rex?").status_code == 200
        postgres.cut_connections()
    within(RECOVERY_SECONDS, lambda: is_ready(nodes))


@pytest.mark.parametrize("nodes", ["two processes and Redis"], indirect=True)
def test_turns_go_on_while_redis_restarts(
    nodes: list[Node], postgres: OwnPostgres, request: pytest.FixtureRequest
) -> None:
    redis: OwnRedis = request.getfixturevalue("redis")
    with load(nodes, postgres) as talks:
        redis.stop()
        within(RECOVERY_SECONDS, lambda: not any(readiness(node)["ready"] for node in nodes))
        moment = time.monotonic()
        within(RECOVERY_SECONDS, lambda: all(talk.has_gone_on_since(moment) for talk in talks))
        redis.start()
        within(RECOVERY_SECONDS, lambda: is_ready(nodes))
    assert {told.status for talk in talks for told in talk.told} == {200}
