"""Turns replay in a new server process after a restart."""

import random
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.experiments.walks import ASKED, CLAIMS, GUIDES
from tests.experiments.walks import SAID as TOLD
from tests.server import ServerProcess
from tests.services.node import KEY

pytestmark = pytest.mark.services
SAID = (
    "My dog is called Rex. Rex is seven years old.",
    "What is my dog called?",
    "How old is he?",
    "The ferry to Nore leaves from gate B.",
    "/help",
    "And where does the ferry leave? And when does the kitchen open?",
    "My key is sk-abcdefghijklmnopqrstuvwxyz123456. The pump a1 needs 3 bars.",
    "How many bars does pump a1 need?",
)


class Server:
    """A running server and its API."""

    def __init__(self, process: ServerProcess) -> None:
        headers = {"Authorization": f"Bearer {KEY}"}
        self._api = httpx.Client(base_url=process.url, headers=headers, timeout=60)

    def talk(self) -> str:
        session_id = self._post("/api/sessions", {})["session_id"]
        for number, message in enumerate(SAID):
            self._post(
                "/api/chat/completions", {"session_id": session_id, "messages": [{"role": "user", "content": message}]}
            )
            if number == 3:
                self._post(f"/api/sessions/{session_id}/kb/save", {})
        return str(session_id)

    def walk(self, seed: int) -> str:
        """Return the id of a session after random actions."""
        chance = random.Random(seed)
        session_id = self._post("/api/sessions", {})["session_id"]
        here = f"/api/sessions/{session_id}"
        for _ in range(WALK_STEPS):
            action = chance.choice(("tell", "tell", "ask", "ask", "ask", "guide", "load", "save", "fork"))
            if action in ("tell", "ask", "guide"):
                said = chance.choice({"tell": TOLD, "ask": ASKED, "guide": GUIDES}[action])
                level = {"deliberation_level": chance.randint(0, 3)} if action == "ask" else {}
                body = {"session_id": session_id, "messages": [{"role": "user", "content": said}], **level}
                self._post("/api/chat/completions", body)
            elif action == "load":
                self._post(f"{here}/context", {"content": chance.choice(CLAIMS), "source_id": "pumps"})
            else:
                self._post(f"{here}/kb/{action}", {})
        return session_id

    def replays(self, session_id: str) -> list[str]:
        """Return the result of replaying each turn of the machine, in order."""
        listed = self._api.get(f"/api/sessions/{session_id}/explainability").raise_for_status().json()["turns"]
        turns = [turn["requestId"] for turn in listed if turn.get("kind", "chat") == "chat"]
        answers = (self._api.post(f"/api/sessions/{session_id}/turns/{each}/replay") for each in turns)
        return [answer.json().get("result") or answer.json()["error"]["message"] for answer in answers]

    def _post(self, path: str, body: object) -> dict[str, str]:
        return dict(self._api.post(path, json=body).raise_for_status().json())


WALK_STEPS = 40


def check_replays(results: list[str]) -> None:
    """Assert that every turn replays; the turn with a secret and the one after it may report the redaction instead."""
    assert [result for result in results if result != "identical" and "Secrets" not in result] == []
    assert results.count("identical") >= len(SAID) - 3
    assert len(results) == len(SAID) - 1


def test_turns_replay_after_a_restart(tmp_path: Path, own_services: dict[str, str]) -> None:
    variables = own_services | {"MRPVM_API_KEY": KEY}
    with ServerProcess(tmp_path, **variables) as process:
        session_id = Server(process).talk()
    with ServerProcess(tmp_path, **variables) as process:
        check_replays(Server(process).replays(session_id))


def test_turns_of_a_walk_replay_after_a_restart(tmp_path: Path, own_services: dict[str, str]) -> None:
    variables = own_services | {"MRPVM_API_KEY": KEY}
    with ServerProcess(tmp_path, **variables) as process:
        walked = [Server(process).walk(seed) for seed in range(3)]
    with ServerProcess(tmp_path, **variables) as process:
        results = [each for session_id in walked for each in Server(process).replays(session_id)]
    assert set(results) == {"identical"}
    assert len(results) > 30
