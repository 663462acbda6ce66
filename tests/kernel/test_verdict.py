"""The verdict of a turn, which is made only from its records."""

from copy import replace
from typing import Any

import pytest

from mrpvm.trace.events import Event, PluginFinished, PluginStarted, TurnStarted
from mrpvm.trace.verdict import LEADS, MountedBase, VerdictInput, other_value, verdict_of
from mrpvm.values import Selection
from tests.kernel import scripted

BASE = MountedBase("kb-1", "Handbook", 2, 40)
QUESTION = VerdictInput(
    kind="question", status="succeeded", outcome="answered", basis="stated", message="Where do cars board?", base=BASE
)


def unit(unit_id: str, text: str, source: str = "") -> dict[str, Any]:
    return {"id": unit_id, "claim": text, "sourceId": source or "session", "sourceName": source or None}


def group(*units: dict[str, Any], cited: tuple[str, ...] = (), reason: str = "") -> dict[str, Any]:
    status = "answered" if cited else "no-context"
    entries = [{"unitId": each["id"], "score": 1.0, "unit": each} for each in units]
    return {"intent": "Why?", "status": status, "citedUnitIds": cited, "kbSources": entries, "reason": reason}


def started(**selections: Selection) -> Event:
    data = TurnStarted(
        request_id="r", session_id="s", input_message="", deliberation_level=0, effective_level=0, **selections
    )
    return Event(at_ms=0, data=data)


def ran(plugin_id: str, status: str, *, stage: str = "goal-solver", llm_calls: int = 0, code: str = "X") -> list[Event]:
    begun = PluginStarted(
        execution_id="exec-0.5~1", frame_id="frame-0", stage=stage, plugin_id=plugin_id, plugin_name=plugin_id,
        plugin_type="gs-plugin",
    )  # fmt: skip
    error = {"code": code, "message": "It went wrong.", "details": {}} if status == "error" else None
    ended = PluginFinished(
        execution_id="exec-0.5~1", frame_id="frame-0", status=status, duration_ms=1, llm_calls=llm_calls, error=error,
        model="m-1" if llm_calls else None,
    )  # fmt: skip
    return [Event(at_ms=0, data=begun), Event(at_ms=1, data=ended)]


TOLD = unit("u1", "Cars board at gate C.")
WRITTEN = unit("u2", "Vehicles board at gate B, because the quay is there.", "handbook.md")
NO_MODEL = {
    "code": "PLUGIN_STAGE_EXHAUSTED",
    "message": "No plugin delivered.",
    "details": {"pluginsTried": ["gs-x"], "diagnostics": [{"pluginId": "gs-x", "message": "No model is configured."}]},
}
WINDOW = {"sections": [{"name": "conversation", "omitted_count": 14}]}
REWRITTEN = {"rewriting": {"was_rewritten": True, "rewritten_query": "Where does Anna work?"}}
UNANSWERED = replace(QUESTION, outcome="no-context", basis="none", groups=(group(TOLD, reason="refused: no place"),))
FAILED = replace(QUESTION, status="failed", outcome="failed", basis="", error=NO_MODEL)


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        (
            replace(QUESTION, groups=(group(TOLD, WRITTEN, cited=("u1",)),)),
            "Stated: by one sentence of this conversation; handbook.md says gate B.",
        ),
        (
            replace(QUESTION, basis="composed", groups=(group(TOLD, WRITTEN, cited=("u1", "u2")),)),
            "Composed: by 2 sentences of this conversation and handbook.md.",
        ),
        (
            replace(QUESTION, groups=(group(TOLD, cited=("u1",)), group(TOLD))),
            "Stated: 1 of 2 questions, not “Why?”; by one sentence of this conversation.",
        ),
        (
            replace(QUESTION, groups=(group(TOLD, cited=("u1",)), group(TOLD), {**group(), "intent": "Where?"})),
            "Stated: 1 of 3 questions, not “Why?” and 1 more; by one sentence of this conversation.",
        ),
        (UNANSWERED, "No answer: one statement was found; no place."),
        (
            replace(UNANSWERED, events=[*ran("gs-x", "error"), *ran("gs-llm", "error", code="LLM_PROVIDER_ERROR") * 2]),
            "No answer: the language model failed: it went wrong; one statement was found; no place.",
        ),
        (
            replace(UNANSWERED, outcome="quoted", events=ran("gs-llm", "error", code="LLM_TIMEOUT")),
            "Closest passage: the language model failed: it went wrong; one statement was found; no place.",
        ),
        (
            replace(UNANSWERED, events=ran("gs-llm", "error", code="LLM_NOT_AVAILABLE")),
            "No answer: one statement was found; no place.",
        ),
        (
            replace(UNANSWERED, events=ran("val-llm", "error", stage="validation", code="LLM_TIMEOUT")),
            "No answer: one statement was found; no place.",
        ),
        (
            replace(UNANSWERED, groups=(), base=None),
            "No answer: the session knows nothing that shares a word with the question; no base is mounted.",
        ),
        (
            replace(UNANSWERED, base=replace(BASE, unit_count=0)),
            "No answer: one statement was found; no place; the mounted base Handbook is empty.",
        ),
        (
            replace(UNANSWERED, report=WINDOW),
            "No answer: one statement was found; no place; 14 older messages were left out of the window.",
        ),
        (
            replace(UNANSWERED, report=REWRITTEN),
            "No answer: one statement was found; no place; read as “Where does Anna work?”.",
        ),
        (
            replace(FAILED, events=[started(pins=Selection(goal_solver="gs-x")), *ran("gs-x", "error")]),
            "Failed: no model is configured; you pinned this solver alone.",
        ),
        (
            replace(FAILED, events=[started(preferences=Selection(goal_solver="gs-x")), *ran("gs-x", "error")]),
            "Failed: no model is configured; the session prefers this solver.",
        ),
        (
            replace(QUESTION, basis="", report=WINDOW, events=ran("gs-llm", "success", llm_calls=1)),
            "Answered: by the model m-1; 14 older messages were left out of the window.",
        ),
        (
            replace(
                QUESTION,
                basis="",
                groups=({**group(TOLD, WRITTEN), "status": "answered", "grounded": False},),
                events=ran("gs-llm", "success", llm_calls=1),
            ),
            "Answered: by the model m-1; not from your sources: none of the 2 statements that were found is cited.",
        ),
        (
            replace(QUESTION, basis="", groups=({**group(TOLD), "status": "answered", "grounded": False},)),
            "Answered: not from your sources: the one statement that was found is not cited.",
        ),
        (
            replace(QUESTION, basis="", groups=({**group(), "status": "answered", "grounded": False},)),
            "Answered: not from your sources: no statement was found.",
        ),
        (replace(QUESTION, report=WINDOW), "Stated."),
        (replace(QUESTION, events=ran("sd-llm", "success", stage="seed-detector", llm_calls=1)), "Stated."),
        (replace(QUESTION, events=ran("val-llm", "success", stage="validation", llm_calls=1)), "Stated."),
        (replace(QUESTION, events=ran("gs-llm", "rejected", llm_calls=1)), "Stated."),
        (replace(QUESTION, status="cancelled"), "Stopped: by who asked; nothing of it was kept."),
        (replace(QUESTION, status="running", events=ran("gs-x", "success")[:1]), "Running: gs-x."),
    ],
)
def test_the_line_says_what_decided(turn: VerdictInput, line: str) -> None:
    assert verdict_of(turn).text == line


