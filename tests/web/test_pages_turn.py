"""The turn page: graph, outline, details, ledger and state changes, for every outcome of a turn."""

import gzip
import html as entities
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
    check_html,
    counted_queries,
    links_of,
    member_client,
    new_session,
    parsed,
    texts_of,
    visible_text,
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


def text_of(html: str) -> str:
    return entities.unescape(re.sub(r"<[^>]*>", "", html))


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
    graph = html[html.index('<svg class="graph"') : html.index("</svg>", html.index('<svg class="graph"'))]
    executions = stored_executions(answered)
    assert len(executions) >= 5
    for ref in executions:
        assert parsed(html).css(f'[data-id="{ref}"]')
    assert "What is my dog called?" in texts_of(parsed(html), "h1")
    assert "What is my dog called?" not in text_of(graph)


def test_the_outline_is_a_tree_of_the_same_items(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-outline")
    items = re.findall(r'role="treeitem"[^>]*data-id="([^"]+)"', html)
    assert items[0] == "frame-0"
    assert set(items[1:]) == set(stored_executions(answered))
    assert html.count('role="tree"') == 1


@pytest.mark.rule("PAGE-5")
def test_a_box_opens_with_what_it_got_and_gave(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-detail", sel="exec-0.1~1")
    assert "Symbolic Seed Detector" in visible_text(html)
    panels = dict(re.findall(r'id="json-(\w+)"[^>]*>(.*?)</pre>', html, re.S))
    shown = json.loads(text_of(panels["input"]))
    assert shown["message"] == "What is my dog called?"
    assert json.loads(text_of(panels["output"]))["status"] == "success"
    assert "No error." in visible_text(html)
    payload = reverse("api:detail", args=[answered.session.session_id, answered.request_id, "exec-0.1~1"])
    assert f"{payload}?download=true" in links_of(parsed(html))


def test_the_address_holds_the_selection(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, sel="exec-0.1~1")
    assert parsed(html).css('[id="panel-input"]')
    assert re.search(r'data-id="exec-0.1~1"[^>]*aria-selected="true"', html)
    assert not parsed(get(reader, answered)).css('[id="panel-input"]')
    assert not parsed(get(reader, answered, sel="exec-9\0")).css('[id="panel-input"]')
    outline = reverse("turn-outline", args=[answered.session.session_id, answered.request_id])
    again = reader.get(outline, headers={"HX-Current-URL": "http://testserver/x?sel=exec-0.1~1"}).text
    assert re.search(r'data-id="exec-0.1~1"[^>]*aria-selected="true"', again)


@pytest.mark.rule("PAGE-5")
def test_a_frame_opens_with_what_is_inside(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-detail", sel="frame-0")
    assert "Frame" in visible_text(html)
    assert parsed(html).css('[data-select="exec-0.1~1"]')


def test_every_node_opens(reader: Client, answered: ExplainabilityTurn) -> None:
    ids = set(re.findall(r'data-id="([^"]+)"', get(reader, answered)))
    assert len(ids) >= 6
    for node_id in ids:
        get(reader, answered, "turn-detail", sel=node_id)
    missing = reverse("turn-detail", args=[answered.session.session_id, answered.request_id]) + "?sel=exec-7~1"
    assert reader.get(missing).status_code == 404


def test_the_ledger_names_offered_and_cited_units_and_turn(reader: Client, answered: ExplainabilityTurn) -> None:
    html = get(reader, answered, "turn-context")
    rows = re.findall(r'<tr id="ledger-\d+"[^>]*>(.*?)</tr>', html, re.S)
    first = text_of(rows[0])
    assert "My dog is called Rex." in visible_text(first)
    assert "cited" in visible_text(first)
    assert "this session, turn 1" in visible_text(first)
    assert (
        reverse("turn", args=[answered.session.session_id, answered.session.turns.get(turn_index=1).request_id])
        in rows[0]
    )
    assert "1 cited" in visible_text(html)
    assert any("My cat is called Tom." in text_of(row) and "cited" not in text_of(row) for row in rows)


def test_the_state_change_of_a_success(reader: Client, live_project: Project) -> None:
    session = create_session(live_project)
    added = text_of(get(reader, talk(session, "My dog is called Rex."), "turn-state"))
    assert "My dog is called Rex." in visible_text(added)
    assert "Added" in visible_text(added)
    known = text_of(get(reader, talk(session, "My dog is called Rex."), "turn-state"))
    assert "Known already" in visible_text(known)
    assert "the session knows it already" in visible_text(known)


@pytest.mark.rule("PAGE-8")
def test_a_failed_turn_strikes_its_units_through_with_the_reason(
    live_project: Project, reader: Client, scripted_plugins: Install
) -> None:
    scripted_plugins(plugin("val-plugin", "val-a", REJECT))
    turn = talk(create_session(live_project), "Why?")
    html = get(reader, turn)
    assert re.search(r"<del>Rex is a dog\.</del>", html)
    assert re.search(r"<del>Rex is a dog\.</del>", get(reader, turn, sel="exec-0.1~1")), "whatever is chosen"
    change = re.search(r'<li class="unit is-discarded".*?</li>', get(reader, turn, "turn-state"), re.S)
    assert change is not None
    assert "Rex is a dog." in change[0]
    assert "the validators refused every answer that was found" in change[0]
    assert "VALIDATION_REJECTED" in visible_text(html)
    assert parsed(html).css('[data-id="frame-0"]')


@pytest.mark.rule("PLUGIN-23")
def test_an_exception_in_a_plugin_is_shown_where_it_happened(
    live_project: Project, reader: Client, scripted_plugins: Install
) -> None:
    scripted_plugins(plugin("sd-plugin", "sd-a", RuntimeError("it broke")))
    turn = talk(create_session(live_project), "Why?")
    html = get(reader, turn, "turn-detail", sel="exec-0.1~1")
    assert re.search(r'id="tab-error"[^>]*aria-selected="true"', html)
    assert "PLUGIN" in visible_text(html)


def test_a_refusal_names_the_try_it_led_to(reader: Client, live_project: Project) -> None:
    asked = "The answer must not mention Bella. My rabbit is called Bella. What is my rabbit called?"
    turn = talk(create_session(live_project), asked)
    order = re.findall(r'data-id="(exec-[^"]*)"', get(reader, turn, "turn-outline"))
    refused = next(run.id for run in turns.graph(turn).plugin_executions if run.status == "rejected")
    after = order[order.index(refused) + 1]
    html = get(reader, turn, "turn-detail", sel=refused)
    assert re.search(rf'Because of this, <a [^>]*data-select="{after}">Balanced KB Retrieval</a> was tried next', html)
    assert parsed(html).css(f'[data-select="{after}"][rel="next"]')


def test_the_first_filled_tab_is_open_and_empty_ones_say_so(reader: Client, answered: ExplainabilityTurn) -> None:
    candidate = next(node.id for node in turns.graph(answered).control_nodes if node.type == "candidate")
    html = get(reader, answered, "turn-detail", sel=candidate)
    assert re.findall(r'id="tab-(\w+)"[^>]*aria-selected="true"', html) == ["meta"]
    assert html.count(">(empty)<") + html.count("> (empty)<") == 3


def test_neighbours_are_one_key_away(project: Project) -> None:
    session = new_session(project)
    first, second, third = add_turns(session, 3)
    html = get(member_client(project), second, "turn-head")
    addresses = {
        key: reverse("turn", args=[session.session_id, turn.request_id])
        for key, turn in zip("[]", (first, third), strict=True)
    }
    for key, address in addresses.items():
        assert re.search(rf'href="{address}" aria-keyshortcuts="{re.escape(key)}"', html)
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
    assert "Pending" in texts_of(parsed(get(client, running, "turn-state")), "span")


def test_a_turn_that_stored_nothing_yet_opens(project: Project) -> None:
    turn = add_turns(new_session(project), 1, "running")[0]
    TurnEvents.objects.filter(turn=turn).delete()
    html = get(member_client(project), turn)
    assert "Nothing has run yet." in visible_text(html)


def test_frames_can_be_shut_by_the_address(reader: Client, live_project: Project) -> None:
    session = create_session(live_project)
    turn = talk(
        session, "My dog is called Rex. My cat is called Tom.", "1. What is my dog called?\n2. What is my cat called?"
    )
    frames = re.findall(r'data-toggle="(frame-0\.\d)"', get(reader, turn, "turn-graph"))
    assert len(frames) == 2
    shut = get(reader, turn, "turn-graph", shut=frames)
    assert shut.count('aria-expanded="false"') == 2
    assert "executions inside" in visible_text(shut)


def test_a_long_payload_is_cut_and_says_so(
    live_project: Project, reader: Client, scripted_plugins: Install, settings: Settings
) -> None:
    settings.MRPVM_INLINE_DETAIL_BYTES = 2_000
    scripted_plugins(plugin("sd-plugin", "sd-a", detection("why", claims=["x" * 3_000])))
    turn = talk(create_session(live_project), "Why?")
    html = get(reader, turn, "turn-detail", sel="exec-0.1~1")
    assert re.search(r"This is the beginning: [\d.]+ (KiB|bytes) more are not shown here", text_of(html))
    assert len(html) < 12_000


def test_a_payload_that_storage_cut_or_retention_removed_says_so(
    live_project: Project, reader: Client, scripted_plugins: Install, settings: Settings
) -> None:
    settings.MRPVM_MAX_DETAIL_BYTES = 1_000
    scripted_plugins(plugin("sd-plugin", "sd-a", detection("why", claims=["x" * 3_000])))
    turn = talk(create_session(live_project), "Why?")
    assert "too long to be stored whole" in visible_text(get(reader, turn, "turn-detail", sel="exec-0.1~1"))
    age_payloads(settings)
    assert "older than what this server keeps" in visible_text(get(reader, turn, "turn-detail", sel="exec-0.1~1"))


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
        assert get(reader, turn, "turn-graph").count('class="node-box"') <= finished.count('class="node-box"')
    assert svg_of(get(reader, turn, "turn-graph")) == svg_of(finished)


def svg_of(html: str) -> str:
    return html[html.index("<svg") : html.rindex("</svg>")]


def test_a_turn_of_1000_executions_is_small_and_costs_no_more(project: Project) -> None:
    client, counts = member_client(project), []
    for size in (100, 1_000):
        turn = store_turn(project, stored_batches(large_turn(size)))
        with counted_queries() as queries:
            html = get(client, turn)
        counts.append(len(queries))
        assert len(gzip.compress(html.encode())) <= 150 * 1024
        assert f"{size}" in texts_of(parsed(html), "span.count.push")
    assert counts[0] == counts[1]
    assert html.count('role="treeitem"') == ROWS_AT_FIRST
    rows = get(client, turn, "turn-outline", rows="all")
    assert rows.count('role="treeitem"') == 1_000 + len(turns.graph(turn).frames)
