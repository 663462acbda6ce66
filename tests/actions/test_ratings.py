"""Ratings of answers."""

import pytest

from mrpvm.errors import InvalidInput
from sessions_app.actions.sessions.session import delete_session
from sessions_app.actions.turns.ratings import NOTE_CHARS, rate_turn
from sessions_app.models import ExplainabilityTurn, Project, Session, TurnRating
from tests.web.page_scene import add_turns, new_session


@pytest.fixture
def session(project: Project) -> Session:
    return new_session(project)


@pytest.fixture
def turn(session: Session) -> ExplainabilityTurn:
    return add_turns(session, 1)[0]


def test_the_latest_word_holds_and_can_be_taken_back(turn: ExplainabilityTurn, session: Session) -> None:
    rate_turn(turn, "up")
    rate_turn(turn, "down", "  It was the cat.  ")
    rating = TurnRating.objects.get()
    assert (rating.value, rating.note) == ("down", "It was the cat.")
    rate_turn(turn, "")
    assert not TurnRating.objects.exists()
    news = session.events.filter(kind="turn.rated").order_by("sequence")
    assert [event.payload["value"] for event in news] == ["up", "down", ""]


def test_an_expired_session_s_answers_can_be_rated(turn: ExplainabilityTurn) -> None:
    Session.objects.update(expired_at=turn.created_at)
    rate_turn(ExplainabilityTurn.objects.get(), "up")
    assert TurnRating.objects.exists()


@pytest.mark.parametrize(("value", "note"), [("sideways", ""), ("up", "x" * (NOTE_CHARS + 1))])
def test_what_is_no_rating_changes_nothing(turn: ExplainabilityTurn, value: str, note: str) -> None:
    rate_turn(turn, "up", "first")
    with pytest.raises(InvalidInput):
        rate_turn(turn, value, note)
    assert TurnRating.objects.get().note == "first"


def test_a_turn_without_an_answer_cannot_be_rated(session: Session) -> None:
    with pytest.raises(InvalidInput, match="gave no answer"):
        rate_turn(add_turns(session, 1, "failed")[0], "down")


def test_a_rating_goes_with_its_session(turn: ExplainabilityTurn, session: Session) -> None:
    rate_turn(turn, "up")
    delete_session(session)
    Session.objects.all().delete()
    assert not TurnRating.objects.exists()