def test_a_model_that_failed_is_named_with_its_call() -> None:
    clauses = verdict_of(replace(UNANSWERED, events=ran("gs-llm", "error", code="LLM_PROVIDER_ERROR"))).clauses
    assert clauses[0].execution_id == "exec-0.5~1"


def test_every_clause_of_a_failure_names_its_place() -> None:
    events = [started(pins=Selection(goal_solver="gs-x")), *ran("gs-x", "error")]
    clauses = verdict_of(replace(FAILED, events=events)).clauses
    assert [(clause.execution_id, clause.aspect) for clause in clauses] == [("exec-0.5~1", ""), ("", "choice")]


@pytest.mark.parametrize("status", ["running", "failed", "cancelled", "interrupted", "succeeded"])
@pytest.mark.parametrize("kind", ["question", "command"])
@pytest.mark.parametrize("outcome", [None, "answered", "no-context", "quoted", "nothing-asked", "failed"])
def test_every_end_has_a_verdict_without_a_document(kind: str, status: str, outcome: str | None) -> None:
    found = verdict_of(VerdictInput(kind=kind, status=status, outcome=outcome, basis="", message=""))
    assert found.kind in LEADS
    assert found.text.endswith(".")


@pytest.mark.parametrize(
    ("text", "other", "value"),
    [
        ("Cars board at gate C.", "Vehicles board at gate B, because of the quay.", "gate B"),
        ("Trains to Brasov leave from platform 4.", "The train to Brasov leaves from platform 6.", "platform 6"),
        ("Maria works at Contoso.", "Maria works at Fabrikam since May.", "at Fabrikam"),
        ("The store opens at 9:00.", "On Sundays the store opens at 11:00 sharp.", "at 11:00"),
        ("Cabin bags may weigh 12 kg.", "Cabin bags may weigh 8 kg.", "weigh 8 kg"),
        ("Breakfast is served from 7 to 10.", "Breakfast is served from 8 to 11.", "from 8"),
        ("Refunds are paid within 14 days.", "Refunds are paid within 2 weeks.", "within 2"),
        ("The filter of the A 2 is cleaned every month.", "The filter of the B 5 is cleaned every year.", ""),
        ("The A 2 needs a fuse.", "The A 2 lasts two years.", ""),
        ("The kettle of the house needs a fuse.", "The kettle of the house: 19 euros.", ""),
        ("Shipping to Norway is slow.", "Shipping to Spain is free.", ""),
        ("Cars board at gate C.", "Cars board at gate C.", ""),
        ("Cars board at gate C.", "Dogs travel on the upper deck.", ""),
        ("It is at a shop.", "He was at a fair.", ""),
        ("", "", ""),
    ],
)
def test_another_value_stands_after_the_same_words(text: str, other: str, value: str) -> None:
    assert other_value(text, other) == value


def test_where_all_questions_failed_the_last_failure_is_told() -> None:
    ran = scripted.run(
        scripted.plugin("sd-plugin", "sd-a", scripted.detection("one", "two")),
        scripted.plugin("kb-plugin", "kb-a", scripted.retrieval("fact")),
        scripted.plugin("gs-plugin", "gs-a", RuntimeError("boom")),
    )
    line = verdict_of(replace(FAILED, error=ran.outcome.error)).text
    assert line == "Failed: no plugin of the stage goal-solver delivered (tried: gs-a)."
