"""One mrpvm server sends its turns to another over HTTP; the sender is a process of its own."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
import pytest

from tests.api.conftest import Caller
from tests.live import LiveServer
from tests.server import ServerProcess

WAIT_SECONDS = 20
MESSAGES = ("My dog is called Rex. My cat is called Tom.", "What is my dog called? How old is my cat?")


@pytest.fixture
def sender(migrated_data: Callable[..., Path], live_asgi: LiveServer, editor: Caller) -> Iterator[ServerProcess]:
    """Return the server that sends its turns to the live one, with their content."""
    with ServerProcess(
        migrated_data("sender"),
        OTEL_EXPORTER_OTLP_ENDPOINT=live_asgi.url,
        OTEL_EXPORTER_OTLP_HEADERS=f"Authorization={quote(editor.headers['Authorization'])}",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true",
        OTEL_BSP_SCHEDULE_DELAY="100",
    ) as server:
        yield server


def api(url: str, authorization: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": authorization}, timeout=30)


def turn_of(client: httpx.Client, listed: dict[str, Any]) -> dict[str, Any]:
    """Return the complete turn of a row in the list."""
    answer = client.get(f"/api/sessions/{listed['session_id']}/turns/{listed['request_id']}")
    return dict(answer.raise_for_status().json())


def shape(turn: dict[str, Any]) -> Any:
    """Return the turn's graph: its nodes with their states, and its edges."""
    drawn = turn["executionTrace"]["graph"]
    frames = {(item["id"], item["parentFrameId"], item["label"], item["status"]) for item in drawn["frames"]}
    runs = {(item["id"], item["frameId"], item["pluginId"], item["status"]) for item in drawn["pluginExecutions"]}
    return frames, runs, {(item["from"], item["to"], item["kind"]) for item in drawn["edges"]}


def test_what_one_server_sent_another_draws_alike(sender: ServerProcess, live_asgi: LiveServer, editor: Caller) -> None:
    with (
        api(sender.url, f"Bearer {sender.api_key}") as here,
        api(live_asgi.url, editor.headers["Authorization"]) as there,
    ):
        session_id = None
        for message in MESSAGES:
            body = {"messages": [{"role": "user", "content": message}], "session_id": session_id}
            answer = here.post("/api/chat/completions", json={name: item for name, item in body.items() if item})
            session_id = answer.raise_for_status().json()["session_id"]
        until = time.monotonic() + WAIT_SECONDS
        came: list[dict[str, Any]] = []
        while len(came) < len(MESSAGES):
            assert time.monotonic() < until, sender.output
            time.sleep(0.1)
            came = there.get("/api/turns", params={"q": "is:imported"}).raise_for_status().json()["turns"]
        sent = here.get("/api/turns").raise_for_status().json()["turns"]
        assert [row["user_message"] for row in came] == [row["user_message"] for row in sent] == list(MESSAGES[::-1])
        for ours, theirs in zip(sent, came, strict=True):
            assert shape(turn_of(there, theirs)) == shape(turn_of(here, ours))
            assert (theirs["assistant_preview"], theirs["answer_basis"]) == (
                ours["assistant_preview"],
                ours["answer_basis"],
            )
        assert {row["session_id"] for row in came} == {f"otel-{session_id}"}
