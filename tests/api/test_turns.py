"""The registry, turns and payloads by the API."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from mrpvm.errors import Conflict
from sessions_app.actions.turns.running import request_cancel
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.models.turns.payload_frames import Payload, framed, payload_texts, places
from tests.api.conftest import Caller
from tests.api.doubles import RaisingDetector, registered
from tests.payloads import stored_payloads
from tests.retention import age_payloads


@pytest.fixture
def registry(editor: Caller, talked: Session) -> str:
    """Return the address of a registry of five entries; the third is a failed turn."""
    with registered(RaisingDetector()):
        editor.chat("Bad luck", talked.session_id, seed_detector_plugin="sd-raising")
    for message in ("My cat is called Tom.", "What is my cat called?"):
        editor.chat(message, talked.session_id)
    return f"/api/sessions/{talked.session_id}/explainability"


@pytest.mark.rule("DECISION-18", "PAGE-1")
def test_the_registry_lists_every_turn(editor: Caller, registry: str) -> None:
    found = editor.get(registry).json()
    assert found["turn_count"] == 5
    assert found["has_more"] is False
    assert [turn["turnIndex"] for turn in found["turns"]] == [1, 2, 3, 4, 5]
    assert [turn["status"] for turn in found["turns"]] == ["succeeded", "succeeded", "failed", "succeeded", "succeeded"]
    failed = found["turns"][2]
    assert failed["answerStatus"] == "failed"
    assert failed["responseDocument"] is None
    assert failed["error"]["code"] == "PLUGIN_STAGE_EXHAUSTED"
    assert failed["executionTrace"]["finalStatus"] == "failure"
    assert found["turns"][1]["assistantPreview"].startswith("My dog is called Rex.")


@pytest.mark.rule("TURN-25")
def test_an_entry_has_every_field(editor: Caller, registry: str) -> None:
    names = (
        "requestId turnIndex createdAt userMessage assistantPreview answerStatus plannerPlugin seedDetectorPlugin"
        " kbPlugin goalSolverPlugin deliberationLevel responseDocument executionTrace error"
    )
    _, answered, failed = editor.get(registry).json()["turns"][:3]
    assert set(names.split()) <= set(answered)
    assert (answered["userMessage"], answered["answerStatus"], answered["error"]) == (
        "What is my dog called?", "answered", None,
    )  # fmt: skip
    assert answered["kbPlugin"]
    assert set(failed["error"]) >= {"code", "message", "details"}
    assert failed["seedDetectorPlugin"] == "sd-raising"


@pytest.mark.rule("DECISION-22")
def test_the_registry_pages_backwards(editor: Caller, registry: str) -> None:
    newest = editor.get(f"{registry}?limit=2").json()
    assert ([turn["turnIndex"] for turn in newest["turns"]], newest["has_more"]) == ([4, 5], True)
    older = editor.get(f"{registry}?limit=2&before=4").json()
    assert ([turn["turnIndex"] for turn in older["turns"]], older["has_more"]) == ([2, 3], True)
    oldest = editor.get(f"{registry}?limit=2&before=2").json()
    assert ([turn["turnIndex"] for turn in oldest["turns"]], oldest["has_more"]) == ([1], False)
    assert editor.get(f"{registry}?before=0").status_code == 400


@pytest.mark.rule("DECISION-9")
def test_a_registry_page_has_fifty_turns_by_default(editor: Caller, talked: Session) -> None:
    ExplainabilityTurn.objects.bulk_create(
        ExplainabilityTurn(session=talked, turn_index=index, status="succeeded", user_message="x")
        for index in range(3, 63)
    )
    found = editor.get(f"/api/sessions/{talked.session_id}/explainability").json()
    assert [turn["turnIndex"] for turn in found["turns"]] == list(range(13, 63))
    assert (found["turn_count"], found["has_more"]) == (62, True)


@pytest.mark.rule("DECISION-9")
def test_details_come_when_asked_for(editor: Caller, registry: str) -> None:
    assert all(not turn["executionTrace"]["graph"]["details"] for turn in editor.get(registry).json()["turns"])
    for turn in editor.get(f"{registry}?details=full").json()["turns"]:
        graph = turn["executionTrace"]["graph"]
        nodes = [*graph["frames"], *graph["pluginExecutions"], *graph["controlNodes"]]
        assert {node["detailRef"] for node in nodes} <= set(graph["details"])


@pytest.mark.rule("DECISION-9", "GRAPH-13")
def test_every_node_has_a_payload(editor: Caller, talked: Session) -> None:
    turn = talked.turns.get(turn_index=2)
    path = f"/api/sessions/{talked.session_id}/turns/{turn.request_id}"
    graph = editor.get(path).json()["executionTrace"]["graph"]
    for node in [*graph["frames"], *graph["pluginExecutions"], *graph["controlNodes"]]:
        detail = editor.get(f"{path}/details/{node['detailRef']}").json()
        assert (detail["ref"], detail["truncated"], detail["pruned"]) == (node["detailRef"], False, False)
        whole = editor.get(f"{path}/details/{node['detailRef']}?download=1")
        assert whole.headers["Content-Disposition"].startswith("attachment")
        assert json.loads(whole.content)["input"] == detail["input"]
    assert editor.get(f"{path}/details/exec-9~9").json()["error"]["code"] == "DETAIL_NOT_FOUND"
    assert editor.get(f"/api/sessions/{talked.session_id}/turns/req-x").json()["error"]["code"] == "TURN_NOT_FOUND"
    assert editor.get("/api/sessions/none/turns/req-x").json()["error"]["code"] == "SESSION_NOT_FOUND"


@pytest.mark.rule("DECISION-22", "GRAPH-7")
def test_a_long_payload_comes_inline_in_part_and_says_so(editor: Caller, talked: Session, settings: Settings) -> None:
    settings.MRPVM_INLINE_DETAIL_BYTES = 100
    turn = talked.turns.get(turn_index=1)
    path = f"/api/sessions/{talked.session_id}/turns/{turn.request_id}/details/frame-0"
    row = stored_payloads(turn)["frame-0"]
    detail = editor.get(path).json()
    assert (detail["truncated"], detail["size"], detail["input"]) == (True, row.size, None)
    assert len(detail["text"].encode()) <= 100
    whole = editor.get(f"{path}?download=1").content
    assert len(whole) == row.size > 100
    assert whole.decode().startswith(detail["text"])


@pytest.mark.rule("DECISION-5", "DECISION-22", "GRAPH-7")
def test_a_cut_or_pruned_payload_says_so(editor: Caller, talked: Session, settings: Settings) -> None:
    turn = talked.turns.get(turn_index=1)
    path = f"/api/sessions/{talked.session_id}/turns/{turn.request_id}/details/frame-0"
    batch = turn.event_batches.latest("first_sequence")  # a slow turn has written an earlier one
    index, texts = batch.payload_index, payload_texts(batch.payloads, places(batch.payload_index))
    cut = [Payload(ref, text[:-7] if ref == "frame-0" else text, len(text)) for ref, text in texts.items()]
    stored = turn.event_batches.filter(pk=batch.pk)
    stored.update(**dict(zip(("payload_index", "payloads"), framed(cut), strict=True)))
    assert editor.get(path).json()["cutBytes"] == 7
    cut = editor.get(f"{path}?download=1")
    assert cut.headers["X-Cut-Bytes"] == "7"
    assert cut.headers["Content-Disposition"].endswith('.txt"')
    stored.update(payload_index=index, payloads=batch.payloads)
    age_payloads(settings)
    pruned = editor.get(path).json()
    assert (pruned["pruned"], pruned["input"], pruned["output"]) == (True, None, None)


def test_only_a_running_turn_can_be_cancelled(editor: Caller, talked: Session) -> None:
    path = f"/api/sessions/{talked.session_id}/turns/{talked.turns.get(turn_index=1).request_id}/cancel"
    error = editor.post(path).json()["error"]
    assert (error["code"], error["details"]) == ("TURN_NOT_RUNNING", {"status": "succeeded"})
    assert editor.post(path.replace("req-", "req-x")).status_code == 404
    assert not ExplainabilityTurn.objects.filter(cancel_requested_at__isnull=False).exists()


def test_a_turn_that_ends_meanwhile_is_told_as_it_is_now(talked: Session) -> None:
    turn = talked.turns.get(turn_index=1)
    turn.status = ExplainabilityTurn.Status.RUNNING  # as it was when the caller read it
    with pytest.raises(Conflict) as refused:
        request_cancel(turn)
    assert refused.value.details == {"status": "succeeded"}


@pytest.mark.parametrize(("query", "count"), [("", 5), ("?details=full", 7)])
def test_the_registry_costs_the_same_for_any_number_of_turns(
    editor: Caller,
    registry: str,
    query: str,
    count: int,
    known_keys: None,
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    mark = "&" if query else "?"
    editor.get(registry)
    for limit in (1, 5):
        with django_assert_num_queries(count):  # session, page, events, mounts, count; payloads, events again
            editor.get(f"{registry}{query}{mark}limit={limit}")
