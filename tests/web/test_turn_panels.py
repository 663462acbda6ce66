"""Panels beside the graph: requests to models, the state before and after, and the order of plugins."""

import re

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from selectolax.lexbor import LexborNode

from mrpvm.learning import untried, utility
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.histories import History, append_messages
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.turns.payloads import batch, payload
from sessions_app.models import ExplainabilityTurn, Project, Session, TurnEvents
from tests.layers.units import make_unit
from tests.web.page_scene import (
    add_turns,
    attributes_of,
    check_html,
    member_client,
    new_session,
    parsed,
    talk,
    text_at,
    texts_of,
    visible_text,
)


def get(client: Client, turn: ExplainabilityTurn, name: str, *more: str, **query: str) -> str:
    response = client.get(reverse(name, args=[turn.session.session_id, turn.request_id, *more]), query)
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html


def spaced(node: LexborNode) -> str:
    """Return the text of an element with a space between its parts."""
    return " ".join(node.text(separator=" ").split())


# --- requests to models


def test_sent_requests_are_shown_by_execution(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    ref = "exec-0.9~1"
    named = {"executionId": ref, "frameId": "frame-0", "status": "success", "durationMs": 3, "llmCalls": 1}
    started = {**named, "pluginName": "Deep Solver", "pluginId": "gs-x", "pluginType": "gs-plugin"}
    events = [
        ["plugin.started", 1, {**started, "stage": "goal-solver", "cause": None}],
        ["plugin.finished", 4, {**named, "model": "m-1", "modelRole": "goal-deep"}],
    ]
    TurnEvents.objects.create(turn=turn, first_sequence=1_000, events=events)
    body = {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Be <b>brief</b>."},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "lookup"}}]},
            {"type": "function_call_output", "output": "Nothing found."},
            {"role": "user", "content": "Why?"},
        ],
    }
    request = {
        "url": "http://model/v1", "body": body, "modelBasis": "role", "attempt": 2, "leftOut": ["stop"],
        "response": {"text": "So."},
    }  # fmt: skip
    batch(turn, 2_000, [], [payload(ref, {"meta": {"requests": [request]}})]).save()
    client = member_client(project)
    context = get(client, turn, "turn-context")
    assert texts_of(context, "#request-1 summary > span")[:2] == ["Deep Solver", "m-1, role goal-deep"]
    assert "Be <b>brief" not in visible_text(context)
    shown = get(client, turn, "turn-requests", ref)
    assert text_at(shown, '[aria-label="system"]') == "Be <b>brief</b>."
    assert "attempt 2, without stop, which this model has refused" in text_at(shown, "h3")
    assert "16 characters" in texts_of(shown, "summary .numeric")
    assert '"So."' in text_at(shown, '[aria-label="Response"]')
    assert '"lookup"' in text_at(shown, '[aria-label="tool call"]')
    assert text_at(shown, '[aria-label="tool"]') == "Nothing found."


