"""Pages take a constant number of queries for long sessions and for many sessions; see bench.pages."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from bench.pages.storing import FAILED_EVERY, store_long_session, store_sessions
from sessions_app.models import Project, Session
from sessions_app.queries.sessions.pages import EXCHANGES_SHOWN, TURNS_SHOWN
from tests.web.page_scene import (
    attributes_of,
    check_html,
    counted_queries,
    link_of,
    member_client,
    parsed,
    text_at,
    texts_of,
)


def cost(client: Client, address: str, query: dict[str, Any]) -> tuple[str, int]:
    """Return a page and its number of queries."""
    with counted_queries() as queries:
        response = client.get(address, query)
    assert response.status_code == 200
    html = response.text
    check_html(html)
    return html, len(queries)


REGISTRY_ROW = '[id^="registry-"]'


def test_a_long_session_pages_in_constant_queries(project: Project, subtests: pytest.Subtests) -> None:
    sessions, client = [store_long_session(project, count) for count in (60, 400)], member_client(project)
    pages: list[tuple[str, dict[str, Any], int, str]] = [
        ("session", {}, EXCHANGES_SHOWN, ".exchange"),
        ("session-messages", {"before": 50}, EXCHANGES_SHOWN, ".exchange"),
        ("session-state", {"panel": "turns"}, TURNS_SHOWN, REGISTRY_ROW),
        ("session-state", {"turns_before": 50}, TURNS_SHOWN, REGISTRY_ROW),
        ("session-state", {"find": "status:failed"}, 3, REGISTRY_ROW),
        ("session-state", {"find": "colour 41"}, 1, REGISTRY_ROW),
        ("session-diagnostics", {}, 1, "#diagnostics a[href*='/turns/']"),
    ]
    for name, query, shown, row in pages:
        with subtests.test(name=name, query=query):
            client.get(reverse(name, args=[sessions[0].session_id]), query)  # its frozen files are read once
            counts = []
            for session in sessions:
                html, count = cost(client, reverse(name, args=[session.session_id]), query)
                counts.append(count)
                assert shown <= len(parsed(html).css(row)) <= TURNS_SHOWN + EXCHANGES_SHOWN
            assert counts[0] == counts[1]


def test_going_back_through_a_long_session_meets_every_turn_once(project: Project) -> None:
    session = store_long_session(project, 100)
    client, seen, before = member_client(project), list[int](), 101
    while before > 1:
        html, _ = cost(client, reverse("session-messages", args=[session.session_id]), {"before": before})
        ids = attributes_of(html, "[id]", "id")
        found = [number for number in range(1, before) if f"turn-{number}" in ids]
        seen += reversed(found)
        before = found[0]
    assert seen == list(range(100, 0, -1))


def test_a_long_list_pages_in_constant_queries(project: Project) -> None:
    queries = [{}, {"status": "failed"}, {"q": "conversation 3"}, {"after": "the middle"}]
    client, counts = member_client(project), list[list[int]]()
    for added in (60, 340):
        store_sessions(project, added)
        middle = Session.objects.order_by("-last_activity_at", "-id")[Session.objects.count() // 2]
        queries[-1] = {"after": f"{middle.last_activity_at.isoformat()}~{middle.pk}"}
        pages = [cost(client, reverse("sessions-list"), query) for query in queries]
        shown = [len(parsed(html).css("[data-row-link]")) for html, _ in pages]
        assert 1 <= min(shown) <= max(shown) <= settings.MRPVM_SESSIONS_SHOWN
        counts.append([count for _, count in pages])
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 6


def test_a_filter_of_the_list_looks_so_far_and_says_so(project: Project, settings: Settings) -> None:
    settings.MRPVM_SEARCHED_ROWS = 20
    store_sessions(project, 90)
    client = member_client(project)
    html, _ = cost(client, "/", {"q": "Conversation 77"})
    assert text_at(html, "#session-list .empty h2") == "No matching sessions"
    assert text_at(html, "#session-list .empty .muted") == "Of all sessions, the latest 20 were searched."
    ways = []
    while "Conversation 77" not in texts_of(html, "[data-row-link]"):
        ways.append(link_of(html, "Search further back"))
        html, _ = cost(client, ways[-1] or "", {})
    assert [way.partition("back=")[2] for way in ways] == ["2", "4"]
    # A refresh of the page searches as far back; a new search starts again.
    assert "back=4" in attributes_of(html, "#session-list", "hx-get")[0]
    assert not parsed(html).css('[name="back"]')
    # Without a filter nothing is left out; a page with a next page has no notice either.
    html, _ = cost(client, "/", {})
    assert "were searched" not in html
    html, _ = cost(client, "/", {"q": "Conversation", "back": "4"})
    assert link_of(html, "More sessions")
    assert link_of(html, "Search further back") is None


def test_a_filtered_list_pages_through_each_session_once(project: Project, settings: Settings) -> None:
    settings.MRPVM_SEARCHED_ROWS = 40
    store_sessions(project, 70)
    client, address, seen = member_client(project), "/?q=Conversation&back=2", []
    while address:
        html, _ = cost(client, address, {})
        seen += texts_of(html, "[data-row-link]")
        address = link_of(html, "More sessions")
    assert seen == [f"Conversation {number}" for number in range(70)]


@pytest.mark.parametrize(("text", "counts"), [("red in:turns", [29, 57, 86]), ("red in:units", [30, 60, 90])])
def test_the_search_looks_so_far_and_says_so(
    project: Project, settings: Settings, text: str, counts: list[int]
) -> None:
    settings.MRPVM_SEARCHED_ROWS = 30
    store_long_session(project, 90)
    client = member_client(project)
    html, _ = cost(client, reverse("search"), {"q": text})
    assert "the newest 30 were searched" in text_at(html, "#results > p:last-child")
    rows = [len(parsed(html).css("li.unit"))]
    while way := link_of(html, "Search further back"):
        html, _ = cost(client, reverse("search") + way, {})
        rows.append(len(parsed(html).css("li.unit")))
    assert rows == counts


def test_generated_sessions_are_what_pages_expect(project: Project) -> None:
    store_sessions(project, 3)
    session = store_long_session(project, 2 * FAILED_EVERY)
    assert session.turns.count() == session.turn_sequence == 2 * FAILED_EVERY
    assert session.turns.filter(status="failed").count() == session.failed_turn_count == 2
    assert session.messages.count() == session.message_sequence
    assert session.context_units.count() == session.unit_count
    assert Session.objects.filter(title__startswith="Conversation").values("draft", "journal").distinct().count() == 3
    turn = session.turns.get(turn_index=7)
    html, _ = cost(member_client(project), reverse("turn-state", args=[session.session_id, turn.request_id]), {})
    assert text_at(html, "#change-1 .unit__text") == "Thing 7 is red."
