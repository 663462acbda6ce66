"""Maximal marginal relevance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.knowledge.diversity import diverse_order

WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=6)
CANDIDATES = st.lists(st.tuples(st.floats(0, 2), WORDS), max_size=12).map(
    lambda rows: sorted(rows, key=lambda row: -row[0])
)


def order(rows: list[tuple[float, frozenset[str]]], limit: int, **changes: float) -> list[int]:
    return [pick.place for pick in diverse_order([row[0] for row in rows], [row[1] for row in rows], limit, **changes)]


@pytest.mark.rule("BUILTIN-26")
def test_what_repeats_the_first_gives_way_to_something_new() -> None:
    rows = [(1.0, frozenset("abc")), (0.95, frozenset("abc")), (0.8, frozenset("def"))]
    picks = diverse_order([row[0] for row in rows], [row[1] for row in rows], 2)
    assert [(pick.place, pick.closest) for pick in picks] == [(0, None), (2, None)]
    assert order(rows, 3) == [0, 2, 1]


def test_novelty_does_not_lift_what_is_far_less_relevant() -> None:
    rows = [(1.0, frozenset("abc")), (0.9, frozenset("abc")), (0.3, frozenset("def"))]
    assert order(rows, 2) == [0, 1]


def test_a_pick_names_what_it_is_closest_to() -> None:
    rows = [(1.0, frozenset("abcd")), (0.9, frozenset("xyz")), (0.8, frozenset("abef"))]
    last = diverse_order([row[0] for row in rows], [row[1] for row in rows], 3)[-1]
    assert (last.place, last.closest, last.overlap) == (2, 0, 2 / 6)


@given(CANDIDATES, st.integers(0, 15))
def test_picks_are_distinct_and_the_most_relevant_is_first(
    rows: list[tuple[float, frozenset[str]]], limit: int
) -> None:
    places = order(rows, limit)
    assert len(places) == len(set(places)) == min(limit, len(rows))
    assert places[:1] == ([0] if rows and limit else [])
    assert order(rows, len(rows))[:limit] == places, "a smaller limit is the beginning of a larger one"


@given(CANDIDATES)
def test_relevance_alone_keeps_the_order(rows: list[tuple[float, frozenset[str]]]) -> None:
    assert order(rows, len(rows), relevance_share=1.0) == list(range(len(rows)))


@given(CANDIDATES)
def test_of_equal_texts_the_more_relevant_comes_first(rows: list[tuple[float, frozenset[str]]]) -> None:
    places = order(rows, len(rows))
    for words in {row[1] for row in rows}:
        same = [place for place in places if rows[place][1] == words]
        assert same == sorted(same)


@given(CANDIDATES)
def test_only_the_ratio_of_relevances_counts(rows: list[tuple[float, frozenset[str]]]) -> None:
    scaled = [(relevance * 4, words) for relevance, words in rows]
    assert order(scaled, len(rows)) == order(rows, len(rows))