def test_a_turn_without_a_model_says_so(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    context = get(member_client(project), turn, "turn-context")
    assert text_at(context, "[aria-labelledby=requests-title] p").startswith("The turn asked no model")


def test_the_ledger_names_plugins_and_units_and_not_their_ids(live_project: Project) -> None:
    session = create_session(live_project)
    for told in ("The shop closes at 20 today.", "The shop closes at 18."):
        talk(session, told)
    turn = talk(session, "When does the shop close?", kb="kb-balanced")
    ledger = parsed(get(member_client(live_project), turn, "turn-context"))
    rows = "tr[id^=ledger-]"
    assert all(
        "exec-" not in words and "kb-balanced" in words for words in texts_of(ledger, f"{rows} [data-label=From]")
    )
    reasons = texts_of(ledger, f"{rows} [data-label=Why]")
    assert "with “The shop closes at" in " ".join(reasons)
    assert "session::" not in " ".join(reasons)


# --- state


def state_rows(html: str) -> dict[str, list[str]]:
    """Return the cells of the table of before and after, by the row's name."""
    rows = parsed(html).css("tr:not([data-row-of]):has(th[scope=row])")
    return {texts_of(row, "th")[0]: [spaced(cell) for cell in row.css("td")] for row in rows}


def test_the_state_before_and_after_a_turn_is_compared(live_project: Project) -> None:
    session = create_session(live_project)
    client = member_client(live_project)
    first = talk(session, "My dog is called Rex.", planner="planner-depth")
    mount_base(session, create_base(live_project, "Motors"), reason="api")
    second = talk(session, "My cat is called Tom. My car is red.")
    rows = state_rows(get(client, first, "turn-state"))
    assert rows["Planner"] == ["planner-default", "planner-depth changed by this turn"]
    assert rows["Units of the session"] == ["0", "1 changed by this turn"]
    assert rows["Messages"] == ["0", "2 changed by this turn"]
    rows = state_rows(get(client, second, "turn-state"))
    assert rows["Planner"][:2] == ["planner-depth", "planner-depth"]
    after_first, before, after = rows["Knowledge base"]
    assert after_first != before.replace(" changed between the turns", "")
    assert before == "Motors, revision 1 changed between the turns"
    assert after == "Motors, revision 1"
    assert rows["Units of the session"] == ["1", "1", "3 changed by this turn"]


def test_messages_without_a_turn_count_from_their_time(live_project: Project) -> None:
    session = create_session(live_project)
    client = member_client(live_project)
    said = History(messages=[{"role": "user", "content": "Good day."}])
    append_messages(session, said)
    first = talk(session, "My dog is called Rex.")
    append_messages(session, said)
    second = talk(session, "My cat is called Tom.")
    append_messages(session, said)
    assert state_rows(get(client, first, "turn-state"))["Messages"] == ["1", "3 changed by this turn"]
    rows = state_rows(get(client, second, "turn-state"))
    assert rows["Messages"] == ["3", "4 changed between the turns", "6 changed by this turn"]


def test_an_unsaved_draft_is_told_with_what_it_shows(live_project: Project) -> None:
    session = create_session(live_project)
    stage_source(session, NewSource(name="s", source_id="s", content="x", units=[make_unit("u", "The pump hums.")]))
    rows = state_rows(get(member_client(live_project), talk(session, "My dog is called Rex."), "turn-state"))
    assert rows["Draft"] == ["unsaved changes: 1 source, 1 unit in sight"] * 2


def test_a_failed_turn_changes_no_state(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex.")
    failed = talk(session, "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?")
    assert failed.status == "failed"
    rows = state_rows(get(member_client(live_project), failed, "turn-state"))
    assert not any("changed" in cell for cells in rows.values() for cell in cells)


# --- choice


def candidates(html: str, title: str) -> dict[str, list[str]]:
    """Return the place, score, reason and outcome of each plugin of a stage, by plugin."""
    (group,) = (body for body in parsed(html).css("tbody") if title in texts_of(body, "th[scope=rowgroup]"))
    found = {}
    for row in group.css("tr:has(th[scope=row])"):
        cell = row.css("td")[0]
        place, score, outcome = (
            "".join(texts_of(cell, selector)[:1])
            for selector in ('[title="Place in the order"]', "[title=Score]", ".badge")
        )
        found[texts_of(row, ".mono")[0]] = [place, score, spaced(row), outcome]
    return found


@pytest.mark.rule("DECISION-46")
def test_every_stage_says_who_was_tried_in_which_order_and_why(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex.")
    turn = talk(session, "What is my dog called?", kb="kb-balanced")
    html = get(member_client(live_project, "viewer"), turn, "turn-choice")
    kb = candidates(html, "KB plugins")
    assert kb["kb-balanced"][0] == "1."
    assert "pinned" in kb["kb-balanced"][2]
    assert kb["kb-balanced"][3] == "success"
    assert kb["kb-fast"][0] == "–"
    assert "kb-balanced is pinned" in kb["kb-fast"][2]
    detectors = candidates(html, "Seed detector")
    assert "preference" in detectors["sd-symbolic"][2]
    assert "language model" in detectors["sd-llm-deep"][2]
    planners = candidates(html, "Planner")
    assert planners["planner-depth"][3] == "not reached"
    solvers = candidates(html, "Goal solvers")
    assert "history +" in solvers["gs-symbolic"][2]
    assert re.fullmatch(r"\d\.\d\d", solvers["gs-symbolic"][1])


def test_frames_share_one_table_that_says_each_reason_once(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex. My cat is called Tom.")
    turn = talk(session, "1. What is my dog called?\n2. What is my cat called?")
    html = get(member_client(live_project, "viewer"), turn, "turn-choice")
    page = parsed(html)
    assert len(page.css("table")) == 1
    assert len(page.css('th[scope=col] a.id[href^="?sel=frame-"]')) == 2
    models = [name for name in texts_of(page, ".mono") if "-llm-" in name]
    assert visible_text(html).count("skipped: it needs a language model") == len(models) > 0


def rows_of_every_table() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in apps.get_app_config("sessions_app").get_models()}


@pytest.fixture
def asked(live_project: Project) -> ExplainabilityTurn:
    session = create_session(live_project)
    talk(session, "My dog is called Rex.")
    return talk(session, "What is my dog called?")


def test_another_choice_is_foretold_and_nothing_is_written(live_project: Project, asked: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    before, session_before = rows_of_every_table(), Session.objects.filter(pk=asked.session_id).values().get()
    html = get(client, asked, "turn-what-if", kb="kb-thinkingdb", statistics="none", preferences="none")
    assert attributes_of(html, ".what-if [selected]", "value") == ["kb-thinkingdb", "none", "none"]
    assert rows_of_every_table() == before
    assert Session.objects.filter(pk=asked.session_id).values().get() == session_before
    predicted = str(parsed(html).css("#prediction")[0].html)
    assert "pinned" in candidates(predicted, "KB plugins")["kb-thinkingdb"][2]
    untried_utility = round(utility("gs-plugin", untried("gs-plugin")), 4)
    assert f"history {untried_utility:+.2f}" in candidates(predicted, "Goal solvers")["gs-symbolic"][2]


@pytest.mark.rule("DECISION-46")
def test_the_panel_says_which_statistics_the_session_goes_by(live_project: Project) -> None:
    client = member_client(live_project)
    for freezes, said in ((True, "as frozen with the session"), (False, "as learned by now")):
        turn = talk(create_session(live_project, freeze_planner_statistics=freezes), "My dog is called Rex.")
        assert f"{said}" in texts_of(get(client, turn, "turn-choice"), 'option[value=""]')


def test_what_is_foretold_is_what_a_turn_then_does(live_project: Project, asked: ExplainabilityTurn) -> None:
    message = "Why is my dog called Rex? Please compare."
    html = get(member_client(live_project), asked, "turn-what-if", message=message)
    assert text_at(html, ".what-if textarea") == message
    predicted = str(parsed(html).css("#prediction")[0].html)
    turn = talk(asked.session, message)
    found = get(member_client(live_project), turn, "turn-choice")
    for title in ("Seed detector", "Planner", "KB plugins", "Goal solvers"):
        foretold = {name: cells[:2] for name, cells in candidates(predicted, title).items()}
        assert foretold == {name: cells[:2] for name, cells in candidates(found, title).items()}


def test_inputs_that_a_turn_would_refuse_are_refused_in_words(live_project: Project, asked: ExplainabilityTurn) -> None:
    client = member_client(live_project)
    refused = get(client, asked, "turn-what-if", kb="kb-none")
    assert text_at(refused, "#prediction .notice").startswith("There is no kb-plugin named")
    assert text_at(get(client, asked, "turn-what-if", message=" "), "#prediction .notice") == "The message is empty."


def test_a_full_server_refuses_a_prediction_on_the_page(
    live_project: Project, asked: ExplainabilityTurn, settings: Settings
) -> None:
    settings.MRPVM_MAX_RUNNING_TURNS = 0
    html = get(member_client(live_project, "viewer"), asked, "turn-what-if")
    assert "as many as it is allowed to. Try again in a moment." in texts_of(html, "#prediction")[0]


def test_an_exported_turn_has_its_payloads_whole(project: Project, settings: Settings) -> None:
    settings.MRPVM_INLINE_DETAIL_BYTES = 100
    turn = add_turns(new_session(project), 1)[0]
    ref = "exec-long"
    batch(turn, 2_000, [], [payload(ref, {"input": "x" * 5_000})]).save()
    address = reverse("turn-export", args=[turn.session.session_id, turn.request_id])
    exported = member_client(project).get(address).json()
    kept = exported["executionTrace"]["graph"]["details"][ref]
    assert (kept["input"], kept["truncated"], kept["text"]) == ("x" * 5_000, False, None)
