"""Provenance: from a citation to the unit and its source's text, and from a unit to every turn that used it."""

import re
from contextlib import suppress
from urllib.parse import quote, unquote, urlencode

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.errors import MRPError
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.revisions import restore_revision
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import create_session, delete_session
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import ContextUnit, ExplainabilityTurn, Project, Session
from sessions_app.queries.turns.registry import unit_events
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.web.knowledge.place import AROUND_CHARS, find_place
from tests.kernel.scripted import REJECT, plugin
from tests.web.page_scene import (
    HOSTILE,
    Install,
    add_turns,
    check_html,
    counted_queries,
    links_of,
    member_client,
    new_session,
    notice,
    parsed,
    text_at,
    texts_of,
)


@pytest.fixture
def forked(project: Project) -> Session:
    """Return a fork of a session with one fact."""
    session = create_session(project)
    run_turn(session, TurnCall(message="My dog is called Rex."))
    return fork_session(session, 2, "edited")


def test_a_unit_of_a_fork_leads_to_the_turn_that_told_it(project: Project, forked: Session) -> None:
    turn, browser = ExplainabilityTurn.objects.get(), member_client(project)
    address = reverse("unit", args=[forked.session_id])
    html = browser.get(address, {"id": forked.context_units.get().unit_id}).content.decode()
    shown = "section[aria-labelledby=origin-title]"
    assert links_of(html, f"{shown} a") == [
        reverse("turn", args=[turn.session.session_id, turn.request_id]) + "?tab=state"
    ]
    assert text_at(html, f"{shown} dd").startswith("turn 1 of the session that this one was forked from")
    assert text_at(html, f"{shown} mark") == "My dog is called Rex."
    delete_session(turn.session)
    assert not links_of(browser.get(address, {"id": forked.context_units.get().unit_id}).content.decode(), f"{shown} a")
    state = browser.get(reverse("session", args=[forked.session_id])).content.decode()
    assert "from an earlier turn" in texts_of(state, ".unit__meta span")


HANDBOOK = "# Ferry\n\nBoarding closes ten minutes before departure.\n\nVehicles wait at gate B.\n"


def talk(session: Session, message: str) -> ExplainabilityTurn:
    with suppress(MRPError):
        run_turn(session, TurnCall(message=message))
    return session.turns.order_by("-turn_index")[0]


def unit_page(client: Client, session: Session, unit_id: str) -> str:
    response = client.get(f"{reverse('unit', args=[session.session_id])}?{urlencode({'id': unit_id})}")
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html


def test_a_citation_leads_to_the_source_s_own_words(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(name="ferry.md", data=HANDBOOK.encode()))
    base.refresh_from_db()
    session = create_session(live_project, base=base)
    turn = talk(session, "Where do vehicles wait?")
    client = member_client(live_project, "viewer")
    head = client.get(reverse("turn-head", args=[session.session_id, turn.request_id])).text
    assert text_at(head, "h1") == "Where do vehicles wait?"
    (address,) = set(links_of(head, "a.cite"))
    html = client.get(address, follow=True).text
    check_html(html)
    assert texts_of(html, "mark#place") == ["Vehicles wait at gate B."]
    assert text_at(html, ".place figcaption") == "In the source ferry.md"
    assert reverse("knowledge-base", args=[base.kb_id]) in links_of(html, "[aria-labelledby=origin-title] a")
    turn_url = reverse("turn", args=[session.session_id, turn.request_id])
    assert any(link.startswith(turn_url) for link in links_of(html))
    assert "cited" in texts_of(html, "li > .badge:first-child")
    assert client.get(re.sub(r"\d+$", "9", address)).status_code == 404


