"""Finds the questions of a source that answers them: a list of frequent questions, or an interview."""

import re
from collections.abc import Sequence

from msgspec import Struct

from mrpvm.english.words.lexicon import pattern
from mrpvm.english.words.text import QUESTION_MARKS
from mrpvm.plugins.seed_detectors.symbolic.plain_headings import is_labelled

_ASKED = pattern("source_text.asked")
_ANSWERED = pattern("source_text.answered")
"""The label of an answer: "A: In the yard."."""
_MARKED_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_LEAST_UNMARKED = 3
"""A text with this number of questions in lines of their own is a list of questions, although nothing marks them."""


class AnsweredQuestions(Struct, frozen=True):
    """The lines of a text, each question in a line of its own and without marks, and the questions by their places."""

    lines: tuple[str, ...]
    questions: dict[int, str]


class _Asked(Struct, frozen=True):
    """A question; `is_marked` is true for one with a label or in bold: "Q: Where can I park?", "**Is it free?**"."""

    text: str
    is_marked: bool


def answered_questions(lines: Sequence[str]) -> AnsweredQuestions:
    """Return the questions that an answer follows, in the same line or below."""
    parted: list[str] = []
    asked: dict[int, _Asked] = {}
    for line in lines:
        question, answer = _question_and_answer(line)
        if question:
            asked[len(parted)] = question
        parted += [question.text if question and answer else line, *([answer] if answer else [])]
    below = {
        place: next((other for other in range(place + 1, len(parted)) if parted[other].strip()), None)
        for place in asked
    }
    answered = {
        place: other
        for place, other in below.items()
        if other is not None and other not in asked and not _MARKED_HEADING.match(parted[other])
    }
    if len(answered) < _LEAST_UNMARKED:
        answered = {place: other for place, other in answered.items() if asked[place].is_marked}
    for place, other in answered.items():
        parted[place] = asked[place].text
        parted[other] = _ANSWERED.sub("", parted[other].strip())
    return AnsweredQuestions(tuple(parted), {place: asked[place].text for place in answered})


def _question_and_answer(line: str) -> tuple[_Asked | None, str]:
    """Return the question of a line and the answer behind it, if any; an unmarked one must be all of its line."""
    match = _ASKED.match(line.strip())
    if match is None:
        return None, ""
    is_marked = match["label"] is not None or bool((match["open"] or match["bold"]) and match["close"])
    if line.strip().rstrip("*_").endswith(QUESTION_MARKS):  # it may be more than one question
        whole = line.strip()[match.start("asked") :].rstrip("*_")
        return (_Asked(whole, is_marked), "") if is_marked or not is_labelled(whole) else (None, "")
    return (_Asked(match["asked"], is_marked=True), match["answer"]) if is_marked else (None, "")
