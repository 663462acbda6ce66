"""Replay, trials and diagnosis by the API; every answer is validated against the schema."""

from collections.abc import Callable
from typing import Any

import pytest

from sessions_app.models import ExplainabilityTurn, Session
from tests.api.conftest import Caller


@pytest.fixture
def address(talked: Session) -> str:
    """Return the address of the session's last turn."""
    turn = talked.turns.order_by("-turn_index")[0]
    return f"/api/sessions/{talked.session_id}/turns/{turn.request_id}"


def test_a_viewer_replays_a_turn(caller: Callable[..., Caller], address: str) -> None:
    answer = caller("viewer").post(f"{address}/replay")
    assert answer.status_code == 200
    assert (answer.json()["result"], answer.json()["divergence"]) == ("identical", None)


@pytest.fixture
def tried(editor: Caller, talked: Session) -> Callable[..., dict[str, Any]]:
    """Return a function that runs trials of the session's last turn and returns their experiment."""
    turn = talked.turns.order_by("-turn_index")[0]

    def run(*changes: dict[str, Any]) -> dict[str, Any]:
        body = {"session_id": talked.session_id, "request_id": turn.request_id, "wait_ms": 30_000}
        answer = editor.post("/api/experiments", {**body, "trials": list(changes)})
        assert answer.status_code == 201, answer.content
        return dict(answer.json())

    return run


def test_trials_answer_what_their_changes_lead_to(editor: Caller, tried: Callable[..., dict[str, Any]]) -> None:
    made = tried({"message": "Who is Rex?"}, {})
    other, same = made["trials"]
    assert "Rex" in other["answer"]
    assert same["has_effect"] is False
    [cited] = same["cited_unit_ids"]
    address = f"/api/experiments/{made['experiment_id']}"
    more = editor.post(f"{address}/trials", {"trials": [{"without_units": [cited]}], "wait_ms": 30_000}).json()
    without = more["trials"][2]
    assert (without["answer_status"], without["changes"]) == ("no-context", {"withoutUnits": [cited]})
    assert editor.get(address).json() == more
    assert ExplainabilityTurn.objects.count() == 2


def test_a_trial_s_trace_is_read_like_a_turn_s(
    editor: Caller, talked: Session, tried: Callable[..., dict[str, Any]]
) -> None:
    [trial] = tried({})["trials"]
    turn = editor.get(f"/api/sessions/{talked.session_id}/turns/{trial['request_id']}").json()
    assert turn["executionTrace"]["graph"]
    assert editor.get(f"/api/sessions/{talked.session_id}/explainability").json()["turn_count"] == 2
    replay = editor.post(f"/api/sessions/{talked.session_id}/turns/{trial['request_id']}/replay")
    assert replay.status_code == 404


def test_a_message_that_was_never_sent_is_tried(editor: Caller, talked: Session) -> None:
    body = {"session_id": talked.session_id, "message": "Who is Rex?", "trials": [{}], "wait_ms": 30_000}
    made = editor.post("/api/experiments", body).json()
    assert (made["request_id"], made["message"]) == (None, "Who is Rex?")
    assert "Rex" in made["trials"][0]["answer"]


@pytest.mark.parametrize(
    "body",
    [
        {"message": " "}, {"deliberation_level": 7}, {"goal_solver_plugin": "gs-nobody"}, {"limits": {"wishes": 3}},
        {"flags": {"enable_quotes": "perhaps"}}, {"without_units": ["x"] * 201},
    ],
)  # fmt: skip
def test_a_trial_that_cannot_be_is_refused(editor: Caller, talked: Session, body: dict[str, object]) -> None:
    turn = talked.turns.order_by("-turn_index")[0]
    asked = {"session_id": talked.session_id, "request_id": turn.request_id, "trials": [body]}
    assert editor.post("/api/experiments", asked).status_code == 400
    assert editor.get("/api/experiments").json()["experiments"] == []


def test_a_diagnosis_names_the_unit_that_decides(editor: Caller, address: str) -> None:
    found = editor.post(f"{address}/diagnosis", {"should_not_contain": "Rex"}).json()
    assert (found["result"], found["findings"][0]["kind"]) == ("found", "unit")
    assert found["findings"][0]["effect"]["meets"] is True
    assert found["tried"] >= 1
    [listed] = editor.get("/api/experiments?kind=diagnosis").json()["experiments"]
    assert (listed["experiment_id"], listed["tried"]) == (found["experiment_id"], found["tried"])


def test_a_bisect_names_the_turn_since_which(editor: Caller, talked: Session, address: str) -> None:
    found = editor.post(f"{address}/bisect", {"should_contain": "Rex", "wait_ms": 30_000}).json()["found"]
    assert (found["result"], found["number"], found["over"]) == ("found", 1, "session")
    over_base = editor.post(f"{address}/bisect", {"kb_id": "default", "wait_ms": 30_000}).json()["found"]
    assert (over_base["result"], over_base["moment_count"]) == ("always", 1)


def test_strangers_are_told_that_there_is_no_such_thing(
    stranger: Caller, address: str, tried: Callable[..., dict[str, Any]]
) -> None:
    for part in ("replay", "diagnosis", "bisect"):
        assert stranger.post(f"{address}/{part}").status_code == 404
    own = f"/api/experiments/{tried({})['experiment_id']}"
    assert [call(own).status_code for call in (stranger.get, stranger.delete)] == [404, 204]
    assert stranger.post(f"{own}/cancel").status_code == 404
    assert stranger.get("/api/experiments").json()["experiments"] == []


def test_a_viewer_runs_experiments_and_leaves_those_of_others(
    caller: Callable[..., Caller], address: str, tried: Callable[..., dict[str, Any]]
) -> None:
    viewer, others = caller("viewer"), f"/api/experiments/{tried({})['experiment_id']}"
    own = viewer.post(f"{address}/diagnosis").json()["experiment_id"]
    assert viewer.get(others).status_code == 200
    assert viewer.delete(others).status_code == 403
    assert viewer.delete(f"/api/experiments/{own}").status_code == 204
    assert viewer.get(f"/api/experiments/{own}").status_code == 404


def test_what_has_ended_cannot_be_stopped(editor: Caller, tried: Callable[..., dict[str, Any]]) -> None:
    answer = editor.post(f"/api/experiments/{tried({})['experiment_id']}/cancel")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "EXPERIMENT_NOT_RUNNING")


def test_what_cannot_be_replayed_says_why(editor: Caller, address: str) -> None:
    ExplainabilityTurn.objects.update(view=None, conditions=None)
    answer = editor.post(f"{address}/replay")
    told = answer.json()["error"]
    assert (answer.status_code, told["code"], told["details"]["missing"]) == (409, "NOT_REPLAYABLE", "view")


def test_an_error_names_which_of_the_trials_is_wrong(editor: Caller, talked: Session) -> None:
    body = {"session_id": talked.session_id, "trials": [{}, {"deliberation_level": 9}]}
    answer = editor.post("/api/experiments", body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("trials.1.deliberation_level: ")
