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
_CPU_CLOCK = 2  # CPUCLOCK_SCHED: the scheduler's own count of a process's time


class MeasuredServer:
    """`manage.py serve` over a database, on a free port of loopback; other variables are those of the caller."""

    def __init__(self, database: Database, *arguments: str, **variables: str) -> None:
        self._command = [sys.executable, "manage.py", "serve", "--host", "127.0.0.1", "--port", "0", *arguments]
        self._variables = {
            "MRPVM_DATA_DIR": str(database.directory),
            "DATABASE_URL": database.url,
            "MRPVM_API_KEY": API_KEY,
            "MRPVM_DEMO": "0",
            "MRPVM_CHATS_PER_MINUTE": "0",
        } | variables

    def __enter__(self) -> Self:
        """Start, and wait until the server says where it listens.

        Raises:
            RuntimeError: it ended instead; its reason is on stderr.
        """
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, env=os.environ | self._variables, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                return self
        raise RuntimeError("The server to be measured did not start.")

    def __exit__(self, *raised: object) -> None:
        """Stop the server and wait until it has ended."""
        self._process.terminate()
        self._process.communicate()

    @property
    def cpu_ms(self) -> float:
        """Give the CPU time that the process has used so far, all its threads together; exact to microseconds."""
        # The kernel's number for the clock of another process: there is no call for it in Python.
        return time.clock_gettime((~self._process.pid << 3) | _CPU_CLOCK) * 1000

    def client(self, timeout_seconds: int = 60) -> "Client":
        """Give a client with a connection of its own, which waits so long for an answer."""
        return Client(self.port, timeout_seconds)


class Client:
    """One client on one kept connection."""

    def __init__(self, port: int, timeout_seconds: int = 60) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=timeout_seconds)

    def __enter__(self) -> Self:
        """Give itself; the connection is opened by the first request."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the connection."""
        self._connection.close()

    def post(self, path: str, body: dict[str, Any]) -> bytes:
        """Give the body of a successful answer.

        Raises:
            RuntimeError: the server answered with an error.
        """
        headers = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}
        self._connection.request("POST", path, json.dumps(body), headers)
        response = self._connection.getresponse()
        answer = response.read()
        if response.status not in (200, 201):
            raise RuntimeError(f"{path} answered {response.status}: {answer[:500]!r}")
        return answer

    def new_session(self, kb_id: str | None = None) -> str:
        """Give the id of a new session, with this base mounted."""
        body = {} if kb_id is None else {"kb_id": kb_id}
        return str(json.loads(self.post("/api/sessions", body))["session_id"])

    def say(self, session_id: str, message: str) -> bytes:
        """Give the JSON answer to one message, unread."""
        said = {"session_id": session_id, "messages": [{"role": "user", "content": message}]}
        return self.post("/api/chat/completions", said)
