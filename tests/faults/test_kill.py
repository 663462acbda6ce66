"""SIGKILL before and after each transaction of a turn: the turn is stored completely or not at all."""

import sys
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.server import ServerProcess

pytestmark = pytest.mark.crash

KEY = "mrp_" + "k" * 32
QUICK_LEASE = {"MRPVM_API_KEY": KEY, "MRPVM_REQUEST_TIMEOUT_MS": "2000", "MRPVM_LEASE_EXTRA_MS": "0"}
MOST_EDGES = 40


class Client:
    """The API as a script uses it."""

    def __init__(self, server: ServerProcess) -> None:
        self._http = httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=30)

    def get(self, path: str) -> Any:
        """Return a resource."""
        reply = self._http.get(f"/api{path}")
        reply.raise_for_status()
        return reply.json()

    def say(self, session_id: str, text: str) -> Any:
        """Run one turn; wait if an abandoned turn still holds the session's slot."""
        body = {"session_id": session_id, "messages": [{"role": "user", "content": text}], "wait_ms": 10_000}
        reply = self._http.post("/api/chat/completions", json=body)
        reply.raise_for_status()
        return reply.json()

    def new_session(self) -> str:
        """Return a new session's id."""
        reply = self._http.post("/api/sessions", json={})
        reply.raise_for_status()
        return str(reply.json()["session_id"])

    def memory(self, session_id: str) -> tuple[list[str], list[str], int]:
        """Return what a turn changes: messages, committed units, and the number of pending ones."""
        messages = self.get(f"/sessions/{session_id}/messages?limit=100")["messages"]
        units = self.get(f"/sessions/{session_id}/units?state=committed")["units"]
        pending = self.get(f"/sessions/{session_id}/units?state=pending")["units"]
        return [item["content"] for item in messages], [item["text"] for item in units], len(pending)

    def turns(self, session_id: str) -> list[str]:
        """Return the status of each turn in the registry."""
        return [item["status"] for item in self.get(f"/sessions/{session_id}/explainability")["turns"]]


def crashing(data: Path, edge: int, variables: dict[str, str]) -> ServerProcess:
    """Return a server that dies at one edge of its first turn."""
    server = ServerProcess(data, **variables, **QUICK_LEASE)
    server.command = [sys.executable, "-m", "tests.faults.crashing_server", str(edge), "serve"]
    return server


# There is an edge before and after the start, the commit, and what a slow turn stores between them.
@pytest.mark.parametrize(("flush_ms", "fewest"), [("60000", 4), ("5", 6)], ids=["quick", "slow"])
@pytest.mark.rule("DECISION-20", "TURN-38", "TURN-39", "EVAL-5")
def test_a_kill_at_any_edge_leaves_all_or_nothing(
    tmp_path: Path, own_services: dict[str, str], flush_ms: str, fewest: int
) -> None:
    with ServerProcess(tmp_path, **own_services, **QUICK_LEASE) as server:
        client = Client(server)
        session_id = client.new_session()
        client.say(session_id, "My dog is called Rex.")
        before = client.memory(session_id)
        server.stop()
    deaths = 0
    for edge in range(MOST_EDGES):
        told = f"My parrot number {edge} is called Polly {edge}."
        with crashing(tmp_path, edge, {**own_services, "MRPVM_TRACE_FLUSH_MS": flush_ms}) as server:
            try:
                Client(server).say(session_id, told)
            except httpx.TransportError:
                deaths += 1
            else:
                break
        with ServerProcess(tmp_path, **own_services, **QUICK_LEASE) as server:
            before = check_after_death(Client(server), session_id, before, told)
            server.stop()
    else:
        pytest.fail(f"the turn had more than {MOST_EDGES} edges")
    assert deaths >= fewest


def test_a_start_without_others_closes_what_was_running(tmp_path: Path, own_services: dict[str, str]) -> None:
    """The lease of the killed turn is far from over."""
    variables = {**own_services, "MRPVM_API_KEY": KEY}
    with ServerProcess(tmp_path, **variables) as server:
        session_id = Client(server).new_session()
        server.stop()
    dying = ServerProcess(tmp_path, **variables)
    dying.command = [sys.executable, "-m", "tests.faults.crashing_server", "2", "serve"]
    with dying as server, pytest.raises(httpx.TransportError):
        Client(server).say(session_id, "My dog is called Rex.")
    with ServerProcess(tmp_path, **variables) as server:
        client = Client(server)
        assert client.turns(session_id) == ["interrupted"]
        client.say(session_id, "My dog is called Max.")
        server.stop()


def check_after_death(
    client: Client, session_id: str, before: tuple[list[str], list[str], int], told: str
) -> tuple[list[str], list[str], int]:
    """Assert that the killed turn is stored completely or not at all, and that the session works; return its state."""
    client.say(session_id, "What is my dog called?")
    messages, units, pending = client.memory(session_id)
    assert pending == 0
    asked = messages[-2:]
    assert "Rex" in asked[1]
    rest = messages[:-2]
    committed = told in rest
    assert rest[: len(before[0])] == before[0]
    assert len(rest) == len(before[0]) + (2 if committed else 0)
    assert any(told.rstrip(".") in unit for unit in units) == committed
    statuses = client.turns(session_id)
    assert "running" not in statuses
    assert set(statuses) <= {"succeeded", "interrupted"}
    return messages, units, pending
