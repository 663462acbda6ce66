"""PostgreSQL and Redis servers for a single test, which it may stop, disconnect and restart."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import pytest

START_SECONDS = 300  # a busy machine is slow


def free_port() -> int:
    """Return a port that is not in use."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int, name: str) -> None:
    """Wait until the program `name` listens on the port."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError(f"{name} did not start")


class OwnRedis:
    """A Redis server on a port of its own."""

    def __init__(self, data: Path) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed")
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self._command = [program, "--port", str(self.port), "--save", "", "--dir", str(data)]
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        wait_for(self.port, "redis-server")

    def stop(self) -> None:
        """Kill the server, even if it hangs."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class OwnPostgres:
    """A PostgreSQL cluster on a free port; `database` is the one that tests use.

    PostgreSQL does not run as root, so root runs it as the user `postgres`.
    """

    def __init__(self) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
        if not programs:
            pytest.skip("PostgreSQL is not installed")
        self._programs = programs[-1]
        self.place = Path(tempfile.mkdtemp(prefix="own-postgres-"))
        self.place.chmod(0o755)
        if os.getuid() == 0:
            shutil.chown(self.place, "postgres")
        self.port = free_port()
        self.database = "postgres"
        self._run("initdb", "-D", self._data, "--username", "mrpvm", "--auth", "trust", "--no-sync")
        self.start()

    @property
    def _data(self) -> str:
        return str(self.place / "data")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        with (self.place / "output").open("a") as output:
            done = subprocess.run(command, cwd="/", stdout=output, stderr=output, check=False)
        assert done.returncode == 0, (self.place / "output").read_text()

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        options = f"-p {self.port} -k {self.place} -c listen_addresses=127.0.0.1 -c max_connections=200"
        log = str(self.place / "log")
        self._run("pg_ctl", "-D", self._data, "-w", "-t", str(START_SECONDS), "-l", log, "-o", options, "start")

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """Stop the server: `fast` ends every connection, `immediate` is a crash."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", mode, "stop")

    def url_of(self, database: str) -> str:
        """Return a database's address."""
        return f"postgresql://mrpvm@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "") -> list[Any]:
        """Run one statement in its own transaction; return its rows."""
        import psycopg

        with psycopg.connect(self.url_of(database or self.database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def cut_connections(self, condition: str = "true") -> int:
        """Terminate all connections to the database, also within transactions; return their number."""
        cut = self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"  # noqa: S608
            f" WHERE datname = '{self.database}' AND pid <> pg_backend_pid() AND ({condition})"
        )
        return len(cut)

    def remove(self) -> None:
        """Stop the server and remove its files."""
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.place, ignore_errors=True)
