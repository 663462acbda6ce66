"""For an unanswered question, the pages of the session and of the turn show the closest statements."""

import pytest
from django.test import Client
from django.urls import reverse
from selectolax.lexbor import LexborNode

from sessions_app.actions.knowledge.drafts import stage_source
from sessions_app.actions.knowledge.source_rows import NewSource
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.queries.turns.outcomes import NOTHING_ASKED, outcome
from sessions_app.queries.turns.registry import document_evidence, unanswered_evidence
from sessions_app.web.sessions.closest import CLOSEST_SHOWN
from tests.layers.units import make_unit
from tests.web.page_scene import (
    check_html,
    counted_queries,
    links_of,
    member_client,
    parsed,
    text_at,
    texts_of,
    visible_text,
)

HOSTILE = "The <b>lilac</b> pump hums in the cellar."


def session_with_pumps(project: Project) -> Session:
    session = create_session(project)
    session.flags = {"enable_quotes": False}
    session.save(update_fields=["flags"])
    claims = [HOSTILE, *(f"The lilac pump number {number} stands in the yard." for number in range(5))]
    units = [make_unit(f"u/{place}", claim, source_name="pumps.md") for place, claim in enumerate(claims)]
    stage_source(session, NewSource(name="pumps.md", source_id="pumps", content="x", units=units))
    return session


def asked(client: Client, session: Session, *questions: str) -> ExplainabilityTurn:
    for question in questions:
        client.post(reverse("session-ask", args=[session.session_id]), {"content": question})
    return session.turns.order_by("-turn_index")[0]


def lists_of(client: Client, address: str) -> list[LexborNode]:
    html = client.get(address).text
    check_html(html)
    return parsed(html).css("ul.closest")


def test_the_closest_statements_lead_to_their_units(live_project: Project) -> None:
    client, session = member_client(live_project, "editor"), session_with_pumps(live_project)
    turn = asked(client, session, "Why was the lilac pump in the cellar painted?")
    assert turn.answer_status == "no-context"
    (shown,) = lists_of(client, reverse("session", args=[session.session_id]))
    (same,) = lists_of(client, reverse("turn", args=[session.session_id, turn.request_id]))
    assert same.html == shown.html
    assert "<b>lilac" in shown.text()
    assert "pumps.md" in shown.text()
    addresses = links_of(shown)
    assert len(addresses) == CLOSEST_SHOWN
    assert "lilac pump" in text_at(client.get(addresses[-1]).text, ".unit-page__text")


def test_an_answer_shows_none_and_many_questions_cost_no_more(live_project: Project) -> None:
    client, session = member_client(live_project, "editor"), session_with_pumps(live_project)
    page = reverse("session", args=[session.session_id])
    assert asked(client, session, "How tall is the cathedral?").answer_status == "no-context"
    assert asked(client, session, "Where does the lilac pump number 3 stand?").answer_status == "answered"
    assert lists_of(client, page) == []
    counts = []
    for questions in (["Why was the lilac pump painted?"], ["Who painted the lilac pump?"] * 4):
        asked(client, session, *questions)
        with counted_queries() as queries:
            assert lists_of(client, page)
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("message", ["thanks!", "hello", "ok", "Hello! Thanks a lot.", "Please answer briefly."])
def test_where_nothing_was_asked_no_answer_is_missing(live_project: Project, message: str) -> None:
    client, session = member_client(live_project, "editor"), session_with_pumps(live_project)
    turn = asked(client, session, message)
    assert turn.answer_status == "no-context"  # as stored and returned by the API
    assert outcome(turn) == NOTHING_ASKED
    page, of_turn = reverse("session", args=[session.session_id]), [session.session_id, turn.request_id]
    for address in (page, reverse("turn", args=of_turn), reverse("turn-head", args=of_turn)):
        assert lists_of(client, address) == []
        assert "No answer found" not in visible_text(client.get(address).text)
    assert "Nothing asked" in texts_of(client.get(reverse("turns")).text, '[data-label="Outcome"]')


@pytest.mark.parametrize("order", ["Delete that.", "Write a poem about the lilac pump.", "Sort the lilac pumps."])
def test_nothing_came_close_to_an_order(live_project: Project, order: str) -> None:
    client, session = member_client(live_project, "editor"), session_with_pumps(live_project)
    turn = asked(client, session, "My lilac pump is called Tom.", order)
    assert document_evidence(turn.response_document)
    for address in (
        reverse("session", args=[session.session_id]),
        reverse("turn", args=[session.session_id, turn.request_id]),
    ):
        assert lists_of(client, address) == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("My lilac pump is called Tom.", "noted"),
        ("Who are you?", "answered"),  # a polite reply is the whole answer
        ("Why was the lilac pump painted?", "no-context"),
        ("Thanks! Why was the lilac pump painted?", "no-context"),
        ("Is it nice?", "no-context"),
    ],
)
def test_what_was_told_or_asked_is_no_small_talk(live_project: Project, message: str, expected: str) -> None:
    client, session = member_client(live_project, "editor"), session_with_pumps(live_project)
    turn = asked(client, session, message)
    assert outcome(turn) == expected
    html = client.get(reverse("session", args=[session.session_id])).text
    told = text_at(html, ".bubble--assistant .way-in")
    assert told.startswith("No answer found") == (expected == "no-context")
    assert not told.startswith("Nothing asked")


def test_only_statements_of_groups_without_an_answer_are_given() -> None:
    def entry(unit_id: str, score: float, **more: object) -> dict[str, object]:
        return {"unitId": unit_id, "score": score, "unit": {"id": unit_id, **more}}

    answered = {"status": "answered", "intent": "Why?", "sessionSources": [entry("a", 1.0)], "kbSources": []}
    unanswered = {
        "status": "no-context",
        "intent": "Why?",
        "sessionSources": [entry("b", 0.4)],
        "kbSources": [entry("c", 0.6), entry("whole", 0.9, childUnitIds=["b", "c"]), entry("b", 0.4)],
    }
    found = unanswered_evidence({"groups": [answered, unanswered]})
    assert [unit["id"] for unit in found] == ["c", "b"]
    assert unanswered_evidence(None) == []
