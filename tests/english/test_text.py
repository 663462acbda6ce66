"""Words, terms and sentences."""

import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.english.words.lexicon import STOP_WORDS
from mrpvm.english.words.text import collapse, cut_at_word, overlap, sentence_spans, sentences, stem, terms, words


@pytest.mark.rule("INTENT-11", "BUILTIN-21")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog's bones!", ["dog", "bone"]),
        ("The dog\u2019s bones", ["dog", "bone"]),
        ("a well-known fact", ["well-known", "well", "know", "fact"]),
        ('(Pumps), "valves"; pipes.', ["pump", "valv", "pipe"]),
        ("She wrote what they write", ["write", "write"]),
        ("Anna fled; children ran", ["anna", "flee", "child", "run"]),
        ("3.5 kg at 10:30", ["3.5", "kg", "10:30"]),
        ("constructor __proto__", ["constructor", "proto"]),
        ("word\u2014word", ["word", "word"]),
        ("it is what it is", []),
        (
            "水泵需要阀门。",
            ["水泵", "泵需", "需要", "要阀", "阀门"],
        ),
        ("水, 第3台iPhone手机", ["水", "第", "台", "手机", "3", "iphon"]),
        ("ポンプは「青」", ["ポン", "ンプ", "プは", "青"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


def test_stop_words_are_kept_as_words() -> None:
    assert words("Is THE dog's owner here?") == ("is", "the", "dog", "owner", "here")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith came. He left.", ["Dr. Smith came.", "He left."]),
        ("Mr. and Mrs. Rey vs. the town.", ["Mr. and Mrs. Rey vs. the town."]),
        ("J. Smith won. Then he slept.", ["J. Smith won.", "Then he slept."]),
        ("We met John F. Kennedy. It rained.", ["We met John F. Kennedy.", "It rained."]),
        ("Open valve B. The tank fills.", ["Open valve B.", "The tank fills."]),
        ("It costs 3.50 francs. Cheap!", ["It costs 3.50 francs.", "Cheap!"]),
        ("my dog is rex. my cat is tom.", ["my dog is rex.", "my cat is tom."]),
        ("See e.g. the pump. Stop.", ["See e.g. the pump.", "Stop."]),
        ("One\n\nTwo", ["One", "Two"]),
        ("Keep calm. 2. Leave. 3. Wait.", ["Keep calm.", "2. Leave.", "3. Wait."]),
        ("The year was 12. Then it rained.", ["The year was 12.", "Then it rained."]),
        ('He said "go." She went.', ['He said "go."', "She went."]),
        (
            "泵是蓝色的。阀门？\u201c对。\u201d好",
            ["泵是蓝色的。", "阀门？", "\u201c对。\u201d", "好"],
        ),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.rule("BUILTIN-21")
@given(st.text())
def test_tokenizing_is_total_and_clean(text: str) -> None:
    for term in terms(text):
        assert term
        assert term == term.strip()
    assert all(word not in STOP_WORDS or word in words(text) for word in words(text))


@given(st.text())
def test_spans_are_ordered_disjoint_and_lose_nothing_but_space(text: str) -> None:
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_and_edges_do_not_change_terms(text: str) -> None:
    assert terms(text.upper()) == terms(text.lower())


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_cuts_keep_the_limit(text: str, limit: int) -> None:
    assert len(cut_at_word(text, limit)) <= limit


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_overlap_is_symmetric_and_bounded(left: list[str], right: list[str]) -> None:
    assert overlap(left, right) == overlap(right, left)
    assert 0 <= overlap(left, right) <= 1


@given(st.text())
def test_collapse_is_idempotent(text: str) -> None:
    assert collapse(collapse(text)) == collapse(text)


def test_stemming_is_the_same_in_every_thread() -> None:
    wanted = [f"running{number}s" for number in range(200)]
    expected = [stem(word) for word in wanted]
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append([terms(word)[0] for word in wanted])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.mark.parametrize(
    ("written", "typed"),
    [("zürich", "zurich"), ("bjørk", "bjork"), ("cafés", "cafe"), ("łódź", "lodz"), ("josé", "jose")],
)
def test_accents_of_latin_letters_tell_no_words_apart(written: str, typed: str) -> None:
    assert stem(written) == stem(typed)


@pytest.mark.parametrize("word", ["नमस्ते", "かばん", "ёлка", "йод", "ναί"])
def test_marks_of_other_scripts_stay(word: str) -> None:
    assert stem(word) == word
