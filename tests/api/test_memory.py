"""Rewriting, memory and bias by the public endpoint: the second turn uses what the first one stored."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from sessions_app.actions.settings.projects import change_project
from sessions_app.background.sweeper import sweep
from sessions_app.models import ExplainabilityTurn, Project, Session, SessionMemory
from sessions_app.queries.turns.registry import unit_events
from tests.api.conftest import Caller
from tests.api.test_context import begun
from tests.configured_model import acting
from tests.llm.provider import Provider, refuse, say

PINS = {"seed_detector_plugin": "sd-symbolic", "kb_plugin": "kb-fast", "goal_solver_plugin": "gs-symbolic"}
ALWAYS = {"document_bias": "always", **PINS}


def turn_of(answer: Any) -> ExplainabilityTurn:
    """Return the turn behind an answer."""
    assert answer.status_code == 200, answer.content
    return ExplainabilityTurn.objects.get(request_id=answer.json()["request_id"])


def boosts(answer: Any) -> dict[str, str]:
    """Return the reason of the boost in the ledger, by unit."""
    steps = unit_events(turn_of(answer))
    return {step.unit_id: step.reason for step in steps if "document in use" in step.reason}


@pytest.mark.rule("POLICY-33", "POLICY-37", "FOLLOWUP-27", "FOLLOWUP-46")
def test_what_turn_1_looked_at_ranks_higher_on_turn_2(editor: Caller, manuals: Project) -> None:
    """The ledger has the ranks with and without the boost."""
    first = editor.chat("What does the red pump need?", **ALWAYS)
    assert not boosts(first)
    session_id = first.json()["session_id"]
    used = first.json()["session_memory"]["active_documents"]
    assert "red.pdf" in used
    second = editor.chat("At how many bar does the valve open?", session_id, **ALWAYS)
    assert second.json()["session_memory"]["preferred_documents"] == used
    found = boosts(second)
    assert found
    assert all("x1.15 once: rank" in reason for reason in found.values())
    assert {unit.partition("-")[0] for unit in found} <= set(used)


@pytest.mark.rule("DECISION-48", "POLICY-34")
def test_a_turn_never_prefers_what_it_found_itself(editor: Caller, manuals: Project) -> None:
    first = editor.chat("What does the red pump need?", **ALWAYS).json()
    assert first["session_memory"]["preferred_documents"] == []
    assert first["session_memory"]["turn_count"] == 1


@pytest.mark.rule("DECISION-35")
@pytest.mark.parametrize(
    ("bias", "message", "expected"),
    [
        ("off", "And what about it?", False),
        ("follow-ups", "And what about it?", True),
        ("follow-ups", "How bright is the halogen lamp of the Northern Trust workshop in Boston?", False),
        ("always", "How bright is the halogen lamp of the Northern Trust workshop in Boston?", True),
    ],
)
def test_bias_follows_its_setting(editor: Caller, manuals: Project, bias: str, message: str, expected: bool) -> None:
    first = editor.chat("What does the red pump need?", **PINS).json()
    second = editor.chat(message, first["session_id"], document_bias=bias, **PINS).json()
    assert bool(second["session_memory"]["preferred_documents"]) is expected


@pytest.mark.rule("DECISION-36", "POLICY-51")
def test_bias_goes_by_the_need_even_where_nothing_is_rewritten(editor: Caller, manuals: Project) -> None:
    """Bias and rewriting are switched separately."""
    first = editor.chat("What does the red pump need?", **PINS).json()
    second = editor.chat("And what about it?", first["session_id"], enable_query_rewriting=False, **PINS).json()
    assert second["session_memory"]["preferred_documents"]
    assert "query_rewriting" not in second


@pytest.mark.rule("POLICY-3")
def test_bias_removes_nothing(editor: Caller, manuals: Project) -> None:
    offered = []
    for bias in ("off", "always"):
        first = editor.chat("What does the red pump need?", **PINS).json()
        second = editor.chat("When does the valve of a pump open?", first["session_id"], document_bias=bias, **PINS)
        offered.append({(step.unit_id, step.store) for step in unit_events(turn_of(second))})
    assert offered[0] == offered[1]


@pytest.mark.rule("DECISION-36", "POLICY-25")
def test_a_follow_up_finds_what_it_does_not_name(editor: Caller, manuals: Project) -> None:
    """The search uses the weighted terms; the rewritten sentence is recorded."""
    first = editor.chat("What does the blue pump need?", **PINS).json()
    asked = "And what does it need besides?"
    second = editor.chat(asked, first["session_id"], enable_session_memory=False, **PINS)
    told = second.json()["query_rewriting"]
    assert (told["original_query"], told["was_rewritten"]) == (asked, True)
    assert "blue" in {item["term"] for item in told["terms"]}
    reasons = [step.reason for step in unit_events(turn_of(second)) if step.unit_id == "blue.pdf-0"]
    assert any("blue" in reason for reason in reasons)
    assert turn_of(second).context_report["rewriting"] == told


@pytest.mark.rule("FOLLOWUP-1")
def test_a_first_message_is_not_rewritten(editor: Caller) -> None:
    told = editor.chat("What is it?", **PINS).json()["query_rewriting"]
    assert (told["skip_code"], told["terms"]) == ("no_history", [])


def test_an_answer_names_the_terms_that_its_turn_added(editor: Caller) -> None:
    """Older terms are not repeated in every answer, which would grow with the session."""
    session_id = editor.chat("My car is red. My bike is blue. What is my car?", **PINS).json()["session_id"]
    second = editor.chat("What is my bike?", session_id, **PINS).json()["session_memory"]["resolved_terms"]
    found = editor.get(f"/api/sessions/{session_id}/memory").json()["resolved_terms"]
    assert second == [item["term"] for item in found if item["turn_index"] == 2]
    assert len(found) > len(second) > 0


@pytest.mark.rule("POLICY-30", "POLICY-38")
def test_memory_is_read_and_cleared(
    editor: Caller, manuals: Project, caller: Callable[..., Caller], stranger: Caller
) -> None:
    session_id = editor.chat("What does the red pump need?", **PINS).json()["session_id"]
    path = f"/api/sessions/{session_id}/memory"
    found = editor.get(path).json()
    assert found["turn_count"] == 1
    assert found["resolved_terms"] or found["active_documents"]
    assert stranger.get(path).status_code == 404
    assert stranger.delete(path).status_code == 204  # as for an id that never existed
    assert editor.get(path).json()["turn_count"] == 1
    assert caller("viewer").delete(path).status_code == 403
    assert editor.delete(path).status_code == 204
    assert editor.delete(path).status_code == 204
    assert editor.get(path).json()["turn_count"] == 0
    assert list(Session.objects.get().events.filter(kind="memory.cleared").values_list("kind", flat=True)) == [
        "memory.cleared"
    ]


@pytest.mark.rule("DECISION-43", "POLICY-30", "FOLLOWUP-30")
def test_memory_starts_anew_after_its_time(editor: Caller, manuals: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """After exactly four hours it is kept; a moment later it is gone, without an error."""
    session_id = editor.chat("What does the red pump need?", **ALWAYS).json()["session_id"]
    used_at = SessionMemory.objects.get().last_accessed_at
    for late, count in ((timedelta(hours=4), 2), (timedelta(hours=4, microseconds=1), 1)):
        moment = used_at + late
        monkeypatch.setattr("sessions_app.turns.state.timezone.now", lambda moment=moment: moment)
        told = editor.chat("And the valve?", session_id, **ALWAYS).json()["session_memory"]
        assert told["turn_count"] == count
        assert bool(told["preferred_documents"]) is (count == 2)
        used_at = SessionMemory.objects.get().last_accessed_at


def test_the_sweep_removes_what_has_expired(editor: Caller, manuals: Project) -> None:
    editor.chat("What does the red pump need?", **PINS)
    assert sweep()["forgotten"] == 0
    SessionMemory.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert sweep()["forgotten"] == 1


@pytest.mark.rule("POLICY-31", "FOLLOWUP-31")
def test_a_project_keeps_as_many_memories_as_it_says(editor: Caller, manuals: Project) -> None:
    """Of 105 sessions, the 100 that were used last keep their memory; without a limit all do."""
    now = timezone.now()
    SessionMemory.objects.bulk_create(
        SessionMemory(project=manuals, owner=f"client-{place}", last_accessed_at=now - timedelta(minutes=200 - place),
                      expires_at=now + timedelta(hours=4))
        for place in range(104)
    )  # fmt: skip
    editor.chat("What does the red pump need?", **PINS)
    assert SessionMemory.objects.count() == 105
    SessionMemory.objects.order_by("-pk").first().delete()
    change_project(manuals, manuals.name, manuals.slug, "", {}, session_memory_limit=100)
    newest = editor.chat("What does the red pump need?", **PINS).json()["session_id"]
    kept = set(SessionMemory.objects.values_list("owner", flat=True))
    assert kept == {newest, *(f"client-{place}" for place in range(5, 104))}


@pytest.mark.rule("DECISION-48")
def test_a_failed_turn_leaves_memory_as_it_was(editor: Caller, manuals: Project) -> None:
    from tests.api.doubles import WaitingSolver, registered

    session_id = editor.chat("What does the red pump need?", **PINS).json()["session_id"]
    before = SessionMemory.objects.values().get()
    with registered(WaitingSolver()) as solver:
        solver.go_on.set()
        failed = editor.chat("And the valve?", session_id, goal_solver_plugin="gs-waiting")
    assert failed.status_code == 422
    assert SessionMemory.objects.values().get() == before


@pytest.mark.rule("FOLLOWUP-43")
def test_with_memory_off_there_is_none(editor: Caller, manuals: Project) -> None:
    answer = editor.chat("What does the red pump need?", enable_session_memory=False, **PINS).json()
    assert "session_memory" not in answer
    assert not SessionMemory.objects.exists()


@pytest.mark.rule("SESSION-5", "POLICY-5", "POLICY-14", "FOLLOWUP-45")
def test_two_callers_without_a_session_share_nothing(editor: Caller, manuals: Project) -> None:
    editor.chat("What does the red pump need?", **ALWAYS)
    answer = editor.chat("And the valve?", **ALWAYS).json()
    assert answer["session_memory"]["preferred_documents"] == []
    assert SessionMemory.objects.count() == 2


@pytest.mark.rule("DECISION-43")
def test_an_expired_client_named_session_keeps_its_memory(editor: Caller, manuals: Project) -> None:
    """Sessions and memories expire independently."""
    body = {"messages": [{"role": "user", "content": "What does the red pump need?"}], **ALWAYS}
    editor.post("/api/chat/completions", body, X_Session_Id="window-7")
    Session.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    told = editor.post("/api/chat/completions", body, X_Session_Id="window-7").json()
    assert told["session_id"] != "window-7"
    assert told["session_memory"]["turn_count"] == 2
    assert told["session_memory"]["preferred_documents"]


@pytest.mark.rule("POLICY-28")
def test_a_models_rewriting_is_kept_with_its_request(editor: Caller, provider: Provider) -> None:
    session = begun(editor, 4)
    provider.otherwise = acting(say("What does thing 3 cost in euros?"))
    told = editor.chat("What does it cost?", session.session_id, **PINS)
    assert told.json()["query_rewriting"]["rewritten_query"] == "What does thing 3 cost in euros?"
    assert told.json()["query_rewriting"]["by"] == "model"
    requests = turn_of(told).context_report["requests"]
    assert "Message: What does it cost?" in requests[0]["body"]["messages"][-1]["content"]


@pytest.mark.rule("DECISION-48")
def test_a_message_of_two_questions_is_rewritten_once_for_both(editor: Caller, provider: Provider) -> None:
    """The frames of its questions use the same rewriting."""
    session = begun(editor, 4)
    provider.otherwise = acting(say("What does thing 3 cost in euros and in yen?"))
    answer = editor.chat("What does it cost? Why is it so much?", session.session_id, **PINS)
    graph = answer.json()["execution_trace"]["graph"]
    assert [frame["id"] for frame in graph["frames"]] == ["frame-0", "frame-0.1", "frame-0.2"]
    assert len(turn_of(answer).context_report["requests"]) == len(provider.asked) == 1
    assert answer.json()["query_rewriting"]["by"] == "model"


@pytest.mark.rule("POLICY-24")
def test_a_model_that_does_not_answer_leaves_the_original(editor: Caller, provider: Provider) -> None:
    session = begun(editor, 4)
    provider.otherwise = refuse(400)
    told = editor.chat("What does it cost?", session.session_id, **PINS).json()["query_rewriting"]
    assert (told["rewritten_query"], told["skip_code"]) == ("What does it cost?", "llm_error")
    assert told["terms"]


@pytest.mark.rule("WINDOW-43", "POLICY-52")
def test_a_memory_that_cannot_be_made_leaves_the_one_before(
    editor: Caller, manuals: Project, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("a defect")

    first = editor.chat("What does the red pump need?", **PINS).json()
    before = SessionMemory.objects.values().get()
    monkeypatch.setattr("sessions_app.turns.commit.after_turn", broken)
    answer = editor.chat("And what about the valve?", first["session_id"], **PINS)
    assert turn_of(answer).context_report["warnings"] == ["memory_failed"]
    assert SessionMemory.objects.values().get() == before


@pytest.mark.rule("POLICY-38")
@pytest.mark.parametrize("damaged", ["{bad", {"terms": "x"}, {"documents": [["only-one"]]}, 7])
def test_a_damaged_memory_is_as_good_as_none(editor: Caller, manuals: Project, damaged: Any) -> None:
    first = editor.chat("What does the red pump need?", **PINS).json()
    SessionMemory.objects.update(record=damaged)
    second = editor.chat("And what about it?", first["session_id"], **PINS).json()
    assert second["session_memory"]["turn_count"] == 1
    assert second["session_memory"]["preferred_documents"] == []


@pytest.mark.rule("WINDOW-42", "POLICY-30")
def test_a_named_term_outside_the_window_is_sent(
    editor: Caller, manuals: Project, provider: Provider, unvalidated: None
) -> None:
    session_id = editor.chat("Tell me about the red pump.", **PINS).json()["session_id"]
    asked = {"goal_solver_plugin": "gs-llm-fast", "seed_detector_plugin": "sd-symbolic", "history_max_turns": 1,
             "enable_history_summarization": False}  # fmt: skip
    editor.chat("My dog is called Rex.", session_id, **asked)
    for flags, is_told in (({}, True), ({"enable_session_memory": False}, False), ({"history_max_turns": 9}, False)):
        message = "How old is the red pump?"
        answer = editor.chat(message, session_id, **{**asked, **flags})
        told = [item for item in turn_of(answer).context_report["sections"] if item["name"] == "memory"]
        assert bool(told) is is_told
        sent = [item["content"] for item in answer.json()["outbound_request"]["messages"]]
        assert any("Known from earlier turns:" in text and "grade five" in text for text in sent) is is_told


@pytest.mark.rule("POLICY-52")
def test_a_defect_of_rewriting_costs_the_turn_nothing(editor: Caller, monkeypatch: pytest.MonkeyPatch) -> None:

    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError("a defect")

    session = begun(editor, 4)
    monkeypatch.setattr("mrpvm.conversation.preparation.rewrite", broken)
    answer = editor.chat("What does it cost?", session.session_id, **PINS)
    assert turn_of(answer).context_report["warnings"] == ["rewriting_failed"]
    assert "query_rewriting" not in answer.json()
