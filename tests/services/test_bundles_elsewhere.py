"""A session that is moved to the other kind of database and back stays byte-identical."""

from collections.abc import Callable
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.server import ServerProcess
from tests.services.node import KEY

pytestmark = pytest.mark.services
SAID = (
    "My dog is called Rex. Rex is seven years old.",
    "What is my dog called?",
    "The ferry to Nore leaves from gate B.",
    "/persona use coach",
    "Where does the ferry leave? And how old is he?",
    "What is the capital of Mars?",
)


def filled(api: httpx.Client) -> str:
    """Return the id of a session after a load, facts, questions, a save and a fork."""
    session_id = str(api.post("/api/sessions", json={}).raise_for_status().json()["session_id"])
    material = {"content": "The pump a1 needs 3 bars. The pump b2 needs 4 bars.", "name": "pumps.md"}
    api.post(f"/api/sessions/{session_id}/context", json=material).raise_for_status()
    for number, message in enumerate(SAID):
        body = {"session_id": session_id, "messages": [{"role": "user", "content": message}]}
        api.post("/api/chat/completions", json=body).raise_for_status()
        if number == 2:
            api.post(f"/api/sessions/{session_id}/kb/save", json={}).raise_for_status()
    return session_id


def replays(api: httpx.Client, session_id: str) -> list[str]:
    """Return the result of replaying each turn of the machine."""
    listed = api.get(f"/api/sessions/{session_id}/explainability").raise_for_status().json()["turns"]
    turns = [turn["requestId"] for turn in listed if turn.get("kind", "chat") == "chat"]
    return [api.post(f"/api/sessions/{session_id}/turns/{each}/replay").json()["result"] for each in turns]


def bundle_of(api: httpx.Client, session_id: str) -> bytes:
    return api.get(f"/api/sessions/{session_id}/bundle").raise_for_status().content


@pytest.mark.rule("BUNDLE-4")
def test_a_bundle_is_the_same_on_either_database_and_back(
    migrated_data: Callable[..., Path], own_services: dict[str, str]
) -> None:
    key = {"MRPVM_API_KEY": KEY}
    bundles: list[bytes] = []
    # SQLite, then the run's own database, then SQLite again: three servers that share nothing.
    for number, services in enumerate(({}, own_services, {})):
        with ServerProcess(migrated_data(str(number)), **key, **services) as process:
            api = httpx.Client(base_url=process.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
            if bundles:
                files = {"file": ("session.zip", bundles[-1], "application/zip")}
                session_id = api.post("/api/bundles", files=files).raise_for_status().json()["session_id"]
            else:
                session_id = filled(api)
            assert set(replays(api, session_id)) == {"identical"}
            bundles.append(bundle_of(api, session_id))
    assert bundles[1] == bundles[0]
    assert bundles[2] == bundles[0]
