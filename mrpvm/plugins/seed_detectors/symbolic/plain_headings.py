"""Finds headings in a plain text without heading marks."""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from msgspec import Struct

from mrpvm.english.words.lexicon import AUXILIARIES, INTERROGATIVES
from mrpvm.english.words.text import QUESTION_MARKS, words
from mrpvm.plugins.seed_detectors.symbolic.segmentation import lines_of

_MARKED = re.compile(r"^\s{0,3}#{1,6}\s", re.MULTILINE)
_TITLE = re.compile(r"^[^\W_a-z][^.:;!?|\u2026]*\w\)?$")
_LABELLED = re.compile(r"^[*_]{0,3}[^\W\d_][^:|.!?;]{0,60}:\**\s+\S")
_SENTENCE = re.compile(r"^\W*[^\W_a-z].*[.!?\u2026][\"'\u201d\u2019)]*$")
_TITLE_CHARS = 60
_TITLE_WORDS = 6
_QUESTION_CHARS = 100


class PlainHeading(Struct, frozen=True):
    """A heading without marks; `is_of_paragraph` is true if it heads only the lines directly below it."""

    text: str
    is_of_paragraph: bool


def plain_headings(lines: Sequence[str]) -> dict[int, PlainHeading]:
    """Return the headings by their places, none in a text that marks its headings; the first line is the title.

    A heading begins its paragraph, is short and has no final mark or is a question; sentences, labels or a list follow.
    """
    bare = [line.strip() for line in lines]
    if any(_MARKED.match(line) for line in lines):
        return {}
    headings = {}
    first = next((place for place, line in enumerate(bare) if line), 0)
    for place, line in enumerate(bare[:-1]):
        if not line or (place and bare[place - 1]):
            continue
        is_attached = bool(bare[place + 1])
        below = next((other for other in bare[place + 1 :] if other), "")
        asks = is_attached and _asks(line) and not below.endswith(QUESTION_MARKS) and not is_labelled(below)
        if asks or (place > first and _is_title(line) and _heads(list(takewhile(bool, bare[place:])), below)):
            headings[place] = PlainHeading(line, is_of_paragraph=is_attached)
    return headings


def is_labelled(line: str) -> bool:
    """Return whether a line begins with a label and a colon that text follows."""
    return _LABELLED.match(line) is not None


def _asks(line: str) -> bool:
    tokens = words(line)
    return (
        line.endswith(QUESTION_MARKS)
        and len(line) <= _QUESTION_CHARS
        and len(tokens) > 2
        and tokens[0] in INTERROGATIVES | AUXILIARIES
        and not lines_of(line)[0].is_item
    )


def _is_title(line: str) -> bool:
    is_short = len(line) <= _TITLE_CHARS and len(line.split()) <= _TITLE_WORDS
    return is_short and _TITLE.match(line) is not None and not lines_of(line)[0].is_item


def _heads(paragraph: Sequence[str], below: str) -> bool:
    """Return whether a paragraph's first line can be the heading of its other lines."""
    if not below:
        return False
    if is_labelled(below) or lines_of(below)[0].is_item or below.startswith("|"):
        return True
    return bool(_SENTENCE.match(below)) and not _is_filled(paragraph)


def _is_filled(paragraph: Sequence[str]) -> bool:
    """Return whether no line had room for the next one's first word: such lines are one text, broken to a width.

    Two lines tell no width: a heading and one sentence look the same.
    """
    width = max(map(len, paragraph))
    return len(paragraph) > 2 and all(
        len(line) + 1 + len(following.partition(" ")[0]) > width for line, following in pairwise(paragraph)
    )
