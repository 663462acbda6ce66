"""Splits a chunk of a source into statements.

A source addresses its readers and not the answerer: an imperative in it is a step, and lines may be wrapped at the
width of a page. So everything but its questions is kept.
"""

import re
from collections import deque
from collections.abc import Sequence
from copy import replace
from itertools import pairwise

from mrpvm.english.messages.instructions import without_reminder
from mrpvm.english.messages.kinds import asks_reader
from mrpvm.english.messages.small_talk import is_phatic
from mrpvm.english.sentences.dialogue import Utterance
from mrpvm.english.words.lexicon import pattern
from mrpvm.english.words.text import QUESTION_MARKS, collapse, sentences
from mrpvm.plugins.seed_detectors.symbolic.answered_questions import answered_questions
from mrpvm.plugins.seed_detectors.symbolic.plain_headings import PlainHeading, is_labelled, plain_headings
from mrpvm.plugins.seed_detectors.symbolic.segmentation import (
    Line,
    MessageStatement,
    Segmentation,
    Segmenter,
    lines_of,
)
from mrpvm.plugins.seed_detectors.symbolic.tables import Row, first_table, table_rows

_QUESTIONS_LEAD = pattern("source_text.questions_lead")
_SENTENCE_END = re.compile(r"[.!?:\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]*_]*$")
_OPEN_END = pattern("source_text.open_end")
_CELL = "|"
_FENCES = ("```", "~~~")
_WRAPPED_CHARS = 60
"""A line of at least this length without a final mark is wrapped, whatever follows."""
_FULL = 0.8
"""A line of this share of its paragraph's width counts as full: people do not break lines as exactly as programs."""
_NARROW_CHARS = 25
"""The narrowest column in which prose is wrapped."""


class _SourceSegmenter(Segmenter):
    """Splits one chunk in a single pass over its lines."""

    def __init__(self) -> None:
        super().__init__()
        self._headings: deque[PlainHeading] = deque()
        self._is_short = False
        self._lead = ""  # a sentence that introduces what is in the next paragraph, such as a command

    def run(self, text: str) -> Segmentation:
        result = super().run(text)
        self._state_lead()
        return result

    def _lines(self, text: str) -> list[Line]:
        """Return the lines, each item with those that go on with it, and none empty within a list or below its lead."""
        parted = answered_questions(_without_fences(text.splitlines()))
        raw = parted.lines
        lines_read: list[Line] = []
        headings = {
            place: heading for place, heading in plain_headings(raw).items() if not _QUESTIONS_LEAD.match(heading.text)
        }
        headings |= {place: PlainHeading(asked, is_of_paragraph=False) for place, asked in parted.questions.items()}
        self._headings.extend(heading for _, heading in sorted(headings.items()))
        for place, line in enumerate(raw):
            last = lines_read[-1] if lines_read else None
            if place in headings:
                lines_read.append(Line(headings[place].text, is_item=False, is_numbered=False))
                continue
            if last and last.is_item and _continues(last, line):
                lines_read[-1] = replace(last, text=f"{last.text} {line.strip()}")
            elif not line.strip() and last and _leads_to(last, raw[place + 1 : place + 2]):
                continue
            else:
                lines_read += lines_of(line) or [Line("", is_item=False, is_numbered=False)]
        return lines_read

    def _joined(self) -> str:
        return unwrapped(self._prose)

    def _take_line(self, text: str) -> None:
        if self._headings and text.strip() == self._headings[0].text:
            self._open_section(self._headings.popleft())
            return
        super()._take_line(text)
        if self._is_short and not text.strip():
            self._heading, self._is_short = None, False

    def _take_heading(self, title: str | None, level: int) -> None:
        self._state_lead()
        super()._take_heading(title, level)

    def _take_utterance(self, utterance: Utterance) -> None:
        self._state_lead()
        super()._take_utterance(utterance)

    def _open_section(self, heading: PlainHeading) -> None:
        """Begin the section of a heading without marks; unless it is a question it is kept as a separate line."""
        self._flush_prose()
        self._state_lead()
        self._heading = None
        if not heading.text.endswith(QUESTION_MARKS):
            self._add_statement(heading.text)
            self.block += 1
        self._heading, self._is_short = heading.text, heading.is_of_paragraph

    def _flush_prose(self) -> None:
        lines = self._prose
        while (table := first_table(lines)) is not None:
            start, end = table
            rows = table_rows(lines[start:end])
            self._prose = lines[: start if rows is not None else end]
            super()._flush_prose()
            self._state_lead()
            for row in rows or ():
                self._state_row(row)
            lines = lines[end:]
        self._prose = lines
        super()._flush_prose()

    def _state_row(self, row: Row) -> None:
        if not row.name and row.cells:
            self._add_statement(" | ".join(cell for _, cell in row.cells))  # it does not say what it is about
            self.block += 1
        elif row.value is not None:
            self._add_statement(f"{row.name}: {row.value}")
            self.block += 1
        elif row.cells:
            self._state_list(f"{row.name}:", [f"{label}: {cell}" for label, cell in row.cells], is_procedure=False)

    def _take_list(self, items: list[Line]) -> None:
        lead = self._take_lead()
        texts = [collapse(item.text) for item in items]
        if _QUESTIONS_LEAD.match(lead) or all(asks_reader(text) for text in texts):
            self._flush_prose()
            return
        stated = [text for text in texts if not text.endswith(QUESTION_MARKS)]
        self._state_list(lead, stated, is_procedure=all(item.is_numbered for item in items))

    def _state_lead(self) -> None:
        """Add the sentence whose introduced text did not come."""
        if self._lead:
            self._add_statement(without_reminder(self._lead))
            self._lead = ""

    def _take_lead(self) -> str:
        if not self._prose and self._lead:
            lead, self._lead = self._lead, ""
            return lead
        parts = sentences(self._joined())
        if not parts or not (parts[-1].endswith(":") or _QUESTIONS_LEAD.match(parts[-1])):
            return ""
        self._prose = [" ".join(parts[:-1])]
        return parts[-1]

    def _take_sentence(self, sentence: str) -> None:
        if not any(map(str.isalnum, sentence)):
            return
        if (self._heading or "").endswith(QUESTION_MARKS):  # "Yes." and "Send us a letter." answer it
            is_stated = not sentence.endswith(QUESTION_MARKS)
        else:
            is_stated = not asks_reader(sentence) and not is_phatic(sentence)
        if not is_stated:
            return
        if sentence.endswith(":"):
            self._state_lead()
            self._lead = sentence
        else:
            self._add_statement(without_reminder(f"{self._lead} {sentence}".lstrip()))
            self._lead = ""


