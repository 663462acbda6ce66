"""The servers that are measured: processes of their own, started as an operator starts them."""

import json
import os
import re
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self

from bench.databases import Database

ROOT = Path(__file__).resolve().parent.parent
API_KEY = "mrp_only_for_measurements_on_loopback_0000"
_HEADERS = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}
_CPU_CLOCK = 2  # CPUCLOCK_SCHED: the scheduler's own count of a process's time


def resident_mb(pid: int) -> float:
    """Return the memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000


class ServerProcess:
    """A server in a process of its own, which prints where it listens; other variables are those of the caller.

    `root` is the tree that it runs from: this one, or another version's.
    """

    root = ROOT

    def __init__(self, *command: str, **variables: str) -> None:
        self._command = [sys.executable, *command]
        self._variables = variables

    def __enter__(self) -> Self:
        """Start, and wait until the server says where it listens.

        Raises:
            RuntimeError: it ended instead; its reason is on stderr.
        """
        self._process = subprocess.Popen(
            self._command, cwd=self.root, env=os.environ | self._variables, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if link := re.search(r"/login/link/\S+", line):
                self.login_path = link[0]
            elif found := re.search(r"127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                return self
        raise RuntimeError("The server to be measured did not start.")

    def __exit__(self, *raised: object) -> None:
        """Stop the server and wait until it has ended."""
        self._process.terminate()
        self._process.communicate()

    @property
    def cpu_ms(self) -> float:
        """Return the CPU time that the process has used so far, all its threads together; exact to microseconds."""
        # The kernel's number for the clock of another process: there is no call for it in Python.
        return time.clock_gettime((~self._process.pid << 3) | _CPU_CLOCK) * 1000

    @property
    def resident_mb(self) -> float:
        """Return the memory that the process holds."""
        return resident_mb(self._process.pid)

    def client(self, timeout_seconds: int = 60) -> "Client":
        """Return a client with a connection of its own, which waits so long for an answer."""
        return Client(self.port, timeout_seconds)


class MeasuredServer(ServerProcess):
    """`manage.py serve` over a database, on a free port of loopback."""

    def __init__(self, database: Database, *arguments: str, **variables: str) -> None:
        super().__init__(
            "manage.py", "serve", "--host", "127.0.0.1", "--port", "0", *arguments,
            **{
                "MRPVM_DATA_DIR": str(database.directory),
                "DATABASE_URL": database.url,
                "MRPVM_API_KEY": API_KEY,
                "MRPVM_DEMO": "0",
                "MRPVM_LOCAL_MODEL": "0",
                "MRPVM_CHATS_PER_MINUTE": "0",
            } | variables,
        )  # fmt: skip


class BareServer(ServerProcess):
    """One Django view without anything around it, on the same kind of server."""

    def __init__(self) -> None:
        super().__init__("-m", "bench.table.bare")


class Client:
    """One client on one kept connection."""

    def __init__(self, port: int, timeout_seconds: int = 60) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=timeout_seconds)

    def __enter__(self) -> Self:
        """Return itself; the connection is opened by the first request."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the connection."""
        self._connection.close()

    def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Return the body of a successful answer.

        Raises:
            RuntimeError: the server answered with an error.
        """
        return self._answer("POST", path, json.dumps(body).encode(), _HEADERS)

    def post_protobuf(self, path: str, body: bytes) -> bytes:
        """Return the body of a successful answer; raises as `post` does."""
        return self._answer("POST", path, body, _HEADERS | {"Content-Type": "application/x-protobuf"})

    def get(self, path: str) -> bytes:
        """Return the body of a successful answer; raises as `post` does."""
        return self._answer("GET", path, None, _HEADERS)

    def log_in(self, login_path: str) -> str:
        """Take a link that works once and return the cookies for the pages."""
        self._connection.request("GET", login_path)
        response = self._connection.getresponse()
        response.read()
        return "; ".join(cookie.partition(";")[0] for cookie in response.headers.get_all("Set-Cookie", []))

    def page(self, path: str, cookies: str) -> bytes:
        """Return a page as a browser gets it that is logged in; raises as `post` does."""
        return self._answer("GET", path, None, {"Cookie": cookies, "Accept": "text/html"})

    def _answer(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status not in (200, 201):
            raise RuntimeError(f"{path} answered {response.status}: {answer[:500]!r}")
        return answer

    def new_session(self, kb_id: str | None = None) -> str:
        """Return the id of a new session, with this base mounted."""
        body = {} if kb_id is None else {"kb_id": kb_id}
        return str(json.loads(self.post("/api/sessions", body))["session_id"])

    def say(self, session_id: str, message: str, *, stream: bool = False) -> bytes:
        """Return the JSON answer to one message, or the whole stream of it, unread."""
        said = {"session_id": session_id, "messages": [{"role": "user", "content": message}], "stream": stream}
        return self.post("/api/chat/completions", said)
