"""Excerpts of texts around the search terms."""

from collections.abc import Sequence

import pytest

from sessions_app.web.shell.excerpts import excerpt


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
