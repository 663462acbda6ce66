"""Progress events of a source while it is read and stored."""

import http.client
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_django import Settings

from sessions_app.api.turns.stream_threads import StreamThreads
from sessions_app.models import KnowledgeSource, Project
from tests.api.conftest import Caller
from tests.live import LiveServer

TEXT = "\n\n".join(f"# Deck {number}\n\nDog {number} travels on deck {number}." for number in range(6))
SOURCES = "/api/kbs/default/sources"


@pytest.fixture(autouse=True)
def in_small_steps(settings: Settings) -> None:
    settings.MRPVM_UNITS_A_TRANSACTION = 2
    settings.MRPVM_PROGRESS_SECONDS = 0


def streamed(server: LiveServer, caller: Caller, path: str, body: dict[str, Any]) -> tuple[int, str]:
    connection = http.client.HTTPConnection(server.address, timeout=20)
    headers = {"Content-Type": "application/json", **caller.headers}
    connection.request("POST", f"{path}?stream=true", json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def events(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for frame in text.strip().split("\n\n"):
        name, data = frame.split("\n")
        yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.mark.parametrize("in_session", [False, True])
def test_the_stages_come_before_the_source(
    project: Project, live_asgi: LiveServer, editor: Caller, session_id: str, in_session: bool
) -> None:
    path = f"/api/sessions/{session_id}/workspace/sources" if in_session else SOURCES
    status, text = streamed(live_asgi, editor, path, {"name": "decks.md", "content": TEXT})
    assert status == 200
    told = list(events(text))
    *stages, (last, made) = told
    assert (last, made["name"], made["unitCount"]) == ("response.completed", "decks.md", 7)
    assert {name for name, _ in stages} == {"progress"}
    reading = [data["done"] for _, data in stages if data["stage"] == "reading"]
    storing = [data["done"] for _, data in stages if data["stage"] == "storing"]
    assert reading == sorted(reading) == list(range(6))
    assert storing == sorted(storing)
    assert stages[-1][1] == {"type": "source", "stage": "storing", "done": 6, "of": 7} or in_session
    assert KnowledgeSource.objects.get().unit_count == 7


@pytest.mark.rule("API-5")
def test_what_is_refused_at_once_is_a_plain_answer(project: Project, live_asgi: LiveServer, editor: Caller) -> None:
    status, text = streamed(live_asgi, editor, SOURCES, {"name": "a", "content": "Dogs.", "source_id": "../a"})
    assert (status, json.loads(text)["error"]["code"]) == (400, "INVALID_SOURCE_ID")


def test_a_late_refusal_ends_the_stream_and_leaves_nothing(
    project: Project, live_asgi: LiveServer, editor: Caller, settings: Settings
) -> None:
    settings.MRPVM_READ_APART_BYTES, settings.MRPVM_MAX_SOURCE_UNITS = 10**9, 6
    status, text = streamed(live_asgi, editor, SOURCES, {"name": "decks.md", "content": TEXT})
    assert status == 200
    *_, (last, data) = events(text)
    assert (last, data["error"]["code"]) == ("error", "KB_VALIDATION_MAX_UNITS_PER_SOURCE")
    assert not KnowledgeSource.objects.exists()


def test_more_streamed_sources_than_places_are_refused(
    project: Project, live_asgi: LiveServer, editor: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, go_on = StreamThreads("full", 1), threading.Event()
    threads.start(go_on.wait)
    monkeypatch.setattr("sessions_app.api.knowledge.source_stream._threads", threads)
    status, text = streamed(live_asgi, editor, SOURCES, {"name": "decks.md", "content": TEXT})
    go_on.set()
    assert (status, json.loads(text)["error"]["code"]) == (503, "SERVER_BUSY")


def test_a_stream_ends_although_its_connections_cannot_be_closed(
    project: Project, live_asgi: LiveServer, editor: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OSError("the database is gone")

    monkeypatch.setattr("sessions_app.api.knowledge.source_stream.connections", SimpleNamespace(close_all=fail))
    status, text = streamed(live_asgi, editor, SOURCES, {"name": "a", "content": "Dogs.", "source_id": "../a"})
    assert (status, json.loads(text)["error"]["code"]) == (400, "INVALID_SOURCE_ID")
