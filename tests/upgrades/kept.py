"""A stored database of a version: created by a small conversation, and read by later versions."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2 as httpx

from mrpvm.settings import MRPVM_VERSION
from tests.server import ServerProcess

KEPT = Path(__file__).parent
KEY = "mrp_" + "u" * 32
TOLD, ASKED, ANSWER = "My dog is called Rex.", "What is my dog called?", "Rex"
SOURCE, ASKED_OF_SOURCE, ANSWER_OF_SOURCE = "The valve V2 leaks oil.", "What does the valve V2 leak?", "oil"
type Manage = Callable[..., tuple[int, str]]


class Caller:
    """A client of a server's API."""

    def __init__(self, server: ServerProcess) -> None:
        headers = {"Authorization": f"Bearer {KEY}"}
        self.http = httpx.Client(base_url=f"{server.url}/api", headers=headers, timeout=60)

    def post(self, path: str, **body: object) -> httpx.Response:
        """Post JSON, which must be accepted; return the answer."""
        return self.http.post(path, json=body).raise_for_status()

    def say(self, text: str, **place: str) -> str:
        """Return the answer to a message, in a session or after a response."""
        return str(self.turn(text, **place)["choices"][0]["message"]["content"])

    def turn(self, text: str, **place: str) -> dict[str, Any]:
        """Return the complete answer to a message."""
        body = {"messages": [{"role": "user", "content": text}], **place}
        return dict(self.post("/chat/completions", **body).json())

    def sessions(self) -> list[str]:
        """Return the ids of the sessions, the most recently used first."""
        return [session["session_id"] for session in self.http.get("/sessions").raise_for_status().json()["sessions"]]


def make_database(data: Path, target: Path, manage: Manage | None = None) -> Path:
    """Create a server with a session, its fork and a base; return its backup `VERSION.zip` in the folder `target`.

    Args:
        manage: runs a command on the server's database; in a process of its own by default.
    """
    with ServerProcess(data, MRPVM_API_KEY=KEY) as server:
        caller = Caller(server)
        first = caller.turn(TOLD)
        session_id = first["session_id"]
        root = f"/sessions/{session_id}"
        caller.post(f"{root}/workspace/sources", name="pumps.txt", content=SOURCE)
        caller.post(f"{root}/kb/fork", name="Pumps")
        assert ANSWER_OF_SOURCE in caller.say(ASKED_OF_SOURCE, session_id=session_id)
        assert ANSWER in caller.say(ASKED, previous_response_id=first["response_id"])
        kept = target / f"{MRPVM_VERSION}.zip"
        code, output = (manage or server.manage)("backup", str(kept))
        assert code == 0, output
    shutil.rmtree(data)  # the backup is all that another machine has
    return kept
