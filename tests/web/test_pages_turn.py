"""The turn page: graph, outline, details, ledger and state changes, for every outcome of a turn."""

import gzip
import json
import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from bench.turn_page.storing import store_turn
from bench.turn_page.turns import large_turn, stored_batches
from mrpvm.errors import MRPError
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Project, Session, TurnEvents
from sessions_app.queries.turns import registry as turns
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.web.turns.graph.outline import ROWS_AT_FIRST
from tests.kernel.scripted import REJECT, detection, plugin
from tests.payloads import stored_executions
from tests.retention import age_payloads
from tests.web.page_scene import (
    Install,
    add_turns,
    attributes_of,
    check_html,
    counted_queries,
    links_of,
    member_client,
    new_session,
    parsed,
    text_at,
    texts_of,
)


def talk(session: Session, *messages: str) -> ExplainabilityTurn:
    """Run a turn for each message; return the last one, whatever its outcome."""
    for message in messages:
        try:
            run_turn(session, TurnCall(message=message))
        except MRPError:
            continue
    return session.turns.order_by("-turn_index")[0]


def get(client: Client, turn: ExplainabilityTurn, name: str = "turn", *more: str, **query: object) -> str:
    response = client.get(reverse(name, args=[turn.session.session_id, turn.request_id, *more]), query)
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html


@pytest.fixture
def answered(live_project: Project) -> ExplainabilityTurn:
    """Return a turn of the shipped plugins that answers from an earlier turn."""
    return talk(
        create_session(live_project), "My dog is called Rex.", "My cat is called Tom.", "What is my dog called?"
    )


@pytest.fixture
def reader(live_project: Project) -> Client:
    return member_client(live_project, "viewer")


@pytest.mark.rule("PAGE-2", "PAGE-9")
def test_the_question_heads_a_graph_of_every_execution(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered)
    (graph,) = parsed(html).css("svg.graph")
    executions = stored_executions(answered)
    assert len(executions) >= 5
    for ref in executions:
        assert parsed(html).css(f'[data-id="{ref}"]')
    assert "What is my dog called?" in texts_of(html, "h1")
    assert "What is my dog called?" not in graph.text()


