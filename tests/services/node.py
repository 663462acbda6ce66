"""A client of one of several server processes on one database."""

import json
from typing import Any

import httpx2 as httpx
from websockets.sync.client import connect

from tests.server import ServerProcess

KEY = "mrp_" + "s" * 32
SHARED_SECRET = "shared-" + "x" * 50


class Node:
    """A client of one of the processes, with an API key and a login."""

    def __init__(self, server: ServerProcess, cookies: httpx.Cookies | None = None) -> None:
        self.url = server.url
        self.http = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=30)
        self.cookies = cookies

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """Post JSON to the API."""
        return self.http.post(f"/api{path}", json=body)

    def new_session(self) -> str:
        """Return a new session's id."""
        return str(self.post("/sessions", {}).json()["session_id"])

    def say(self, session_id: str, text: str) -> httpx.Response:
        """Run one turn."""
        body = {"session_id": session_id, "messages": [{"role": "user", "content": text}]}
        return self.post("/chat/completions", body)

    def socket(self, session_id: str, since: int | str = 0) -> Any:
        """Open the session's live socket."""
        assert self.cookies is not None
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        address = f"{self.url.replace('http', 'ws', 1)}/live/sessions/{session_id}?since={since}"
        return connect(address, additional_headers={"Cookie": cookie, "Origin": self.url})


def kinds_until(socket: Any, last: str) -> list[tuple[int | None, str]]:
    """Return the number, if any, and the kind of each event up to the first of kind `last`."""
    seen: list[tuple[int | None, str]] = []
    while not seen or seen[-1][1] != last:
        message = json.loads(socket.recv(timeout=20))
        seen.append((message["sequence"], message["kind"]))
    return seen
