"""The servers under test: one process on SQLite, or two behind nginx on PostgreSQL and Redis."""

import itertools
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.faults.test_full_disk import SmallDisk
from tests.llm.provider import Provider, cut, hang, refuse, say, send
from tests.server import Patience, ServerProcess
from tests.services.own_servers import OwnPostgres, OwnRedis, free_port
from tests.soak.load import KEY, PATIENCE_SECONDS

HELD_SECONDS = 3
START_SECONDS = 300
"""How long a process may take to start on a machine with room: a crowded one is slow, which breaks no promise."""
HOUR = 3_600
ACCEPTED = '{"verdict": "accepted", "reason": ""}'
MODEL_FAULTS = {
    "model hangs": hang,
    "model cuts its answer": cut("It is"),
    "model refuses": refuse(400),
    "model answers garbage": send(b"\x00\xffnot json"),
}


@dataclass(frozen=True)
class Fault:
    """A fault, which is over when `happen` returns."""

    name: str
    happen: Callable[[], None]


class Clock:
    """The clock of the servers, shifted by libfaketime if it is installed."""

    def __init__(self, place: Path) -> None:
        self._file = place / "clock"
        found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
        self.variables: dict[str, str] = {}
        if found:
            self.step(0)
            self.variables = {
                "LD_PRELOAD": str(found[0]),
                "FAKETIME_TIMESTAMP_FILE": str(self._file),
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_CACHE_DURATION": "1",
            }

    def remove(self) -> None:
        """Remove files that libfaketime leaves after killed processes."""
        for left in Path("/dev/shm").glob("*faketime_*"):  # noqa: S108
            if not Path("/proc", left.name.rpartition("_")[2]).exists():
                left.unlink(missing_ok=True)

    def step(self, seconds: int) -> None:
        """Set the clock this many seconds from the true time."""
        self._file.write_text(f"{seconds:+d}\n")

    def faults(self) -> list[Fault]:
        if not self.variables:
            return []
        return [
            Fault("clock an hour ahead", lambda: self._shift(HOUR)),
            Fault("clock an hour behind", lambda: self._shift(-HOUR)),
        ]

    def _shift(self, seconds: int) -> None:
        self.step(seconds)
        time.sleep(HELD_SECONDS)
        self.step(0)
        time.sleep(1.5)  # until every process has read it


class Site:
    """A running site: the `url` for clients, its processes, and its possible faults."""

    def __init__(
        self,
        url: str,
        servers: list[ServerProcess],
        faults: list[Fault],
        left_out: list[str],
        read: Callable[[str], list[Any]],
    ) -> None:
        self.url, self.servers, self.faults, self.left_out, self._read = url, servers, faults, left_out, read

    def log_in(self) -> dict[str, str]:
        """Return the cookies of the printed login link's user."""
        with httpx.Client(follow_redirects=True, timeout=START_SECONDS) as browser:
            browser.get(self.servers[0].login_link).raise_for_status()
            return dict(browser.cookies)

    def event_sequence(self, session_id: str) -> int:
        """Return the number of a session's last event."""
        ((number,),) = self._read(
            f"SELECT event_sequence FROM sessions_app_session WHERE session_id = '{session_id}'"  # noqa: S608
        )
        return int(number)

    def running_turns(self) -> list[str]:
        rows = self._read("SELECT request_id FROM sessions_app_explainabilityturn WHERE status = 'running'")
        return [str(request_id) for (request_id,) in rows]

    def sessions_with_gaps(self) -> list[int]:
        """Return the keys of sessions whose messages are not numbered from 1 on, each number once."""
        rows = self._read(
            "SELECT session_id FROM sessions_app_message GROUP BY session_id"
            " HAVING count(*) <> max(sequence) OR min(sequence) <> 1"
        )
        return [int(key) for (key,) in rows]

    def sources(self) -> set[str]:
        return {str(name) for (name,) in self._read("SELECT name FROM sessions_app_knowledgesource")}

    def wait_until_ready(self) -> None:
        for server in self.servers:
            patience = Patience(START_SECONDS)
            while not _is_ready(server.url):
                if patience.is_over():
                    raise AssertionError(f"{server.url} is not ready again:\n{server.output[-3_000:]}")
                time.sleep(0.1)

    def processes(self) -> list[int]:
        return [server.process.pid for server in self.servers]


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/ready", timeout=PATIENCE_SECONDS).status_code == 200
    except httpx.HTTPError:
        return False


def _server(data: Path, *arguments: str, **variables: str) -> ServerProcess:
    data.mkdir(exist_ok=True)
    limits = {
        "MRPVM_CHATS_PER_MINUTE": "0", "MRPVM_LLM_TIMEOUT_MS": "2000", "MRPVM_LLM_MAX_RETRIES": "0",
        # Turns left running by a kill are closed while the run settles.
        "MRPVM_REQUEST_TIMEOUT_MS": "8000", "MRPVM_LEASE_EXTRA_MS": "1000", "MRPVM_SWEEP_INTERVAL_MS": "2000",
    }  # fmt: skip
    server = ServerProcess(data, *arguments, PORT=str(free_port()), MRPVM_API_KEY=KEY, **limits, **variables)
    server.command[1] = "tests/soak/manage.py"
    server.start_seconds = START_SECONDS
    return server


