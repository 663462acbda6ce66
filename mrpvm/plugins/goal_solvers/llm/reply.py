"""Converts an answer of the model to the text for readers, both while it is streamed and when it is complete.

The model cites by the numbers in the payload's context; readers see numbers in the order of citation. The text shown
while streaming is always the beginning of the final text.
"""

import re
from collections.abc import Callable

from msgspec import Struct

UNANSWERABLE = "UNANSWERABLE"
"""The model writes this if the evidence gives no answer."""
_MARK = re.compile(r"(?<![ \t])(?P<space>[ \t]*)(?<!\\)\[(?P<places>\d{1,3}(?:\s*,\s*\d{1,3})*)\](?!\()")
_OPEN_MARK = re.compile(r"(?<!\s)\s*\[[\d,\s]*\]?\Z")
_CITED = re.compile(r"^[ \t]*CITED[ \t]*:(?P<places>.*)\Z", re.MULTILINE | re.DOTALL)
_CITED_BEGUN = re.compile(r"(?:\A|\n)[ \t]*(?:C(?:I(?:T(?:E(?:D[ \t]*)?)?)?)?)?\Z")
_HEADING = re.compile(r"\A\s*===[^\n]*\n")
_FENCED = re.compile(r"\A```\w*[ \t]*\n(?P<text>.*)\n```\Z", re.DOTALL)


class CitedText(Struct, frozen=True, kw_only=True):
    """An answer's text with renumbered marks; `places` are the cited numbers of the context in mark order."""

    text: str
    places: tuple[int, ...]
    unknown: tuple[int, ...]
    is_no_context: bool = False


class AnswerReader:
    """Reads one answer piece by piece.

    Args:
        offered_count: how many sources the context has, numbered from 1.
        has_marks: False if the output form allows no marks, such as JSON; the text is then unchanged, shown only when
            it is complete, and its sources come only from the last line.
        needs_source: whether to show nothing before the first citation.
        show: called with text that may be shown.
    """

    def __init__(self, offered_count: int, *, has_marks: bool, needs_source: bool, show: Callable[[str], None]) -> None:
        self._offered_count = offered_count
        self._has_marks = has_marks
        self._needs_source = needs_source
        self._show = show
        self._written = ""
        self._shown_chars = 0

    def feed(self, piece: str) -> None:
        """Add a piece and show the text that is final by now."""
        self._written += piece
        if self._has_marks:
            self._advance(self._read(self._certain()))

    def close(self) -> CitedText:
        """Show the rest of the answer and return the whole of it."""
        reading = self._read(_HEADING.sub("", self._written))
        self._advance(reading)
        return reading

    def _advance(self, reading: CitedText) -> None:
        held_back = reading.is_no_context or (self._needs_source and not reading.places)
        if not held_back and len(reading.text) > self._shown_chars:
            self._show(reading.text[self._shown_chars :])
            self._shown_chars = len(reading.text)

    def _certain(self) -> str:
        """Return the part of the text, without its heading, that later pieces cannot change."""
        begun = self._written.lstrip()
        if begun.startswith("=") and "\n" not in begun:
            return ""
        # This comes first, because the end of the heading could be held back.
        written = _HEADING.sub("", self._written)
        begun = written.lstrip()
        if UNANSWERABLE.startswith(begun) or begun.startswith(UNANSWERABLE):
            return ""
        if closing := _CITED.search(written):
            return written[: closing.start()]
        return _OPEN_MARK.sub("", _CITED_BEGUN.sub("", written))

    def _read(self, written: str) -> CitedText:
        closing = _CITED.search(written)
        listed = [int(place) for place in re.findall(r"\d{1,3}", closing["places"])] if closing else []
        body = (written[: closing.start()] if closing else written).strip()
        if body.startswith(UNANSWERABLE) or not body:
            return CitedText(text="", places=(), unknown=(), is_no_context=True)
        counted = _Counted(self._offered_count)
        if self._has_marks:
            body = _MARK.sub(counted.mark, body).strip()
        elif fenced := _FENCED.match(body):
            body = fenced["text"].strip()
        for place in listed:
            counted.number(place)
        return CitedText(text=body, places=tuple(counted.places), unknown=tuple(dict.fromkeys(counted.unknown)))


class _Counted:
    """Numbers sources in the order of citation; numbers that the context does not have are left out."""

    def __init__(self, offered_count: int) -> None:
        self._offered_count = offered_count
        self.places: list[int] = []
        self.unknown: list[int] = []

    def number(self, place: int) -> int | None:
        """Return the new number for a number in the context, None if the context does not have it."""
        if not 1 <= place <= self._offered_count:
            self.unknown.append(place)
            return None
        if place not in self.places:
            self.places.append(place)
        return self.places.index(place) + 1

    def mark(self, match: re.Match[str]) -> str:
        """Return the mark that replaces the model's mark."""
        numbers = [self.number(int(place)) for place in match["places"].split(",")]
        known = list(dict.fromkeys(number for number in numbers if number is not None))
        return match["space"] + "".join(f"[{number}]" for number in known) if known else ""
