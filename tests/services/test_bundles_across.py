"""A session moves from SQLite to PostgreSQL and back as a bundle, and its turns replay on either side of a restart."""

from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

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

    def bundle(self, session_id: str) -> bytes:
        return bytes(self._api.get(f"/api/sessions/{session_id}/bundle").raise_for_status().content)

    def imported(self, bundle: bytes) -> str:
        files = {"file": ("session.zip", bundle, "application/zip")}
        return str(self._api.post("/api/bundles", files=files).raise_for_status().json()["session_id"])

    def replays(self, session_id: str) -> list[str]:
        """Return what came of replaying each turn of the machine, in order."""
        listed = self._api.get(f"/api/sessions/{session_id}/explainability").raise_for_status().json()["turns"]
        turns = [turn["requestId"] for turn in listed if turn.get("kind", "chat") == "chat"]
        answers = (self._api.post(f"/api/sessions/{session_id}/turns/{each}/replay") for each in turns)
        return [answer.json().get("result") or answer.json()["message"] for answer in answers]

    def _post(self, path: str, body: object) -> dict[str, str]:
        return dict(self._api.post(path, json=body).raise_for_status().json())


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "sqlite").mkdir()
    with ServerProcess(tmp_path / "sqlite", MRPVM_API_KEY=KEY) as process:
        yield Server(process)


@pytest.fixture
def postgresql(tmp_path: Path, own_services: dict[str, str]) -> Iterator[Server]:
    assert own_services, "this needs PostgreSQL"
    (tmp_path / "postgresql").mkdir()
    with ServerProcess(tmp_path / "postgresql", MRPVM_API_KEY=KEY, **own_services) as process:
        yield Server(process)


@pytest.mark.parametrize("way", ["to PostgreSQL", "to SQLite"])
def test_a_bundle_is_byte_equal_and_replays_across(sqlite: Server, postgresql: Server, way: str) -> None:
    here, there = (sqlite, postgresql) if way == "to PostgreSQL" else (postgresql, sqlite)
    session_id = here.talk()
    bundle = here.bundle(session_id)
    moved = there.imported(bundle)
    assert there.bundle(moved) == bundle
    assert here.replays(session_id) == there.replays(moved) == ["identical"] * (len(SAID) - 1)


def test_turns_replay_after_a_restart(tmp_path: Path, own_services: dict[str, str]) -> None:
    variables = own_services | {"MRPVM_API_KEY": KEY}
    with ServerProcess(tmp_path, **variables) as process:
        session_id = Server(process).talk()
    with ServerProcess(tmp_path, **variables) as process:
        assert Server(process).replays(session_id) == ["identical"] * (len(SAID) - 1)