def _kill(server: ServerProcess) -> None:
    """Kill the process and start it again on the same port."""
    server.process.send_signal(signal.SIGKILL)
    server.__exit__()
    server._is_ready.clear()
    if "--no-bootstrap" not in server.command:
        server.command.append("--no-bootstrap")  # the link and key are printed only once
    server.__enter__()


def _model(stack: ExitStack) -> tuple[dict[str, str], list[Fault]]:
    answers = say("It is called BOX [1].")
    provider = stack.enter_context(Provider(otherwise=answers))

    def misbehave(behaviour: object) -> None:
        provider.otherwise = behaviour  # type: ignore[assignment]
        time.sleep(HELD_SECONDS)
        provider.otherwise = answers

    faults = [Fault(name, lambda behaviour=behaviour: misbehave(behaviour)) for name, behaviour in MODEL_FAULTS.items()]
    return {"MRPVM_LLM_BASE_URL": provider.url, "MRPVM_LLM_MODEL": "some-model"}, faults


@contextmanager
def sqlite_site() -> Iterator[Site]:
    """Return one process with its data on a small disk, if one can be mounted."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        left_out, faults = [], []
        disk = _small_disk(stack, place)
        data = (disk.place if disk else place) / "data"
        clock = Clock(place)
        stack.callback(clock.remove)
        model, model_faults = _model(stack)
        server = stack.enter_context(_server(data, **model, **clock.variables))

        def fill() -> None:
            assert disk is not None
            with disk.full(100_000):
                time.sleep(HELD_SECONDS)

        def hold() -> None:
            with sqlite3.connect(data / "db.sqlite3", timeout=30, isolation_level=None) as held:
                held.execute("BEGIN IMMEDIATE")
                time.sleep(HELD_SECONDS)
                held.execute("ROLLBACK")

        faults = [Fault("process killed", lambda: _kill(server)), Fault("database file held locked", hold)]
        faults += [*model_faults, *clock.faults()]
        if disk:
            faults.append(Fault("disk full", fill))
        else:
            left_out.append("disk full: no small disk can be mounted here")
        if not clock.variables:
            left_out.append("clock steps: libfaketime is not installed")
        yield Site(server.url, [server], faults, left_out, lambda statement: _read(data / "db.sqlite3", statement))


def _read(file: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(file, timeout=30)) as connection:
        return connection.execute(statement).fetchall()


def _small_disk(stack: ExitStack, place: Path) -> SmallDisk | None:
    where = place / "disk"
    where.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1g,mode=755", "tmpfs", str(where)]
    if os.getuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return None
    disk = SmallDisk.__new__(SmallDisk)
    disk.place, disk._filler = where, where / "filler"
    stack.callback(disk.remove)
    return disk


@contextmanager
def services_site() -> Iterator[Site]:
    """Return two processes behind nginx, with their own PostgreSQL and Redis."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        place.chmod(0o755)
        postgres, redis = OwnPostgres(), OwnRedis(place)
        stack.callback(postgres.remove)
        stack.callback(redis.stop)
        clock = Clock(place)
        stack.callback(clock.remove)
        model, model_faults = _model(stack)
        variables = {"DATABASE_URL": postgres.url_of("postgres"), "REDIS_URL": redis.url, **model, **clock.variables}
        variables["SECRET_KEY"] = "soaked-" + "x" * 60
        first = stack.enter_context(_server(place / "first", **variables))
        second = stack.enter_context(_server(place / "second", "--no-bootstrap", **variables))
        servers = itertools.cycle((first, second))
        url = _nginx(stack, place, [first.url, second.url])

        def restart_postgres(mode: str) -> None:
            postgres.stop(mode)  # type: ignore[arg-type]
            postgres.start()

        def restart_redis() -> None:
            redis.stop()
            time.sleep(HELD_SECONDS)
            redis.start()

        faults = [
            Fault("process killed", lambda: _kill(next(servers))),
            Fault("PostgreSQL restarted", lambda: restart_postgres("fast")),
            Fault("PostgreSQL crashed", lambda: restart_postgres("immediate")),
            Fault("Redis away", restart_redis),
            Fault("connections cut", lambda: postgres.cut_connections() and None),
            *model_faults,
            *clock.faults(),
        ]
        left_out = [] if clock.variables else ["clock steps: libfaketime is not installed"]
        yield Site(url, [first, second], faults, left_out, postgres.execute)


def _nginx(stack: ExitStack, place: Path, servers: list[str]) -> str:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    assert program is not None, "nginx is not installed"
    port = free_port()
    upstream = " ".join(f"server {url.removeprefix('http://')} max_fails=0;" for url in servers)
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{name}_temp_path {place}/{name};" for name in names)
    configured = place / "nginx.conf"
    configured.write_text(
        f"""daemon off; worker_processes 1; pid {place}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log off; {paths}
  upstream servers {{ {upstream} }}
  map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://servers; proxy_http_version 1.1; proxy_buffering off; proxy_read_timeout 120s;
      proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }}
  }}
}}
"""
    )
    process = subprocess.Popen(
        [program, "-c", str(configured), "-p", str(place), "-e", "stderr"], stderr=subprocess.DEVNULL
    )
    stack.callback(process.wait, 20)
    stack.callback(process.terminate)
    return f"http://127.0.0.1:{port}"


SITES = {"SQLite": sqlite_site, "PostgreSQL, Redis, two processes": services_site}
