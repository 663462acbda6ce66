"""The measured servers: separate processes, started as an operator starts them."""

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
    """A server in a separate process, which prints its address. Other variables are the caller's.

    `root` is the source tree that it runs from.
    """

    root = ROOT

    def __init__(self, *command: str, **variables: str) -> None:
        self._command = [sys.executable, *command]
        self._variables = variables

    def __enter__(self) -> Self:
        """Start, and wait until the server says where it listens.

        Raises:
            RuntimeError: it ended instead. The reason is on stderr.
        """
        self._process = subprocess.Popen(
            self._command, cwd=self.root, env=os.environ | self._variables, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if link := re.search(r"/login/link/\S+", line):
                self.login_path = link[0]
            elif address := re.search(r"127\.0\.0\.1:(\d+)", line):
                self.port = int(address[1])
                return self
        raise RuntimeError("The server to be measured did not start.")

    def __exit__(self, *raised: object) -> None:
        """Stop the server and wait until it has ended."""
        self._process.terminate()
        self._process.communicate()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def cpu_ms(self) -> float:
        """Return the CPU time of the process and all its threads so far, exact to microseconds."""
        # The kernel's id of another process's clock. Python has no call for it.
        return time.clock_gettime((~self.pid << 3) | _CPU_CLOCK) * 1000

    @property
    def resident_mb(self) -> float:
        """Return the memory that the process holds."""
        return resident_mb(self.pid)

    def client(self, timeout_seconds: int = 60) -> "Client":
        """Return a client with its own connection and this timeout."""
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
    """One Django view without middleware, on the same kind of server."""

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
        """Open a one-time login link and return the cookies for the pages."""
        self._connection.request("GET", login_path)
        response = self._connection.getresponse()
        response.read()
        return "; ".join(cookie.partition(";")[0] for cookie in response.headers.get_all("Set-Cookie", []))

    def page(self, path: str, cookies: str) -> bytes:
        """Return a page as a logged-in browser gets it; raises as `post` does."""
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
        """Return the JSON answer to one message, or its whole unparsed stream."""
        said = {"session_id": session_id, "messages": [{"role": "user", "content": message}], "stream": stream}
        return self.post("/api/chat/completions", said)