def test_the_outline_is_a_tree_of_the_same_items(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-outline")
    items = attributes_of(html, "[role=treeitem]", "data-id")
    assert items[0] == "frame-0"
    assert set(items[1:]) == set(stored_executions(answered))
    assert len(parsed(html).css("[role=tree]")) == 1


@pytest.mark.rule("PAGE-5")
def test_a_box_opens_with_what_it_got_and_gave(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-detail", sel="exec-0.1~1")
    assert text_at(html, ".detail__title h2") == "Symbolic Seed Detector"
    (given,), (returned,) = (parsed(html).css(f"#json-{name}") for name in ("input", "output"))
    shown = json.loads(given.text())
    assert shown["message"] == "What is my dog called?"
    assert json.loads(returned.text())["status"] == "success"
    assert text_at(html, "#panel-error") == "No error."
    payload = reverse("api:detail", args=[answered.session.session_id, answered.request_id, "exec-0.1~1"])
    assert f"{payload}?download=true" in links_of(html)


def test_the_address_holds_the_selection(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, sel="exec-0.1~1")
    assert parsed(html).css('[id="panel-input"]')
    assert parsed(html).css('[data-id="exec-0.1~1"][aria-selected=true]')
    assert not parsed(get(reader, answered)).css('[id="panel-input"]')
    for unknown in ("exec-9\0", f"prepare-{'9' * 5_000}"):
        assert not parsed(get(reader, answered, sel=unknown)).css('[id="panel-input"]')
    outline = reverse("turn-outline", args=[answered.session.session_id, answered.request_id])
    again = reader.get(outline, headers={"HX-Current-URL": "http://testserver/x?sel=exec-0.1~1"}).text
    assert parsed(again).css('[data-id="exec-0.1~1"][aria-selected=true]')


@pytest.mark.rule("PAGE-5")
def test_a_frame_opens_with_what_is_inside(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-detail", sel="frame-0")
    assert text_at(html, ".detail__head .row .muted") == "Frame"
    assert parsed(html).css('[data-select="exec-0.1~1"]')


def test_every_node_opens(reader: Client, answered: ExplainabilityTurn) -> None:
    ids = set(attributes_of(get(reader, answered), "[data-id]", "data-id"))
    assert len(ids) >= 6
    for node_id in ids:
        get(reader, answered, "turn-detail", sel=node_id)
    missing = reverse("turn-detail", args=[answered.session.session_id, answered.request_id]) + "?sel=exec-7~1"
    assert reader.get(missing).status_code == 404


def test_the_ledger_names_offered_and_cited_units_and_turn(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-context")
    rows = parsed(html).css('tr[id^="ledger-"]')
    for text in ("My dog is called Rex.", "cited", "this session, turn 1"):
        assert text in " ".join(rows[0].text().split())
    told = answered.session.turns.get(turn_index=1)
    assert reverse("turn", args=[answered.session.session_id, told.request_id]) in links_of(rows[0])
    assert "1 cited" in texts_of(html, ".ledger label")
    assert any("My cat is called Tom." in row.text() and "cited" not in row.text() for row in rows)


def test_the_ledger_counts_what_a_quoted_passage_cites(reader: Client, live_project: Project) -> None:
    session = create_session(live_project)
    talk(session, "She moved there in 2018 because of her husband's job.")
    quoted = talk(session, "What is the name of her husband?")
    assert quoted.answer_basis == "quoted"
    rows = parsed(get(reader, quoted, "turn-context")).css('tr[id^="ledger-"]')
    assert "cited" in " ".join(rows[0].text().split())
    assert "1 cited" in texts_of(get(reader, quoted, "turn-context"), ".ledger label")


def test_the_state_change_of_a_success(reader: Client, live_project: Project) -> None:
    session = create_session(live_project)
    added = get(reader, talk(session, "My dog is called Rex."), "turn-state")
    assert text_at(added, "#change-1 .unit__text") == "My dog is called Rex."
    assert text_at(added, "#change-1 .badge") == "Added"
    known = get(reader, talk(session, "My dog is called Rex."), "turn-state")
    assert text_at(known, "#change-1 .badge") == "Known already"
    assert "the session knows it already" in text_at(known, "#change-1 .unit__meta")


@pytest.mark.rule("PAGE-8")
def test_a_failed_turn_strikes_its_units_through_with_the_reason(
    live_project: Project, reader: Client, scripted_plugins: Install
) -> None:
    scripted_plugins(plugin("val-plugin", "val-a", REJECT))
    turn = talk(create_session(live_project), "Why?")
    html = get(reader, turn)
    assert "Rex is a dog." in texts_of(html, "del")
    assert "Rex is a dog." in texts_of(get(reader, turn, sel="exec-0.1~1"), "del"), "whatever is chosen"
    (change,) = texts_of(get(reader, turn, "turn-state"), "li.unit.is-discarded")
    assert "Rex is a dog." in change
    assert "the validators refused every answer that was found" in change
    assert text_at(html, "#verdict code") == "VALIDATION_REJECTED"
    assert parsed(html).css('[data-id="frame-0"]')


@pytest.mark.rule("PLUGIN-23")
def test_an_exception_in_a_plugin_is_shown_where_it_happened(
    live_project: Project, reader: Client, scripted_plugins: Install
) -> None:
    scripted_plugins(plugin("sd-plugin", "sd-a", RuntimeError("it broke")))
    turn = talk(create_session(live_project), "Why?")
    html = get(reader, turn, "turn-detail", sel="exec-0.1~1")
    assert parsed(html).css("#tab-error[aria-selected=true]")
    assert text_at(html, ".notice strong") == "PLUGIN_EXCEPTION"


def test_a_refusal_names_the_try_it_led_to(reader: Client, live_project: Project) -> None:
    asked = "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?"
    turn = talk(create_session(live_project), asked)
    order = attributes_of(get(reader, turn, "turn-outline"), '[data-id^="exec-"]', "data-id")
    refused = next(run.id for run in turns.graph(turn).plugin_executions if run.status == "rejected")
    after = order[order.index(refused) + 1]
    html = get(reader, turn, "turn-detail", sel=refused)
    assert text_at(html, ".detail__body > .notice").startswith("Because of this, Balanced KB Retrieval was tried next")
    assert "Balanced KB Retrieval" in texts_of(html, f'[data-select="{after}"]')
    assert parsed(html).css(f'[data-select="{after}"][rel="next"]')


def test_the_first_filled_tab_is_open_and_empty_ones_say_so(reader: Client, answered: ExplainabilityTurn) -> None:
    candidate = next(node.id for node in turns.graph(answered).control_nodes if node.type == "candidate")
    html = get(reader, answered, "turn-detail", sel=candidate)
    assert attributes_of(html, "[role=tab][aria-selected=true]", "id") == ["tab-meta"]
    assert texts_of(html, ".tab__empty") == ["(empty)"] * 3


def test_neighbours_are_one_key_away(project: Project) -> None:
    session = new_session(project)
    first, second, third = add_turns(session, 3)
    html = get(member_client(project), second, "turn-head")
    addresses = {
        key: reverse("turn", args=[session.session_id, turn.request_id])
        for key, turn in zip("[]", (first, third), strict=True)
    }
    for key, address in addresses.items():
        assert parsed(html).css(f'a[href="{address}"][aria-keyshortcuts="{key}"]')
    assert not parsed(get(member_client(project), first, "turn-head")).css('[aria-keyshortcuts="["]')
    assert not parsed(get(member_client(project), third, "turn-head")).css('[aria-keyshortcuts="]"]')


def test_a_running_turn_asks_for_news_and_an_ended_one_does_not(project: Project) -> None:
    client = member_client(project)
    session = new_session(project)
    ended = add_turns(session, 1)[0]
    running = add_turns(session, 1, "running")[0]
    for name, mark, ids in (
        ("turn", "live:progress:", ["turn-outline", "graph-canvas", "timeline"]),
        ("turn-state", "live:pending:", ["state"]),
    ):
        fragments = parsed(get(client, running, name)).css(f'[hx-trigger*="{mark}"]')
        assert [fragment.id for fragment in fragments] == ids
        assert not parsed(get(client, ended, name)).css(f'[hx-trigger*="{mark}"]')
    stop = reverse("turn-cancel", args=[session.session_id, running.request_id])
    assert parsed(get(client, running, "turn-head")).css(f'[action="{stop}"]')
    assert not parsed(get(client, ended, "turn-head")).css(f'[action="{stop}"]')
    assert "Pending" in texts_of(get(client, running, "turn-state"), "span")


def test_a_turn_that_stored_nothing_yet_opens(project: Project) -> None:
    turn = add_turns(new_session(project), 1, "running")[0]
    TurnEvents.objects.filter(turn=turn).delete()
    html = get(member_client(project), turn)
    assert text_at(html, "#turn-outline") == "Nothing has run yet."
    assert text_at(html, "#graph-canvas").startswith("Nothing has run yet.")


def test_frames_can_be_shut_by_the_address(reader: Client, live_project: Project) -> None:
    session = create_session(live_project)
    turn = talk(
        session, "My dog is called Rex. My cat is called Tom.", "1. What is my dog called?\n2. What is my cat called?"
    )
    frames = attributes_of(get(reader, turn, "turn-graph"), '[data-toggle^="frame-0."]', "data-toggle")
    assert len(frames) == 2
    shut = get(reader, turn, "turn-graph", shut=frames)
    assert len(parsed(shut).css("[aria-expanded=false]")) == 2
    assert texts_of(shut, ".frame-hidden") == ["5 executions inside"] * 2


def test_a_long_payload_is_cut_and_says_so(
    live_project: Project, reader: Client, scripted_plugins: Install, settings: Settings
) -> None:
    settings.MRPVM_INLINE_DETAIL_BYTES = 2_000
    scripted_plugins(plugin("sd-plugin", "sd-a", detection("why", claims=["x" * 3_000])))
    turn = talk(create_session(live_project), "Why?")
    html = get(reader, turn, "turn-detail", sel="exec-0.1~1")
    assert re.match(r"This is the beginning: [\d.]+ (KB|bytes) more are not shown here", text_at(html, ".notice"))
    assert len(html) < 12_000


def test_a_payload_that_storage_cut_or_retention_removed_says_so(
    live_project: Project, reader: Client, scripted_plugins: Install, settings: Settings
) -> None:
    settings.MRPVM_MAX_DETAIL_BYTES = 1_000
    scripted_plugins(plugin("sd-plugin", "sd-a", detection("why", claims=["x" * 3_000])))
    turn = talk(create_session(live_project), "Why?")
    assert "too long to be stored whole" in text_at(get(reader, turn, "turn-detail", sel="exec-0.1~1"), ".notice")
    age_payloads(settings)
    told = texts_of(get(reader, turn, "turn-detail", sel="exec-0.1~1"), ".notice")
    assert "The payload is older than what this server keeps; the structure of the turn stays." in told


@pytest.mark.parametrize(
    ("name", "limit"),
    [("turn", 13), ("turn-context", 12), ("turn-state", 20), ("turn-choice", 6), ("turn-head", 9)],
)
def test_the_queries_do_not_grow_with_the_turn(project: Project, name: str, limit: int) -> None:
    client = member_client(project)
    counts = []
    for how_many in (2, 30):
        session = new_session(project)
        turn = add_turns(session, how_many)[-1]
        for number in range(how_many):
            turn.unit_events.create(session=session, unit_id=f"u{number}", step="offered", rank=number, score=0.1)
        with counted_queries() as queries:
            get(client, turn, name)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= limit


@pytest.mark.rule("GRAPH-6")
def test_a_finished_graph_is_the_folded_live_one(
    reader: Client, live_project: Project, scripted_plugins: Install
) -> None:
    turn = talk(create_session(live_project), "Why?")
    batches = list(turn.event_batches.order_by("first_sequence"))
    whole = [record for batch in batches for record in batch.events]
    finished = get(reader, turn, "turn-graph")
    TurnEvents.objects.filter(turn=turn).delete()
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(status="running")
    for place, record in enumerate(whole):
        TurnEvents.objects.create(turn=turn, first_sequence=place, events=[record])
        drawn = parsed(get(reader, turn, "turn-graph")).css(".node-box")
        assert len(drawn) <= len(parsed(finished).css(".node-box"))
    assert svg_of(get(reader, turn, "turn-graph")) == svg_of(finished)


def svg_of(html: str) -> str | None:
    return parsed(html).css("svg.graph")[0].html


def test_a_turn_of_1000_executions_is_small_and_costs_no_more(project: Project) -> None:
    client, counts = member_client(project), []
    for size in (100, 1_000):
        turn = store_turn(project, stored_batches(large_turn(size)))
        with counted_queries() as queries:
            html = get(client, turn)
        counts.append(len(queries))
        assert len(gzip.compress(html.encode())) <= 150 * 1024
        assert f"{size}" in texts_of(html, "span.count.push")
    assert counts[0] == counts[1]
    assert len(parsed(html).css("[role=treeitem]")) == ROWS_AT_FIRST
    rows = get(client, turn, "turn-outline", rows="all")
    assert len(parsed(rows).css("[role=treeitem]")) == 1_000 + len(turns.graph(turn).frames)
