"""Redis hangs, goes away and comes back: turns and logins go on, and pages catch up [O-25]."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.server import ServerProcess
from tests.services.test_two_processes import KEY, Node, kinds_until

pytestmark = pytest.mark.services


class OwnRedis:
    """A Redis server of the test's own, which can be stopped."""

    def __init__(self, data: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.command = [program, "--port", str(self.port), "--save", "", "--dir", str(data)]
        self.start()

    def start(self) -> None:
        """Return when it answers."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError("redis-server did not start")

    def stop(self) -> None:
        """Kill it, also if it hangs."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[OwnRedis]:
    """Give a Redis server that ends with the test."""
    server = OwnRedis(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def node(redis: OwnRedis, tmp_path: Path, own_services: dict[str, str]) -> Iterator[Node]:
    """Give one process that is logged in to."""
    address = f"redis://127.0.0.1:{redis.port}"
    variables = own_services | {"REDIS_URL": address, "MRPVM_API_KEY": KEY, "SECRET_KEY": "shared-" + "x" * 50}
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
        # A call that waits for Redis without a time limit never returns; the client's own limit then fails the test.
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
    """Give the status of a failed login: the form again."""
    with httpx.Client(base_url=node.url, timeout=30) as visitor:
        visitor.get("/login")
        form = {"username": "nobody", "password": "wrong", "csrfmiddlewaretoken": visitor.cookies["mrpvm_csrf"]}
        return visitor.post("/login", data=form, headers={"Origin": node.url}).status_code
