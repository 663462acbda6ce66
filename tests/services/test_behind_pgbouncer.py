"""The server behind Debian's PgBouncer, with the configuration of deploy/."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from stat import S_IMODE
from urllib.parse import urlsplit

import pytest

from tests.server import ROOT, ServerProcess
from tests.services.node import KEY, Node
from tests.services.own_servers import free_port, wait_for

pytestmark = pytest.mark.services


class Pooler:
    """PgBouncer for the database at `url`, on a free port."""

    def __init__(self, place: Path, url: str, mode: str) -> None:
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        if program is None:
            pytest.skip("pgbouncer is not installed")
        self._port = free_port()
        address = urlsplit(url)
        self.url = address._replace(netloc=f"{address.username}@127.0.0.1:{self._port}").geturl()
        configured = place / "pgbouncer.ini"
        configured.write_text(configuration(url, self._port, mode))
        # It does not run as root.
        as_whom = ["runuser", "-u", "nobody", "--"] if os.getuid() == 0 else []
        command = [*as_whom, program, str(configured)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        wait_for(self._port, "pgbouncer")

    def stop(self) -> None:
        """Kill PgBouncer with all its connections."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def configuration(url: str, port: int, mode: str) -> str:
    """Return the configuration of deploy/ with the test's database and port, and another mode of the pool."""
    shipped = (ROOT / "deploy/pgbouncer.ini").read_text()
    address = urlsplit(url)
    name = address.path[1:]
    for written, own in (
        (
            "mrpvm = host=127.0.0.1 port=5432 dbname=mrpvm",
            f"{name} = host={address.hostname} port={address.port} dbname={name} user={address.username}",
        ),
        ("listen_port = 6432", f"listen_port = {port}\nunix_socket_dir ="),
        ("pool_mode = session", f"pool_mode = {mode}"),
        ("auth_type = scram-sha-256", "auth_type = any"),
        ("auth_file = /etc/pgbouncer/userlist.txt", ""),
    ):
        assert written in shipped
        shipped = shipped.replace(written, own)
    return shipped


@pytest.fixture
def mode() -> str:
    """Return the mode of deploy/."""
    return "session"


@pytest.fixture
def pooler(tmp_path: Path, own_services: dict[str, str], mode: str) -> Iterator[Pooler]:
    """Return PgBouncer for the test's database."""
    for place in (tmp_path, *tmp_path.parents[:3]):
        place.chmod(S_IMODE(place.stat().st_mode) | 0o055)  # another user must read the configuration
    running = Pooler(tmp_path, own_services["DATABASE_URL"], mode)
    yield running
    running.stop()


def test_a_server_works_behind_the_pooler_and_starts_again(
    tmp_path: Path, pooler: Pooler, own_services: dict[str, str]
) -> None:
    variables = own_services | {"DATABASE_URL": pooler.url, "MRPVM_API_KEY": KEY, "SECRET_KEY": "pooled-" + "x" * 50}
    data = tmp_path / "data"
    for _ in range(2):  # connections of a process that has ended are released
        with ServerProcess(data, **variables) as server:
            node = Node(server)
            sessions = [node.new_session() for _ in range(4)]
            for message in ("My dog is called Rex.", "What is my dog called?"):
                with ThreadPoolExecutor(4) as threads:
                    answers = list(threads.map(node.say, sessions, repeat(message)))
                assert [answer.status_code for answer in answers] == [200] * 4
            assert all("Rex" in answer.json()["choices"][0]["message"]["content"] for answer in answers)
            assert server.stop()[0] == 0


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_server_does_not_start_behind_a_pooler_of_transactions(
    tmp_path: Path, pooler: Pooler, own_services: dict[str, str]
) -> None:
    """It leaves no lock in the pool: as soon as sessions are pooled it starts."""
    variables = own_services | {"DATABASE_URL": pooler.url}
    for _ in range(2):
        code, output = ServerProcess(tmp_path / "data", **variables).refused()
        assert (code, output.count("\n")) == (1, 1), output
        assert output.startswith("DATABASE_URL is (value not shown): expected connections that are sessions")
        assert "pool_mode = session" in output
    with ServerProcess(tmp_path / "data", **own_services):
        pass
