"""The pages that run a turn again: diagnosis, trial with its fork, replay."""

import time
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.histories import remove_message
from sessions_app.actions.sessions.session import create_session
from sessions_app.experiments.replays.replay import replay_turn
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import ExplainabilityTurn, Project, Session, Trial
from sessions_app.queries.turns.registry import document_evidence
from sessions_app.web.experiments import views
from tests.web.page_scene import (
    HOSTILE,
    POLLING,
    attributes_of,
    check_html,
    input_fields,
    link_of,
    links_of,
    member_client,
    notice,
    parsed,
    talk,
    text_at,
    texts_of,
)
from tests.web.test_turn_panels import get

type Show = Callable[..., str]


def address(turn: ExplainabilityTurn, name: str) -> str:
    return reverse(name, args=[turn.session.session_id, turn.request_id])


def settled(client: Client, found: str) -> str:
    """Wait until the experiment on a page has ended; return the page."""
    ended_by = time.monotonic() + 30
    while parsed(html := client.get(found).text).css(POLLING) and time.monotonic() < ended_by:
        time.sleep(0.1)
    return html


def test_a_cause_is_one_click_from_its_proof(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    assert link_of(get(client, turn, "turn"), "Diagnosis") == address(turn, "turn-diagnosis")
    asked = client.post(address(turn, "turn-diagnose"), {"should_contain": "gate B"})
    found = settled(client, asked.url)
    assert "gate A.” decides the answer" in text_at(found, "[aria-labelledby=diagnosis-found] li:first-child strong")
    proof = client.get(link_of(found, "See the trial")).text
    assert text_at(proof, '[aria-label="Answer"]').startswith("The ferry to Nore leaves from gate B.")
    assert "Experiment on turn 3" in texts_of(proof, ".crumbs a")
    assert parsed(proof).css("svg")
    assert texts_of(client.get(link_of(found, "Compare")).text, "h1")[0].startswith("Turn 3 and trial")


def test_earlier_searches_are_listed_without_the_one_shown(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    asked = client.post(address(turn, "turn-diagnose"), {"should_not_contain": "gate A"})
    assert "Earlier searches" not in texts_of(settled(client, asked.url), "h2")
    earlier = get(client, turn, "turn-diagnosis")
    assert text_at(earlier, "#earlier-title") == "Earlier searches"
    assert "finished, should not say “gate A”" in text_at(earlier, "[aria-labelledby=earlier-title] li")


def test_a_missing_base_is_mounted_from_the_finding(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(name="handbook.md", data=b"# Boarding\n\nCars board at gate B on all days."))
    asked = talk(create_session(live_project), "Where do cars board?")
    client = member_client(live_project, "editor")
    search = client.post(address(asked, "turn-diagnose"), {"should_contain": "gate B"})
    html = settled(client, search.url)
    (form,) = parsed(html).css("form:has([name=kb_id])")
    assert attributes_of(form, "[name=kb_id]", "value") == [base.kb_id]
    back = client.post(form.attributes["action"], {"kb_id": base.kb_id, "next": search.url}, follow=True)
    assert back.redirect_chain[-1][0] == search.url
    assert "mounted now" in texts_of(back.text, "[aria-labelledby=diagnosis-found] li span")
    assert notice(back.text) == "The session sees revision 2 of “Handbook” now."


def test_a_newer_revision_is_mounted_from_the_finding(live_project: Project) -> None:
    def load(place: str) -> None:
        text = f"The ferry to Nore leaves from {place}.".encode()
        load_source(base, Upload(data=text, name="ferries.md", declared_type=None, source_id="ferries"))

    client, base = member_client(live_project, "editor"), create_base(live_project, "Handbook")
    load("gate A")
    asked = talk(create_session(live_project, base=base), "Where does the ferry to Nore leave from?")
    load("gate B")
    search = client.post(address(asked, "turn-diagnose"), {"should_contain": "gate B"})
    found = settled(client, search.url)
    assert "No statement that the turn could have found says “gate B”." in texts_of(
        found, "[aria-labelledby=diagnosis-found] p"
    )
    (form,) = parsed(found).css("[aria-labelledby=diagnosis-found] li form")
    sent = {field.attributes["name"]: field.attributes["value"] for field in form.css("input[name]")}
    client.post(form.attributes["action"], sent)
    back = client.get(search.url).text
    assert not parsed(back).css("[aria-labelledby=diagnosis-found] li form")
    assert "mounted now" in texts_of(back, "[aria-labelledby=diagnosis-found] li span")
    again = talk(Session.objects.get(pk=asked.session_id), "Where does the ferry to Nore leave from?")
    assert "gate B" in again.assistant_preview


def test_a_search_shows_what_says_the_expected(live_project: Project) -> None:
    client, session = member_client(live_project, "viewer"), create_session(live_project)
    for told in ("Anna Lind manages the warehouse.", "Olaf runs the mill."):
        talk(session, told)
    asked = talk(session, "Who runs the mill?")
    search = client.post(address(asked, "turn-diagnose"), {"should_contain": "Anna Lind"})
    found = settled(client, search.url)
    assert texts_of(found, "[aria-labelledby=diagnosis-found] ul li") == [
        "Anna Lind manages the warehouse. not found by its searches"
    ]
    unit = client.get(link_of(found, "Anna Lind manages the warehouse.")).text
    assert texts_of(unit, "h1") == ["Anna Lind manages the warehouse."]


def test_a_search_that_finds_nothing_says_so(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project)
    asked = client.post(address(turn, "turn-diagnose"), {"should_contain": HOSTILE})
    found = settled(client, asked.url)
    check_html(found)
    assert "Nothing that was tried makes the answer what you expected." in texts_of(
        found, "[aria-labelledby=diagnosis-found] p"
    )
    assert HOSTILE not in found


def test_a_trial_offers_what_the_turn_found(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project)
    units = document_evidence(turn.response_document)
    html = client.get(address(turn, "turn-try"), {"unit": [units[0]["id"], "gone"]}).text
    boxes = parsed(html).css("[type=checkbox][name=unit]")
    assert len(units) > 1
    assert [(box.attributes["value"], "checked" in box.attributes) for box in boxes] == [
        (unit["id"], unit is units[0]) for unit in units
    ]
    assert text_at(html, 'textarea[name="unit"]') == "gone"


def test_trials_are_shown_beside_the_recorded_turn(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project)
    made = client.post(address(turn, "turn-try-run"), {"message": "Which gate?", "level": "1"})
    html = settled(client, made.url)
    check_html(html)
    assert texts_of(html, '[data-label="Changes"]')[-1].startswith("message: Which gate?")
    more = client.post(
        address(turn, "turn-try-run"),
        {"experiment": made.url.rpartition("/")[2], "message": turn.user_message, "history": "none"},
    )
    assert more.url == made.url
    html = settled(client, made.url)
    assert texts_of(html, '[data-label="Changes"]')[-1] == "no conversation"
    assert text_at(html, "[aria-labelledby=trials-title] > p") == (
        "The time of the recorded turn includes reading and storing it, that of a trial does not."
    )
    trace = ExplainabilityTurn.with_trials.filter(trial_number__gt=0).order_by("-trial_number")[0]
    for name in ("turn", "turn-graph", "turn-timeline", "turn-context", "turn-choice", "turn-export", "turn-picture"):
        assert client.get(address(trace, name)).status_code == 200, name
    tabs = texts_of(client.get(address(trace, "turn")).text, ".turn-tabs a")
    assert tabs == ["Execution", "Context", "Choice", "Experiment"]
    assert links_of(client.get(reverse("experiments")).text).count(made.url) == 1
    assert str(turn.session.turns.count()) == "3"


def test_a_trial_names_its_outcome_as_the_lists_do(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "She moved there in 2018 because of her husband's job.")
    quoted = talk(session, "What is the name of her husband?")
    client = member_client(live_project)
    made = client.post(address(quoted, "turn-try-run"), {"message": "My dog is called Rex.", "kb": "kb-balanced"})
    page = parsed(settled(client, made.url))
    assert texts_of(page, '[data-label="Outcome"]') == ["Closest passage", "Noted"]
    assert "KB plugin: kb-balanced" in texts_of(page, '[data-label="Changes"]')[1]


def test_since_when_an_answer_is_so_is_one_form_away(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    form = client.get(link_of(get(client, turn, "turn-diagnosis"), "When did the answer change?")).text
    check_html(form)
    assert parsed(form).css(f'[value="{turn.request_id}"][selected]')
    made = client.post(reverse("session-bisect-run", args=[turn.session.session_id]), {"turn": turn.request_id})
    found = settled(client, made.url)
    assert "The ferry to Nore leaves from gate A." in text_at(found, "[aria-labelledby=bisect-found] strong")
    recorded, *states = texts_of(found, '[data-label="Changes"]')
    note = "Nothing that the machine is given has changed."
    assert (recorded, states[:2]) == ("nothing", [f"the state after turn 2{note}", "the state before the first turn"])
    actions = texts_of(found, '[data-label="Actions"]')
    assert ["Change" in words for words in actions] == [False, True, *[False] * (len(states) - 1)]


def test_an_experiment_is_deleted_by_who_ran_it_or_an_editor(live_project: Project, turn: ExplainabilityTurn) -> None:
    viewer, other, editor = (member_client(live_project, role) for role in ("viewer", "viewer", "editor"))
    for client, status in ((other, 403), (viewer, 302)):
        made = viewer.post(address(turn, "turn-try-run"), {"message": "Which gate?"})
        assert client.post(f"{made.url}/delete").status_code == status
    made = viewer.post(address(turn, "turn-try-run"), {"message": "Which gate?"})
    assert "Delete it" not in texts_of(settled(other, made.url), "button")
    assert editor.post(f"{made.url}/delete").url == reverse("experiments")
    assert viewer.get(made.url).status_code == 404


def test_the_replay_page_says_identical(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    assert "replays identically" in text_at(get(client, turn, "turn-replay"), "[aria-labelledby=replay-result] p")
    line = client.get(address(turn, "turn-replay"), headers={"HX-Request": "true"}).text
    assert link_of(line, "Replays identically") == address(turn, "turn-replay")
    assert link_of(get(client, turn, "turn"), "Replay") == address(turn, "turn-replay")


def test_a_turn_has_the_same_tabs_on_all_its_pages(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    own, base = get(client, turn, "turn"), address(turn, "turn")
    names = ["Execution", "Context", "State change", "Choice", "Try", "Diagnosis", "Replay"]
    assert texts_of(own, ".turn-tabs a") == names
    for name, tab in (("turn-try", "Try"), ("turn-diagnosis", "Diagnosis"), ("turn-replay", "Replay")):
        again = get(client, turn, name)
        assert texts_of(again, ".turn-tabs a") == names
        assert texts_of(again, ".turn-tabs [aria-current]") == [tab]
        assert link_of(again, "Context") == f"{base}?tab=context"


@pytest.mark.parametrize("written", ["many", "9" * 5_000])
def test_a_limit_that_is_no_number_is_refused(live_project: Project, turn: ExplainabilityTurn, written: str) -> None:
    client = member_client(live_project)
    shown = client.post(address(turn, "turn-try-run"), {"max_llm_calls": written}, follow=True).text
    assert "The limits must be whole numbers." in shown


def test_a_head_that_is_refreshed_replays_once(
    live_project: Project, turn: ExplainabilityTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, replays = member_client(live_project, "viewer"), []
    monkeypatch.setattr(views, "replay_turn", lambda turn: replays.append(turn) or replay_turn(turn))
    where, of_htmx = address(turn, "turn-replay"), {"HX-Request": "true"}
    lines = [client.get(where, headers=of_htmx).text for _ in range(2)]
    assert [bool(link_of(line, "Replays identically")) for line in lines] == [True, True]
    assert len(replays) == 1
    remove_message(turn.session, 1)
    assert link_of(client.get(where, headers=of_htmx).text, "Cannot be replayed") == where
    assert len(replays) == 2
    client.get(where)
    assert len(replays) == 3


def test_going_on_from_a_trial_makes_a_fork(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "editor")
    answer = client.post(address(turn, "turn-continue"), {"message": "Where does the ferry leave?", "level": "1"})
    fork = Session.objects.get(forked_from=turn.session)
    made = fork.turns.get()
    assert answer.url == reverse("turn", args=[fork.session_id, made.request_id])
    assert (made.user_message, made.deliberation_level, fork.forked_at) == ("Where does the ferry leave?", 1, 4)


@pytest.mark.parametrize("name", ["turn-try-run", "turn-continue"])
def test_a_refused_trial_is_in_its_form_again(live_project: Project, turn: ExplainabilityTurn, name: str) -> None:
    client = member_client(live_project, "editor")
    trial = client.post(address(turn, "turn-try-run"), {"message": "Where does the ferry leave?"})
    experiment_id = trial.url.rpartition("/")[2]
    long = "Answer in one word. " * 400
    sent = {"experiment": experiment_id, "message": "Where is gate A?", "with": long}
    sent |= {"unit": "\n".join(f"unit-{number}" for number in range(1_000))}
    shown = client.post(address(turn, name), sent, follow=True)
    assert notice(shown.text)
    assert input_fields(shown.text)["experiment"] == experiment_id
    assert text_at(shown.text, "textarea[name=message]") == "Where is gate A?"
    assert text_at(shown.text, "textarea[name=with]") == long.strip()
    assert len(shown.redirect_chain[0][0]) < 400
    assert "Where is gate A?" not in get(client, turn, "turn-try")


def test_a_refused_search_through_time_keeps_its_form(
    live_project: Project, turn: ExplainabilityTurn, settings: Settings
) -> None:
    settings.MRPVM_MAX_RUNNING_EXPERIMENTS = 0
    session, client = turn.session, member_client(live_project, "viewer")
    handbook = create_base(live_project, "Handbook")
    sent = {"turn": turn.request_id, "base": handbook.kb_id, "should_contain": "gate B"}
    shown = client.post(reverse("session-bisect-run", args=[session.session_id]), sent, follow=True).text
    assert notice(shown)
    assert attributes_of(shown, "[name=turn] [selected]", "value") == [turn.request_id]
    assert attributes_of(shown, "[name=base] [selected]", "value") == [handbook.kb_id]
    assert input_fields(shown)["should_contain"] == "gate B"


def test_an_experiment_of_another_turn_is_none_of_this_one(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "editor")
    other = turn.session.turns.exclude(pk=turn.pk).filter(kind="chat")[0]
    made = client.post(address(other, "turn-try-run"), {"message": "Where does the ferry leave?"})
    experiment_id = made.url.rpartition("/")[2]
    before = Trial.objects.count()
    shown = client.post(
        address(turn, "turn-try-run"), {"experiment": experiment_id, "message": "Where is gate A?"}, follow=True
    )
    assert "EXPERIMENT_NOT_FOUND" in shown.text
    assert Trial.objects.count() == before
    for name in ("turn-try", "turn-diagnosis"):
        assert client.get(address(turn, name), {"experiment": experiment_id}).status_code == 404


def test_a_viewer_may_try_and_not_go_on(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    assert "Continue from here" not in get(client, turn, "turn-try", message="Where does it leave?")
    assert client.post(address(turn, "turn-continue")).status_code == 403
