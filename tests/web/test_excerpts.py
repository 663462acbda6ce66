"""Excerpts of texts around the search terms."""

from collections.abc import Sequence

import pytest

from sessions_app.web.shell.excerpts import ExcerptPart, excerpt


def shown(text: str, words: Sequence[str], chars: int = 60) -> str:
    return "".join(f"[{part.text}]" if part.is_hit else part.text for part in excerpt(text, words, chars))


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("The pump\n  needs a valve.", ["valve", "PUMP"], "The [pump] needs a [valve]."),
        ("pumps and pump", ["pump", "pumps"], "[pumps] and [pump]"),
        ("红色水泵需要一个阀门。", ["阀", "门"], "红色水泵需要一个[阀门]。"),
        ("a+b (c)", ["+", "("], "a[+]b [(]c)"),
        ("nothing here", ["pump"], "nothing here"),
        ("nothing here", [], "nothing here"),
    ],
)
def test_hits_are_marked(text: str, words: Sequence[str], expected: str) -> None:
    assert shown(text, words) == expected


def test_what_is_left_out_is_told_at_both_ends() -> None:
    assert shown(f"{'a ' * 50}pump{' b' * 50}", ["pump"], 30) == f"…{'a ' * 5}[pump]{' b' * 8}…"


def test_the_stretch_with_the_most_words_is_shown() -> None:
    text = f"The heater is old. {'It stands still. ' * 9}Now hold the power button."
    assert shown(text, ["hold", "the", "power", "button"]).endswith("Now [hold] [the] [power] [button].")


def test_many_hits_take_no_long_time() -> None:
    parts = excerpt("the power " * 20_000, ["the", "power"])
    assert parts[0] == ExcerptPart(text="the", is_hit=True)