def test_a_unit_links_to_its_source_and_all_its_turns(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(name="ferry.md", data=HANDBOOK.encode(), source_id="ferry"))
    base.refresh_from_db()
    session = create_session(live_project, base=base)
    turn = talk(session, "Where do vehicles wait?")
    unit_id = next(step.unit_id for step in unit_events(turn) if step.step == "cited")
    client, address = member_client(live_project), reverse("knowledge-base", args=[base.kb_id])
    html = unit_page(client, session, unit_id)
    ways = [f"{address}?source=ferry", f"{address}?unit={quote(unit_id, safe='')}"]
    for way in ways:
        assert way in links_of(html)
        assert client.get(way).status_code == 200
    assert "ferry.md" in texts_of(client.get(ways[1]).text, 'a[href="?source=ferry"]')
    restore_revision(base, 1)
    html = unit_page(client, session, unit_id)
    assert "which no longer shows it" in text_at(html, "dd:has(.muted)")
    assert not any(way in links_of(html) for way in ways)


def test_a_told_unit_links_to_its_message_and_turns(live_project: Project) -> None:
    session = create_session(live_project)
    told = talk(session, "Hello there. My dog is called Rex.")
    asked = talk(session, "What is my dog called?")
    unit = ContextUnit.objects.get(session=session, turn=told)
    html = unit_page(member_client(live_project), session, unit.unit_id)
    assert texts_of(html, "mark#place") == ["My dog is called Rex."]
    for turn in (told, asked):
        turn_url = reverse("turn", args=[session.session_id, turn.request_id])
        assert any(link.startswith(turn_url) for link in links_of(html))
    steps = texts_of(html, "li > .badge:first-child")
    assert steps.index("cited") < steps.index("stated"), "newest turn first"
    assert {"stated", "kept", "chosen", "cited"} <= set(steps)


def test_a_lost_unit_is_struck_through_with_the_reason(live_project: Project, scripted_plugins: Install) -> None:
    scripted_plugins(plugin("val-plugin", "val-a", REJECT))
    session = create_session(live_project)
    turn = talk(session, "Why?")
    (unit_id,) = turn.unit_changes["discarded"]
    html = unit_page(member_client(live_project), session, unit_id)
    assert text_at(html, ".page-head .badge") == "no longer stored"
    assert texts_of(html, ".unit-page__text.strike") == ["Rex is a dog."]
    assert "the validators refused every answer that was found" in texts_of(html, ".life__chapter li .small")


def test_what_a_unit_says_is_never_markup(live_project: Project, scripted_plugins: Install) -> None:
    scripted_plugins(hostile=True)
    session = create_session(live_project)
    turn = talk(session, HOSTILE)
    unit_ids = set(turn.unit_events.values_list("unit_id", flat=True))
    assert unit_ids
    for unit_id in unit_ids:
        unit_page(member_client(live_project), session, unit_id)


def test_a_unit_is_seen_by_its_own_project_alone(project: Project) -> None:
    session = new_session(project)
    turn = add_turns(session, 1)[0]
    address = f"{reverse('unit', args=[session.session_id])}?{urlencode({'id': turn.unit_changes['added'][0]})}"
    source = reverse("turn-source", args=[session.session_id, turn.request_id, 1])
    stranger = member_client(Project.objects.create(name="Other"))
    assert member_client(project).get(address).status_code == 200
    assert [stranger.get(each).status_code for each in (address, source)] == [404, 404]
    assert member_client(project).get(reverse("unit", args=[session.session_id]), {"id": "none\0"}).status_code == 404


def test_the_queries_do_not_grow_with_the_unit_s_life(project: Project) -> None:
    client, counts = member_client(project), []
    for how_many in (1, 30):
        session = new_session(project)
        turns = add_turns(session, how_many)
        unit_id = turns[0].unit_changes["added"][0]
        for turn in turns:
            turn.unit_events.create(session=session, unit_id=unit_id, step="offered", rank=1)
        with counted_queries() as queries:
            unit_page(client, session, unit_id)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 9


