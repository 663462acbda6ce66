"""Rendering text as markup: answers as Markdown, payloads as trees. Neither can run anything."""

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.web.shell.json_tree import NODES_MAX, shown_json, shown_text
from sessions_app.web.shell.prose import plain, prose
from sessions_app.web.shell.words import why
from tests.web.page_scene import HOSTILE, Reader, links_of, parsed, texts_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@given(values)
def test_the_text_of_a_tree_is_the_json_itself(value: object) -> None:
    shown = shown_json(value, 64_000)
    if shown.is_empty:
        assert value is None or value in ({}, [])
    else:
        assert json.loads(text_of(shown.html)) == value
        assert Reader(shown.html).dangers == []


def test_a_large_value_opens_level_by_level() -> None:
    shown = shown_json({"small": {"a": {"b": 1}}, "large": [{"n": number} for number in range(100)]}, 64_000).html
    assert len(parsed(shown).css("details")) == 104
    assert parsed(shown).css('details.json-fold:not([open]) > summary[data-count="100 items"]')
    assert len(parsed(shown).css("details[open]")) == 3


def test_lines_of_a_text_are_seen_and_the_backslash_is_no_line() -> None:
    assert len(parsed(shown_json({"a": "one\ntwo"}, 1_000).html).css("br")) == 1
    assert "<br>" not in shown_json({"a": "C:\\new"}, 1_000).html


def test_a_long_value_is_cut_on_a_character_and_says_by_how_much() -> None:
    shown = shown_text("ü" * 10, 5)
    assert shown.html == "üü"
    assert shown.left_out_bytes == 16
    long = shown_json({"a": "<b>" * 1_000}, 100)
    assert long.left_out_bytes > 2_900
    assert "<b>" not in long.html


def test_a_value_of_very_many_nodes_is_plain_text() -> None:
    assert "<details" not in shown_json([[] for _ in range(NODES_MAX)], 64_000).html


def test_a_very_deep_value_is_plain_text() -> None:
    value: list[object] = []
    for _ in range(500):
        value = [value]
    assert shown_json(value, 64_000).html == "[" * 501 + "]" * 501


def test_prose_is_markdown() -> None:
    text = (
        "# Head\n\n**bold** `code`\nnext line\n\n1. one\n2. two\n\n```\n<pre>\n```\n\n| a | b |\n|--:|---|\n| 1 | 2 |"
    )
    shown = prose(text)
    page = parsed(shown)
    assert [texts_of(page, selector) for selector in ("p.prose__heading", "strong", "code:has(+ br)", "ol li")] == [
        ["Head"],
        ["bold"],
        ["code"],
        ["one", "two"],
    ]
    assert texts_of(page, "pre") == ["<pre>"]
    assert texts_of(page, "td") == ["1", "2"]
    assert "style" not in shown
    assert Reader(shown).dangers == []


def test_source_marks_lead_to_the_turn() -> None:
    shown = prose("Rex [1], Tom [12]. `[3]`", '/turn?a=1&b="2"#')
    for number in (1, 12):
        assert f'/turn?a=1&b="2"#{number}' in links_of(parsed(shown), "a.cite")
    assert texts_of(parsed(shown), "code") == ["[3]"]
    assert "cite" not in prose("Rex [1]")


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        f"```{HOSTILE}\n{HOSTILE}\n```",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://evil.example/pixel.png)",
        '[x](https://a.example "title\\" onclick=alert(1) x=\\"")',
        '<https://a.example/" onclick="alert(1)>',
        "|a|\n|:-:|\n|<svg onload=alert(1)>|",
    ],
)
def test_prose_runs_nothing(text: str) -> None:
    assert Reader(prose(text, '/x"><script>alert(1)</script>')).dangers == []


@given(st.text(alphabet="<>\"'&[]()!`*_#|-:=\n abjs/"))
def test_no_text_makes_prose_dangerous(text: str) -> None:
    assert Reader(prose(text, "/turn")).dangers == []


def test_links_tell_nothing_about_where_they_were() -> None:
    assert 'rel="noopener noreferrer nofollow"' in prose("[x](https://a.example)")


def test_codes_become_words_and_words_stay() -> None:
    assert why("TURN_CANCELLED") == "the turn was stopped"
    assert why("score 0.2 below 0.3") == "score 0.2 below 0.3"


def test_a_preview_is_words_without_marks() -> None:
    assert plain("**What is it?** A `pump`.\nIt *runs*… [1]\n\n- one\n- [two](http://a.example)") == (
        "What is it? A pump. It runs… [1] one two"
    )
    assert plain("1 < 2 & <b>3</b>") == "1 < 2 & <b>3</b>"
    assert plain("") == ""
    assert plain("1. One\n2. Two") == "1. One 2. Two"
