"""The filter language: valid terms, and messages about invalid ones."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.queries.search.filter_language import FILTER_CHARS, KEYS, Term, parse


def read(text: str) -> list[tuple[str, str, object]]:
    """Return the terms of a text without problems."""
    found = parse(text)
    assert found.problems == ()
    return [(f"{'-' if term.is_negated else ''}{term.key}", term.operator, term.value) for term in found.terms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("rex", [("", "=", "rex")]),
        ('"my cat" dog', [("", "=", "my cat"), ("", "=", "dog")]),
        ("status:FAILED", [("status", "=", "failed")]),
        ('kb:"Hand book"', [("kb", "=", "Hand book")]),
        ("-rating:down -rex", [("-rating", "=", "down"), ("-", "=", "rex")]),
        ("level:>=2 level:0", [("level", ">=", 2), ("level", "=", 0)]),
        ("duration:>2s duration:<=1.5min", [("duration", ">", 2_000), ("duration", "<=", 90_000)]),
        ("duration:40ms", [("duration", "=", 40)]),
        ("after:2026-11-01", [("after", "=", datetime(2026, 11, 1, tzinfo=UTC))]),
        ("before:2026-11-01T12:30", [("before", "=", datetime(2026, 11, 1, 12, 30, tzinfo=UTC))]),
        ('"status:failed"', [("", "=", "status:failed")]),
        ("10:30 x-y", [("", "=", "10:30"), ("", "=", "x-y")]),
    ],
)  # fmt: skip
def test_what_is_understood(text: str, expected: list[tuple[str, str, object]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "said", "proposal"),
    [
        ("stats:failed", "no filter “stats”", "status:failed"),
        ("xyzzy:1", "no filter “xyzzy”", ""),
        ("status:faild", "status is one of active", "status:failed"),
        ("duration:>2", "a number with ms, s or min", "duration:>2s"),
        ("duration:2", "a number with ms, s or min", "duration:2s"),
        ("level:4", "from 0 to 3", ""),
        ("after:soon", "a date", ""),
        ("after:9999-12-31", "between 1970 and 9999", ""),
        ("kb:", "A value is missing", ""),
    ],
)
def test_what_is_not_understood_is_said_and_counts_for_nothing(text: str, said: str, proposal: str) -> None:
    found = parse(f"rex {text}")
    assert [term.value for term in found.terms] == ["rex"]
    (problem,) = found.problems
    assert (problem.text, problem.proposal) == (text, proposal)
    assert said in problem.reason
    if proposal:
        assert parse(proposal).problems == ()


def test_every_example_is_understood() -> None:
    for name, key in KEYS.items():
        (term,) = parse(key.example).terms
        assert term.key == name
        for value in key.values:
            assert parse(f"{name}:{value}").problems == ()


def test_a_text_that_is_too_long_is_cut_and_the_rest_is_named() -> None:
    (problem,) = parse("a" * FILTER_CHARS + "bcd").problems
    assert problem.text == "bcd"


def test_the_page_about_it_lists_every_filter() -> None:
    page = (Path(__file__).parents[2] / "docs/pages.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+:[^`]+)` \| (.*?) \|$", page, re.M))
    values = {key.example: key.meaning + (f": {', '.join(key.values)}" if key.values else "") for key in KEYS.values()}
    assert rows == values


@given(st.text(max_size=60) | st.from_regex(r"(-?[a-z]{1,8}:)?[<>=\"]?[0-9a-z\"]{0,8}( .*)?", fullmatch=True))
def test_no_text_breaks_it_and_no_word_is_lost(text: str) -> None:
    found = parse(text)
    kept = "".join(str(item.value) if not item.key else "" for item in found.terms) + "".join(
        problem.text for problem in found.problems
    )
    if not found.conditions:
        ignored = str.maketrans("", "", ' "-:\0')
        assert sorted("".join(kept.split()).translate(ignored)) == sorted("".join(text.split()).translate(ignored))
    assert all(isinstance(term, Term) for term in found.terms)
