"""Saved filters, exports of turns, and turns kept as tests, by the API."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from sessions_app.models import AuditEntry, ExplainabilityTurn
from tests.api.conftest import Caller


def body_of(answer: Any) -> str:
    async def read() -> bytes:
        return b"".join([piece async for piece in answer.streaming_content])

    return async_to_sync(read)().decode()


@pytest.fixture
def viewer(caller: Callable[..., Caller]) -> Caller:
    return caller("viewer")


def test_filters_are_saved_changed_and_deleted(editor: Caller, viewer: Caller) -> None:
    made = editor.post("/api/turns/filters", {"name": "Slow", "q": "is:slow"})
    assert made.status_code == 201
    path = f"/api/turns/filters/{made.json()['filter_id']}"
    assert viewer.get("/api/turns/filters").json()["filters"] == [made.json()]
    assert editor.post("/api/turns/filters", {"name": "Slow", "q": "x"}).json()["error"]["code"] == "FILTER_EXISTS"
    assert editor.post("/api/turns/filters", {"name": "Bad", "q": "is:slw"}).status_code == 400
    assert editor.patch(path, {"q": "duration:>2s"}).json()["q"] == "duration:>2s"
    assert viewer.patch(path, {"q": "x"}).status_code == 403
    assert editor.delete(path).status_code == editor.delete(path).status_code == 204
    assert editor.patch(path, {"q": "x"}).json()["error"]["code"] == "FILTER_NOT_FOUND"


def test_turns_are_sent_whole_in_pieces_without_formulas(editor: Caller, viewer: Caller, settings: Settings) -> None:
    settings.MRPVM_ROWS_A_PIECE = 2
    session_id = None
    for message in ("=1+1 is a formula.", "My dog is called Rex.", "What is my dog called?"):
        session_id = editor.chat(message, session_id).json()["session_id"]
    answer = editor.chat("Who is the captain?", session_id).json()["choices"][0]["message"]["content"]
    lines = [json.loads(line) for line in body_of(viewer.get("/api/turns/export")).splitlines()]
    assert [line["user_message"] for line in lines][-1] == "=1+1 is a formula."
    assert lines[0]["answer"] == answer
    rows = list(csv.DictReader(io.StringIO(body_of(viewer.get("/api/turns/export?format=csv&q=formula")))))
    assert [row["user_message"] for row in rows] == ["'=1+1 is a formula."]
    assert int(rows[0]["turn_index"]) == 1
    assert viewer.get("/api/turns/export?q=status:x").status_code == 400
    exported = AuditEntry.objects.filter(kind="export.made", subject="turns").values_list("facts", flat=True)
    assert list(exported) == [{"form": "csv", "filter": "formula"}, {"form": "jsonl", "filter": ""}]


def test_turns_are_kept_as_tests_all_or_none(editor: Caller, caller: Callable[..., Caller]) -> None:
    session_id = editor.chat("My dog is called Rex.").json()["session_id"]
    editor.chat("What is my dog called?", session_id)
    suite_id = editor.post("/api/suites", {"name": "Dogs"}).json()["suite_id"]
    path = f"/api/suites/{suite_id}/tests/keep"
    ids = list(ExplainabilityTurn.objects.values_list("request_id", flat=True))
    kept = editor.post(path, {"request_ids": ids[:1]}).json()
    assert [test["request_id"] for test in kept["tests"]] == ids[:1]
    again = editor.post(path, {"q": "dog"}).json()
    assert [test["request_id"] for test in again["tests"]] == ids[1:]
    assert [turn["request_id"] for turn in again["refused"]] == ids[:1]
    for bad in ({}, {"request_ids": [], "q": "x"}, {"q": "is:slw"}):
        assert editor.post(path, bad).status_code == 400
    assert editor.post(path, {"request_ids": ["req-none"]}).json()["error"]["code"] == "TURN_NOT_FOUND"
    assert caller("viewer").post(path, {"q": "dog"}).status_code == 403
