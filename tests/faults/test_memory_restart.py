"""The second turn has the memory of the first one after the server was killed between them."""

from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from tests.server import ServerProcess

pytestmark = pytest.mark.crash

KEY = "mrp_" + "m" * 32
MANUAL = "# Pumps\n\nThe red pump needs oil of grade five.\n\nThe valve of the red pump opens at nine bar.\n"
PINS = {"seed_detector_plugin": "sd-symbolic", "kb_plugin": "kb-fast", "document_bias": "always"}


def chat(server: ServerProcess, message: str, **more: Any) -> dict[str, Any]:
    """Run one turn; return its answer."""
    body = {"messages": [{"role": "user", "content": message}], **PINS, **more}
    headers = {"Authorization": f"Bearer {KEY}"}
    answer = httpx.post(f"{server.url}/api/chat/completions", json=body, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_preferences_survive_a_killed_process(tmp_path: Path, own_services: dict[str, str]) -> None:
    variables = own_services | {"MRPVM_API_KEY": KEY}
    with ServerProcess(tmp_path, **variables) as server:
        headers = {"Authorization": f"Bearer {KEY}"}
        source = {"name": "pumps.md", "content": MANUAL}
        made = httpx.post(f"{server.url}/api/kbs/default/sources", json=source, headers=headers, timeout=60)
        assert made.status_code == 201, made.text
        first = chat(server, "What does the red pump need?")
        used = first["session_memory"]["active_documents"]
        assert used == [made.json()["sourceId"]]
        server.process.kill()
    with ServerProcess(tmp_path, **variables) as server:
        second = chat(server, "At how many bar does its valve open?", session_id=first["session_id"])
    assert second["session_memory"]["preferred_documents"] == used
    assert second["session_memory"]["turn_count"] == 2
    assert second["query_rewriting"]["terms"]