def _without_fences(lines: Sequence[str]) -> list[str]:
    """Return the lines without the fences of code, and code without the `#` of its comments, which head nothing."""
    fence, read = "", list[str]()
    for line in lines:
        mark = line.strip()[:3]
        if mark in _FENCES and mark == (fence or mark):
            fence = "" if fence else mark
            read.append("")
        else:
            read.append(line.lstrip(" \t#") if fence else line)
    return read


def _continues(item: Line, line: str) -> bool:
    """Return whether a line goes on with the item above it: it is indented, or begins in the middle of a sentence."""
    bare = line.strip()
    if not bare or any(part.is_item for part in lines_of(line)):
        return False
    return line[:2].isspace() or (bare[0].islower() and not _SENTENCE_END.search(item.text))


def _leads_to(last: Line, following: Sequence[str]) -> bool:
    """Return whether the line after an empty one is an item, below a lead or of the same kind as the last one."""
    items = [part for line in following for part in lines_of(line) if part.is_item]
    if last.is_item:
        return any(item.is_numbered == last.is_numbered for item in items)
    return bool(items) and last.text.rstrip().endswith(":")


def unwrapped(lines: list[str]) -> str:
    """Return the lines of one paragraph as one text; where one ends a statement without a mark, an empty line says so.

    A line without a final mark is wrapped where it is long or ends in the middle of a phrase, and in a paragraph that
    ends as a sentence does, where the next line begins small or its first word had no room any more.
    """
    bare = [line.strip() for line in lines]
    if not bare:
        return ""
    width = max(map(len, bare))
    is_prose = width >= _NARROW_CHARS and bool(_SENTENCE_END.search(bare[-1]))
    text = bare[0]
    for line, following in pairwise(bare):
        text += ("\n" if _is_wrapped(line, following, width if is_prose else 0) else "\n\n") + following
    return text


def _is_wrapped(line: str, following: str, width: int) -> bool:
    if line.startswith(_CELL) or following.startswith(_CELL):
        return False
    if is_labelled(line) and is_labelled(following) and not following[:1].islower():
        return False
    if len(line) >= _WRAPPED_CHARS or _OPEN_END.search(line):
        return True
    if not width or _SENTENCE_END.search(line):
        return False
    first_word, _, _ = following.partition(" ")
    return following[:1].islower() or len(line) + 1 + len(first_word) > _FULL * width


def statements_of(text: str) -> list[MessageStatement]:
    """Return what a chunk of a source states, in order."""
    return _SourceSegmenter().run(text).statements
