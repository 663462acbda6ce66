"""Redis hangs, stops and restarts: turns and logins still succeed, and pages get the missed events."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.server import ServerProcess
from tests.services.node import KEY, SHARED_SECRET, Node, kinds_until
from tests.services.own_servers import OwnRedis

pytestmark = pytest.mark.services


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[OwnRedis]:
    """Return a Redis server, which is stopped after the test."""
    server = OwnRedis(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def node(redis: OwnRedis, tmp_path: Path, own_services: dict[str, str]) -> Iterator[Node]:
    """Return a process with a login."""
    variables = own_services | {"REDIS_URL": redis.url, "MRPVM_API_KEY": KEY, "SECRET_KEY": SHARED_SECRET}
    (tmp_path / "data").mkdir()
    with ServerProcess(tmp_path / "data", **variables) as server:
        browser = httpx.Client(follow_redirects=True, timeout=30)
        browser.get(server.login_link).raise_for_status()
        yield Node(server, browser.cookies)


@pytest.mark.parametrize("how", ["hangs", "is gone"])
def test_turns_and_logins_go_on_and_pages_catch_up(node: Node, redis: OwnRedis, how: str) -> None:
    session_id = node.new_session()
    with node.socket(session_id) as follower:
        assert node.say(session_id, "My dog is called Rex.").status_code == 200
        kinds_until(follower, "turn.committed")
        if how == "hangs":
            redis.process.send_signal(signal.SIGSTOP)
        else:
            redis.stop()
        # A call to Redis without a time limit would never return, and the client's timeout would fail the test.
        assert node.say(session_id, "My cat is called Tom.").status_code == 200
        kinds_until(follower, "turn.committed")  # by the heartbeat
        with node.socket(session_id) as late:
            kinds_until(late, "turn.committed")
        assert password_login(node) == 200
        if how == "hangs":
            redis.process.send_signal(signal.SIGCONT)
        else:
            redis.start()
        assert node.say(session_id, "My bird is called Kim.").status_code == 200
        kinds_until(follower, "turn.committed")


def password_login(node: Node) -> int:
    """Return the status of a failed login, which shows the form again."""
    with httpx.Client(base_url=node.url, timeout=30) as visitor:
        visitor.get("/login")
        form = {"username": "nobody", "password": "wrong", "csrfmiddlewaretoken": visitor.cookies["mrpvm_csrf"]}
        return visitor.post("/login", data=form, headers={"Origin": node.url}).status_code
