"""The page of the review queue, and several reviewers' ratings of an answer."""

import pytest
from django.test import Client
from django.urls import reverse
from selectolax.lexbor import LexborHTMLParser

from sessions_app.models import ExplainabilityTurn, Project, QueuedTurn, TurnScore
from tests.web.page_scene import (
    HOSTILE,
    add_turns,
    admin_of_another_project,
    check_html,
    member_client,
    new_session,
    notice,
    text_at,
    texts_of,
)


@pytest.fixture
def turns(project: Project) -> list[ExplainabilityTurn]:
    return add_turns(new_session(project), 2)


def page(client: Client, address: str) -> LexborHTMLParser:
    """Return a page, checked for sound HTML."""
    answer = client.get(address, follow=True)
    assert answer.status_code == 200
    check_html(answer.text)
    return LexborHTMLParser(answer.text)


def question(found: LexborHTMLParser) -> str:
    return found.css("#question")[0].text(strip=True) if found.css("#question") else ""


def act(client: Client, found: LexborHTMLParser, key: str, note: str = "") -> LexborHTMLParser:
    """Press the button of a key; return the page that follows."""
    button = found.css_first(f'button[aria-keyshortcuts="{key}"]')
    form = found.css_first("article form").attributes["action"]
    answer = client.post(form, {"value": button.attributes["value"], "note": note}, follow=True)
    check_html(answer.text)
    return LexborHTMLParser(answer.text)


def test_turns_are_reviewed_one_after_the_other(project: Project, turns: list[ExplainabilityTurn]) -> None:
    anna, bea = member_client(project, "editor", "anna"), member_client(project, "editor", "bea")
    added = anna.post(reverse("turns-review"), {"which": "found", "q": "status:answered"}, follow=True)
    assert notice(added.text) == "2 turns added to the review queue."
    first = page(anna, reverse("review"))
    assert question(first) == "Question 1?"
    assert "assistant 1" in first.css_first(".answer").text()
    later = page(anna, first.css_first('a[aria-keyshortcuts="n"]').attributes["href"] or "")
    assert question(later) == "Question 2?"
    assert question(act(anna, later, "s")) == "Question 1?"
    done = act(anna, first, "d", "Too short.")
    assert text_at(done, ".empty h2") == "All reviewed"
    assert act(bea, page(bea, reverse("review")), "d").css(".table tbody tr")
    scores = TurnScore.objects.order_by("pk").values_list("person", "turn", "value", "note")
    one, two = (turn.pk for turn in turns)
    expected = [("anna", two, "skipped", ""), ("anna", one, "down", "Too short."), ("bea", one, "down", "")]
    assert list(scores) == expected


def test_thumbs_of_others_stand_beside_the_own(project: Project, turns: list[ExplainabilityTurn]) -> None:
    turn = turns[0]
    anna, bea = member_client(project, "editor", "anna"), member_client(project, "editor", "bea")
    rate = reverse("turn-rate", args=[turn.session.session_id, turn.request_id])
    anna.post(rate, {"value": "down", "note": HOSTILE})
    shown = page(bea, reverse("session", args=[turn.session.session_id])).css_first(f"#rating-{turn.turn_index}")
    assert shown.css('[aria-pressed="true"]') == []
    assert text_at(shown, "span.small").startswith(f"Rated bad by anna: {HOSTILE[:40]}")
    own = bea.post(rate, {"value": "up"}, headers={"HX-Request": "true"}).text
    assert len(LexborHTMLParser(own).css('[aria-pressed="true"]')) == 1
    viewer = page(member_client(project, "viewer"), reverse("session", args=[turn.session.session_id]))
    rated = viewer.css_first(f"#rating-{turn.turn_index}")
    assert rated.css("button") == []
    assert "Rated good by bea" in texts_of(rated, "span.small")


def test_reviews_need_the_role_and_the_project(project: Project, turns: list[ExplainabilityTurn]) -> None:
    member_client(project, "editor").post(reverse("turns-review"), {"turn": [turns[0].request_id]})
    viewer, stranger = member_client(project, "viewer"), admin_of_another_project()
    shown = page(viewer, reverse("review"))
    assert (question(shown), shown.css("article button")) == ("Question 1?", [])
    rate = reverse("review-rate", args=[turns[0].session.session_id, turns[0].request_id])
    for address in (rate, reverse("review-clear"), reverse("turns-review")):
        assert viewer.post(address, {"value": "up"}).status_code == 403
    assert text_at(page(stranger, reverse("review")), ".empty h2") == "Nothing to review"
    assert stranger.post(rate, {"value": "up"}).status_code == 404
    stranger.post(reverse("review-clear"))
    assert QueuedTurn.objects.count() == 1
