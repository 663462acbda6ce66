"""Simulated users: each has a session, sends one request after another, and records what was acknowledged."""

import asyncio
import itertools
import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from mrpvm.errors import MODEL_ERROR_CODES

KEY = "mrp_" + "s" * 32
PAUSE_SECONDS = 0.3
"""The longest pause of a person between two things."""
PATIENCE_SECONDS = 60
LONGEST_WAIT_SECONDS = 2
"""How long a person heeds Retry-After."""
TOLD_TO_COME_AGAIN = {408, 409, 429, 502, 503, 504, 507}
"""Answers that say: not now. 502 and 504 are the proxy's."""
MODELS_FAULTS = MODEL_ERROR_CODES | {"PLUGIN_STAGE_EXHAUSTED", "TURN_FAILED", "VALIDATION_REJECTED", "ENGINE_TIMEOUT"}
"""What a turn ends with where the model, or what it answered, was of no use."""
WEIGHTS = {
    "turn": 8, "stream": 4, "model turn": 3, "upload": 2, "save": 2, "fork": 1, "page": 5, "deletion": 1,
}  # fmt: skip


@dataclass
class Noted:
    """What the server acknowledged, and its other answers."""

    messages: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    sources: set[str] = field(default_factory=set)
    bases: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    done: Counter[str] = field(default_factory=Counter)
    put_off: Counter[str] = field(default_factory=Counter)
    defects: list[str] = field(default_factory=list)


class Person:
    """A session and its user. Requests are not repeated: one that was not acknowledged may be stored or not."""

    def __init__(self, url: str, cookies: dict[str, str], noted: Noted, number: int) -> None:
        self._url, self._noted, self._number = url, noted, number
        self._cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self._count = itertools.count(1)
        self._choice = random.Random(number)
        self._request: asyncio.Task[httpx.Response] | None = None
        self._socket: ClientConnection | None = None
        self.session_id = ""
        self.done_count = 0
        self.sequences: list[int] = []
        """The numbers of the events that the person's page got, in the order in which they came."""

    async def work(self, stop_asked: asyncio.Event) -> None:
        """Send one request after another until a stop is requested."""
        headers = {"Authorization": f"Bearer {KEY}"}
        async with httpx.AsyncClient(base_url=self._url, headers=headers, timeout=PATIENCE_SECONDS) as client:
            self._client = client
            while not self.session_id and not stop_asked.is_set():
                made = await self._send("start", "POST", "/api/sessions", {})
                self.session_id = made["session_id"] if made else ""
                await asyncio.sleep(0.1)
            while not stop_asked.is_set():
                (kind,) = self._choice.choices(list(WEIGHTS), list(WEIGHTS.values()))
                await self._do(kind)
                self.done_count += 1
                await asyncio.sleep(self._choice.uniform(0, PAUSE_SECONDS))

    def hang_up(self) -> None:
        """Cut both connections, also during a request."""
        if self._request is not None:
            self._request.cancel()
        if self._socket is not None:
            self._socket.transport.abort()

    async def _do(self, kind: str) -> None:
        number = next(self._count)
        name = f"b{self._number}n{number}"
        root = f"/api/sessions/{self.session_id}"
        if kind in ("turn", "stream", "model turn"):
            await self._say(kind, f"My box {name} is called {name.upper()}.")
        elif kind == "upload":
            made = await self._send(
                kind, "POST", f"{root}/workspace/sources", {"name": name, "content": f"{name} is red."}
            )
            if made:
                self._noted.sources.add(name)
        elif kind == "save":
            await self._send(kind, "POST", f"{root}/kb/save", {"include_conversation_units": False})
        elif kind == "fork":
            made = await self._send(kind, "POST", f"{root}/kb/fork", {"name": name})
            if made:
                self._noted.bases.add(made["kb_id"])
        elif kind == "page":
            page = self._choice.choice(["/", f"/sessions/{self.session_id}", "/knowledge", "/turns"])
            await self._send(kind, "GET", page, None)
        else:
            made = await self._send("start", "POST", "/api/sessions", {})
            if made and await self._send(kind, "DELETE", f"/api/sessions/{made['session_id']}", None) is not None:
                self._noted.deleted.add(made["session_id"])

    async def _say(self, kind: str, text: str) -> None:
        body: dict[str, Any] = {"session_id": self.session_id, "messages": [{"role": "user", "content": text}]}
        if kind == "model turn":
            body["goal_solver_plugin"] = "gs-llm-fast"
        if kind == "stream":
            body["stream"] = True
        if await self._send(kind, "POST", "/api/chat/completions", body) is not None:
            self._noted.messages[self.session_id].append(text)

    async def _send(self, kind: str, method: str, path: str, body: Any) -> dict[str, Any] | None:
        """Return the answer to one request, or None if it was put off or cut; record defects."""
        headers = {} if path.startswith("/api") else {"Cookie": self._cookie, "Authorization": ""}
        self._request = asyncio.create_task(self._client.request(method, path, json=body, headers=headers))
        try:
            answer = await self._request
        except asyncio.CancelledError:
            self._noted.put_off["hung up"] += 1
            return None
        except httpx.HTTPError as error:
            self._noted.put_off[type(error).__name__] += 1
            await asyncio.sleep(1)
            return None
        if answer.status_code in TOLD_TO_COME_AGAIN:
            self._noted.put_off[str(answer.status_code)] += 1
            await asyncio.sleep(min(int(answer.headers.get("retry-after", 1)), LONGEST_WAIT_SECONDS))
            return None
        is_stream = answer.headers.get("content-type", "").startswith("text/event-stream")
        if is_stream and "event: response.completed" not in answer.text:
            self._noted.put_off["stream ended with an error"] += 1
            return None
        if answer.status_code >= 400:
            if is_a_models_fault(kind, answer):
                self._noted.put_off[f"model turn: {answer.json()['error']['code']}"] += 1
            else:
                self._noted.defects.append(
                    f"{kind}: {method} {path} answered {answer.status_code}: {answer.text[:300]}"
                )
            return None
        self._noted.done[kind] += 1
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return dict(answer.json()) if is_json else {}

    async def follow(self, stop_asked: asyncio.Event) -> None:
        """Follow the session's events as its page does; reconnect after the last number received."""
        while not stop_asked.is_set():
            if not self.session_id:
                await asyncio.sleep(0.1)
                continue
            since = self.sequences[-1] if self.sequences else 0
            address = f"{self._url.replace('http', 'ws', 1)}/live/sessions/{self.session_id}?since={since}"
            try:
                headers = {"Cookie": self._cookie}
                async with connect(
                    address, additional_headers=headers, origin=self._url, open_timeout=PATIENCE_SECONDS
                ) as socket:
                    self._socket = socket
                    while not stop_asked.is_set():
                        try:
                            async with asyncio.timeout(1):
                                sequence = json.loads(await socket.recv())["sequence"]
                        except TimeoutError:
                            continue
                        if sequence is not None:
                            self.sequences.append(sequence)
                            self._noted.done["event"] += 1
            except (OSError, WebSocketException, TimeoutError) as error:
                self._noted.put_off[f"socket {type(error).__name__}"] += 1
                await asyncio.sleep(0.3)


def is_a_models_fault(kind: str, answer: httpx.Response) -> bool:
    """Return whether a turn failed because of the configured model."""
    return kind == "model turn" and answer.json()["error"]["code"] in MODELS_FAULTS