@given(st.text(max_size=900), st.text(max_size=30), st.integers(0, 900), st.integers(0, 900))
def test_a_place_is_cut_from_its_text_and_says_what_is_missing(text: str, said: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    for place in (find_place(text, said), find_place(text, said, start, end)):
        shown = place.before + place.marked + place.after
        assert text[place.left_out_before : len(text) - place.left_out_after] == shown
        assert len(place.before) <= AROUND_CHARS
        assert len(place.after) <= AROUND_CHARS


@pytest.mark.parametrize("text", ["So: the  Pump\nis blue. It runs.", "the pump is BLUE"])
def test_words_are_found_whatever_stands_between_them(text: str) -> None:
    assert find_place(text, "The pump is blue.").marked.lower().split()[0] == "the"


def test_a_wrong_fact_is_corrected_retracted_and_restored(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex.")
    asked = talk(session, "What is my dog called?")
    unit = session.context_units.get()
    client = member_client(live_project, "editor")
    panel = client.get(reverse("session", args=[session.session_id])).text
    ledger = client.get(reverse("turn-context", args=[session.session_id, asked.request_id])).text
    for html in (panel, ledger):
        assert parsed(html).css(f'[form="retract-unit"][name="id"][value="{unit.unit_id}"]')
    form = {"id": unit.unit_id, "text": "My dog is called Max."}
    client.post(reverse("unit-correct", args=[session.session_id]), form)
    (corrected,) = session.context_units.all()
    assert corrected.claim == "My dog is called Max."
    old, new = unit_page(client, session, unit.unit_id), unit_page(client, session, corrected.unit_id)
    assert "Retracted" in texts_of(old, "h2")
    assert _correction(old) == ("Corrected by", corrected.unit_id, "My dog is called Max.")
    assert _correction(new) == ("Corrects", unit.unit_id, "My dog is called Rex.")
    ledger = client.get(reverse("turn-context", args=[session.session_id, asked.request_id])).text
    assert text_at(ledger, "#ledger-1 .ledger__acts") == "retracted since"
    client.post(reverse("unit-retract", args=[session.session_id]), {"id": corrected.unit_id})
    assert not session.context_units.exists()
    client.post(f"{reverse('unit-restore', args=[session.session_id])}?{urlencode({'id': corrected.unit_id})}")
    assert session.context_units.get().claim == "My dog is called Max."


def _correction(html: str) -> tuple[str, str, str]:
    """Return the title, the id and the text of the page's only link to another unit."""
    (link,) = parsed(html).css(".facts a[href^='?id=']")
    title = text_at(html, "[aria-labelledby=origin-title] dt:last-of-type")
    return title, unquote(str(link.attributes["href"])).removeprefix("?id="), link.text()


def test_a_corrected_unit_leads_to_what_corrects_the_base(live_project: Project) -> None:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(data=b"The pump is blue.", name="rules.txt", declared_type="text/plain"))
    base.refresh_from_db()
    session, client = create_session(live_project, base=base), member_client(live_project, "editor")
    unit_id = base.head.units.get(claim="The pump is blue.", ku_type="atomic").unit_id
    html = unit_page(client, session, unit_id)
    assert "until this session is saved" in text_at(html, "#correction-hint")
    correct = reverse("unit-correct", args=[session.session_id])
    html = client.post(correct, {"id": unit_id, "text": "The pump is red."}, follow=True).text
    check_html(html)
    assert text_at(html, "#change-title") == "Hidden"
    (saving,) = links_of(html, "[aria-labelledby=change-title] a")
    assert text_at(client.get(saving).text, "#unsaved-draft-title") == "Save or fork"


def test_a_refused_correction_is_in_its_field_again(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex. My car is red.")
    unit = session.context_units.get(claim__contains="Rex")
    client = member_client(live_project, "editor")
    form = {"id": unit.unit_id, "text": "My car is red."}
    told = client.post(reverse("unit-correct", args=[session.session_id]), form, follow=True).text
    assert notice(told).startswith("The session knows that already")
    assert text_at(told, "textarea[name=text]") == "My car is red."
    assert session.context_units.count() == 2


def test_a_viewer_is_offered_no_change_of_a_unit(live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "My dog is called Rex.")
    unit, client = session.context_units.get(), member_client(live_project, "viewer")
    assert not parsed(unit_page(client, session, unit.unit_id)).css('[id="change-title"]')
    for name in ("unit-retract", "unit-restore", "unit-correct"):
        assert client.post(reverse(name, args=[session.session_id]), {"id": unit.unit_id}).status_code == 403
    assert session.context_units.exists()
