"""The conversation's additions to a turn on the turn's page, and the session's memory on its page."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app.models import Project, Session, SessionMemory
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    check_html,
    member_client,
    new_session,
    parsed,
    texts_of,
    visible_text,
)

REWRITING = {
    "original_query": HOSTILE, "rewritten_query": "When does the Closing Date apply?", "was_rewritten": True,
    "skip_reason": None, "skip_code": None, "by": "rules", "need_probability": 0.82,
    "terms": [{"term": "close", "word": HOSTILE, "probability": 0.9, "weight": 0.81}],
}  # fmt: skip


def page(client: Client, name: str, *arguments: object, **query: object) -> str:
    """Return a page, checked for well-formed HTML and escaped text."""
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200
    html = response.text
    check_html(html)
    assert "<script>alert(1)" not in html
    return html


def remembering(project: Project, **changes: object) -> Session:
    """Return a session with a document, a section and a term in its memory."""
    session = new_session(project)
    record = {
        "terms": [[HOSTILE, HOSTILE, "answer", 1]],
        "documents": [["d1", HOSTILE, 1]],
        "sections": ["Section 2.01"],
    }
    now = timezone.now()
    columns = {"record": record, "turn_count": 3, "last_accessed_at": now, "expires_at": now + timedelta(hours=4)}
    SessionMemory.objects.create(project=project, owner=session.session_id, **(columns | changes))
    return session


def test_a_turn_shows_the_question_as_asked_and_as_understood(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    turn.context_report = {"rewriting": REWRITING, "memory": {"preferred_documents": [HOSTILE]}, "sections": []}
    turn.save()
    html = page(member_client(project), "turn", turn.session.session_id, turn.request_id, tab="context")
    (shown,) = texts_of(html, '[aria-labelledby="rewriting-title"]')
    for text in ("When does the Closing Date apply?", "82 %", "0.81", "Preferred"):
        assert text in shown


def test_preferred_documents_are_named_while_remembered(project: Project) -> None:
    turn = add_turns(remembering(project), 1)[0]
    turn.context_report = {"memory": {"preferred_documents": ["d1", "d9"]}}
    turn.save()
    html = page(member_client(project), "turn", turn.session.session_id, turn.request_id, tab="context")
    assert texts_of(html, '[aria-labelledby="rewriting-title"] dd') == [f"{HOSTILE}, d9"]


def test_a_turn_says_why_its_question_was_not_rewritten(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    kept = {"was_rewritten": False, "skip_reason": "No history (first turn)", "skip_code": "no_history", "terms": []}
    turn.context_report = {"rewriting": REWRITING | kept}
    turn.save()
    html = page(member_client(project), "turn", turn.session.session_id, turn.request_id, tab="context")
    assert "No history (first turn) no_history" in texts_of(html, "[aria-labelledby=rewriting-title] dd")
    assert "no_history" in texts_of(html, "[aria-labelledby=rewriting-title] code")


def test_a_turn_shows_what_the_detector_read_it_as(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    kept = {"was_rewritten": False, "skip_reason": "None", "skip_code": "no_signals", "terms": []}
    turn.context_report = {"rewriting": REWRITING | kept | {"read_as": ["Where does she work? (Maria)"]}}
    turn.save()
    html = page(member_client(project), "turn", turn.session.session_id, turn.request_id, tab="context")
    assert "Where does she work? (Maria) by the detector" in texts_of(html, "[aria-labelledby=rewriting-title] dd")
    assert "as it was asked" not in visible_text(html)


def test_a_turn_without_the_policies_has_no_such_part(project: Project) -> None:
    turn = add_turns(new_session(project), 1)[0]
    html = page(member_client(project), "turn", turn.session.session_id, turn.request_id, tab="context")
    assert not parsed(html).css("#rewriting-title")


def test_the_session_shows_what_it_remembers_and_for_how_long(project: Project) -> None:
    session = remembering(project)
    html = page(member_client(project), "session", session.session_id, panel="settings")
    (shown,) = texts_of(html, '[aria-labelledby="state-memory"]')
    for text in ("Section 2.01", "Expires in", "Clear memory", "turn 1"):
        assert text in shown
    assert "Clear memory" not in texts_of(
        page(member_client(project, "viewer"), "session", session.session_id, panel="settings"), "button, summary"
    )


@pytest.mark.parametrize("hours", [5])
def test_memory_that_has_expired_is_not_shown(project: Project, hours: int) -> None:
    session = remembering(project, last_accessed_at=timezone.now() - timedelta(hours=hours))
    assert "Section 2.01" not in visible_text(
        page(member_client(project), "session", session.session_id, panel="settings")
    )


def test_the_button_asks_first_and_says_what_is_lost(project: Project) -> None:
    session = remembering(project)
    html = page(member_client(project), "session", session.session_id, panel="settings")
    form = f'form[action="{reverse("session-memory-clear", args=[session.session_id])}"]'
    (asked,) = parsed(html).css(f"details:has(> summary ~ {form}, > summary ~ * {form})")
    assert not asked.css(f"summary {form}")
    assert "forgotten for good" in asked.text()
    assert "Yes, clear for good" in asked.text()


def test_memory_is_cleared_by_its_button(project: Project) -> None:
    session = remembering(project)
    address = reverse("session-memory-clear", args=[session.session_id])
    assert member_client(project, "viewer").post(address).status_code == 403
    assert member_client(project).get(address).status_code == 405
    assert SessionMemory.objects.exists()
    assert member_client(project).post(address).status_code == 302
    assert not SessionMemory.objects.exists()
    assert session.events.filter(kind="memory.cleared").exists()
