"""Replay, trials and diagnosis over the API; every answer is held against the schema."""

from collections.abc import Callable

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


def test_a_trial_answers_what_its_changes_lead_to(editor: Caller, address: str) -> None:
    said = editor.post(f"{address}/trials", {"message": "Who is Rex?"}).json()
    assert "Rex" in said["answer"]
    [cited] = editor.post(f"{address}/trials").json()["cited_unit_ids"]
    without = editor.post(f"{address}/trials", {"without_units": [cited]}).json()
    assert (without["answer_status"], without["has_effect"]) == ("no-context", True)
    assert without["changes"] == {"withoutUnits": [cited]}
    assert editor.post(f"{address}/trials").json()["has_effect"] is False
    assert ExplainabilityTurn.objects.count() == 2


@pytest.mark.parametrize(
    "body",
    [
        {"message": " "}, {"deliberation_level": 7}, {"goal_solver_plugin": "gs-nobody"}, {"limits": {"wishes": 3}},
        {"flags": {"enable_quotes": "perhaps"}}, {"without_units": ["x"] * 201}, {"base": "kb-nobody"},
    ],
)  # fmt: skip
def test_a_trial_that_cannot_be_is_refused(editor: Caller, address: str, body: dict[str, object]) -> None:
    assert editor.post(f"{address}/trials", body).status_code in (400, 404)


def test_a_diagnosis_names_the_unit_that_decides(editor: Caller, address: str) -> None:
    found = editor.post(f"{address}/diagnosis", {"should_not_contain": "Rex"}).json()
    assert (found["result"], found["findings"][0]["kind"]) == ("found", "unit")
    assert found["findings"][0]["effect"]["meets"] is True
    assert found["tried"] >= 1


def test_strangers_are_told_that_there_is_no_such_turn(stranger: Caller, address: str) -> None:
    for part in ("replay", "trials", "diagnosis"):
        assert stranger.post(f"{address}/{part}").status_code == 404


def test_what_cannot_be_replayed_says_why(editor: Caller, address: str) -> None:
    ExplainabilityTurn.objects.update(view=None, conditions=None)
    answer = editor.post(f"{address}/replay")
    told = answer.json()["error"]
    assert (answer.status_code, told["code"], told["details"]["missing"]) == (409, "NOT_REPLAYABLE", "view")
