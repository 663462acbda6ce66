"""Scores by several reviewers, the review queue, and the agreement of reviewers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.actions.turns.reviews import QueueResult, queue_turns, skip_turn, unqueue_turns
from sessions_app.models import ExplainabilityTurn, Project, TurnRating, TurnScore
from sessions_app.queries.turns.agreement import agreements, project_agreements
from sessions_app.queries.turns.reviews import next_queued, queue_counts
from tests.web.page_scene import add_turns, new_session

ANNA, BEA = Author(name="anna"), Author(name="bea")
GIVEN = st.lists(st.tuples(st.sampled_from(("up", "down")), st.sampled_from(("up", "down"))), min_size=1, max_size=30)


@pytest.fixture
def turns(project: Project) -> list[ExplainabilityTurn]:
    return add_turns(new_session(project), 3)


def test_the_rating_is_the_newest_score_that_is_left(turns: list[ExplainabilityTurn]) -> None:
    turn = turns[0]
    rate_turn(turn, "up", "Good.", ANNA)
    rate_turn(turn, "down", "Too short.", BEA)
    assert (TurnRating.objects.get().value, TurnScore.objects.count()) == ("down", 2)
    rate_turn(turn, "", author=BEA)
    assert (TurnRating.objects.get().value, TurnRating.objects.get().note) == ("up", "Good.")
    rate_turn(turn, "", author=BEA)
    assert TurnScore.objects.get().person == "anna"
    rate_turn(turn, "", author=ANNA)
    assert not TurnRating.objects.exists()


def test_a_skip_is_no_rating_and_takes_none_away(turns: list[ExplainabilityTurn]) -> None:
    skip_turn(turns[0], ANNA)
    assert not TurnRating.objects.exists()
    rate_turn(turns[0], "up", author=ANNA)
    skip_turn(turns[0], ANNA)
    assert TurnScore.objects.get().value == TurnRating.objects.get().value == "up"


def test_everybody_reviews_the_queue_in_its_order(project: Project, turns: list[ExplainabilityTurn]) -> None:
    failed = add_turns(turns[0].session, 1, "failed")
    assert queue_turns(project, [*turns[::-1], *failed], ANNA) == QueueResult(added=3, known=0, unanswered=1)
    assert queue_turns(project, turns[:1], BEA) == QueueResult(added=0, known=1, unanswered=0)
    first = next_queued(project, "anna")
    assert first is not None
    assert first.turn == turns[0]
    rate_turn(turns[0], "up", author=ANNA)
    skip_turn(turns[1], ANNA)
    later = next_queued(project, "anna", after=first.pk + 2)
    assert later is not None
    assert later.turn == turns[2]
    assert (queue_counts(project, "anna").done, queue_counts(project, "bea").done) == (2, 0)
    rate_turn(turns[2], "down", author=ANNA)
    assert next_queued(project, "anna") is None
    assert unqueue_turns(project, [turns[0].request_id]) == 1
    assert unqueue_turns(project) == 2
    assert TurnScore.objects.count() == 3


def test_a_project_sees_its_own_agreement(project: Project, turns: list[ExplainabilityTurn]) -> None:
    other = Project.objects.create(name="Other", slug="other")
    (foreign,) = add_turns(new_session(other), 1)
    for turn, first, second in ((turns[0], "up", "up"), (turns[1], "up", "down"), (foreign, "down", "down")):
        rate_turn(turn, first, author=ANNA)
        rate_turn(turn, second, author=BEA)
    skip_turn(turns[2], ANNA)
    rate_turn(turns[2], "up", author=BEA)
    found = project_agreements(project)
    assert (found.both_count, found.equal_count, found.equal_share) == (2, 1, 0.5)
    assert found.pairs[0].kappa == 0


def test_kappa_is_that_of_the_textbook() -> None:
    # 20 yes and yes, 5 yes and no, 10 no and yes, 15 no and no: 0.4.
    both = [("up", "up")] * 20 + [("up", "down")] * 5 + [("down", "up")] * 10 + [("down", "down")] * 15
    (pair,) = agreements(_given(both)).pairs
    assert pair.kappa == pytest.approx(0.4)


@given(both=GIVEN)
def test_agreement_does_not_depend_on_who_is_first(both: list[tuple[str, str]]) -> None:
    (pair,) = agreements(_given(both)).pairs
    (turned,) = agreements(_given([(second, first) for first, second in both])).pairs
    assert (pair.both_count, pair.equal_count, pair.kappa) == (turned.both_count, turned.equal_count, turned.kappa)
    values = {value for each in both for value in each}
    if pair.equal_count == pair.both_count:
        assert pair.kappa == (1 if len(values) == 2 else None)
    else:
        assert pair.kappa is not None
        assert -1 <= pair.kappa < 1


def _given(both: list[tuple[str, str]]) -> list[tuple[int, str, str]]:
    return [(turn, person, value) for turn, pair in enumerate(both) for person, value in zip("ab", pair, strict=True)]
