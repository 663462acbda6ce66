"""Caches of texts: their total size is counted and limited."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.text_cache import ENTRY_BYTES, CacheGroup, TextCache, deep_size


@dataclass(frozen=True, slots=True)
class Parsed:
    words: tuple[str, ...]


@pytest.fixture
def group() -> CacheGroup:
    return CacheGroup(max_bytes=20_000)


def parser(group: CacheGroup, calls: list[str]) -> TextCache[[str], Parsed]:
    def parse(text: str) -> Parsed:
        calls.append(text)
        return Parsed(tuple(text.split()))

    return TextCache(parse, group)


def test_a_result_is_worked_out_once(group: CacheGroup) -> None:
    calls: list[str] = []
    parse = parser(group, calls)
    assert parse("one two") is parse("one two")
    assert calls == ["one two"]


def test_arguments_with_names_are_told_apart() -> None:
    @TextCache
    def joined(text: str, *, late: bool = False) -> str:
        return f"{text} {late}"

    assert [joined("a"), joined("a", late=True), joined("a")] == ["a False", "a True", "a False"]


def test_all_caches_together_stay_within_the_bound(group: CacheGroup) -> None:
    first, second = parser(group, []), parser(group, [])
    for number in range(200):
        first(f"some words of sentence {number}")
        second(f"other words of sentence {number}")
        assert group.held_bytes <= 20_000
    assert first.held_bytes > 0
    assert second.held_bytes > 0


def test_what_was_not_asked_for_longest_goes_first(group: CacheGroup) -> None:
    calls: list[str] = []
    parse = parser(group, calls)
    for number in range(100):
        parse("asked for again and again")
        parse(f"asked for once {number}")
    assert calls.count("asked for again and again") == 1
    parse("asked for once 0")
    assert calls.count("asked for once 0") == 2


def test_a_text_larger_than_the_bound_is_answered_and_not_kept(group: CacheGroup) -> None:
    parse = parser(group, [])
    parse("kept")
    held = group.held_bytes
    assert parse("long " * 10_000).words[0] == "long"
    assert group.held_bytes == held


def test_a_cleared_cache_holds_nothing(group: CacheGroup) -> None:
    parse = parser(group, [])
    parse("one")
    parse.cache_clear()
    assert group.held_bytes == 0


def test_an_error_is_not_kept(group: CacheGroup) -> None:
    def fail(text: str) -> str:
        raise ValueError(text)

    cached = TextCache(fail, group)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            cached("bad")
    assert group.held_bytes == 0


def test_threads_share_a_cache(group: CacheGroup) -> None:
    parse = parser(group, [])
    texts = [f"sentence {number % 90} of a story" for number in range(3_000)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(parse, texts)) == [Parsed(tuple(text.split())) for text in texts]
    assert sum(size for _, size in parse._results.values()) == group.held_bytes <= 20_000


@dataclass(frozen=True, slots=True)
class Clause:
    words: tuple[str, ...]
    outer: "Clause | None"


def test_what_is_held_in_two_places_counts_once() -> None:
    outer = Clause(("some", "words"), None)
    once = deep_size((outer,))
    assert deep_size((outer, outer)) - once < 16
    assert deep_size((outer, Clause(tuple("ab"), None))) - once > 60


def test_estimated_sizes_add_up_to_about_the_measured_ones(group: CacheGroup) -> None:
    texts = [" ".join(f"word{place * number}" for place in range(3 + number % 20)) for number in range(900)]
    group.max_bytes = 10_000_000
    parse = parser(group, [])
    measured = sum(ENTRY_BYTES + deep_size(text) + deep_size(parse(text)) for text in texts)
    assert 0.85 * measured < group.held_bytes < 1.15 * measured


@given(st.text(max_size=50), st.lists(st.text(max_size=20)))
def test_the_size_of_a_value_is_at_least_that_of_its_texts(text: str, words: list[str]) -> None:
    assert deep_size(Parsed((text, *words))) >= sum(len(part) for part in {text, *words})
