"""The filter language of lists and of the search: `status:failed plugin:kb-fast kb:"Handbook" duration:>2s rex`.

A text is words, `"several words"` and filters `key:value`, separated by spaces; a minus before one excludes its
results. Parsing never fails: a part that is not understood is ignored and reported, with a proposal if there is one.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from typing import Literal

type Operator = Literal["=", "<", "<=", ">", ">="]
type TermValue = str | int | datetime

FILTER_CHARS = 500
"""The most characters that are read. A cut is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One condition; `key` is empty for words to search for in texts."""

    key: str
    value: TermValue
    operator: Operator = "="
    is_negated: bool = False
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterProblem:
    """A part of the text that is ignored, the reason, and a proposal."""

    text: str
    reason: str
    proposal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A parsed text; rows have to match every term."""

    text: str
    terms: tuple[Term, ...] = ()
    problems: tuple[FilterProblem, ...] = ()

    @property
    def words(self) -> tuple[Term, ...]:
        """Return the terms that search for text."""
        return tuple(term for term in self.terms if not term.key)

    @property
    def conditions(self) -> tuple[Term, ...]:
        """Return the terms with a key."""
        return tuple(term for term in self.terms if term.key)


class _NotUnderstoodError(Exception):
    def __init__(self, reason: str, proposal: str = "") -> None:
        self.reason, self.proposal = reason, proposal


type _Reader = Callable[[str, str], tuple[Operator, TermValue]]
"""A function that reads a value. It takes the key, for proposals, and the text after the colon."""

OUTCOMES = ("answered", "noted", "quoted", "no-answer")
UNANSWERED = "unanswered"
"""The status of turns with no answer, and of those that only show the closest passage."""
STATUSES = ("active", "running", "succeeded", *OUTCOMES, UNANSWERED, "failed", "cancelled", "interrupted", "expired")
MARKS = ("rewritten", "left-out", "ungrounded", "slow", "imported")
SLOW_MS = 1_000
"""A turn that took longer is slow."""
KINDS = ("sessions", "turns", "units", "errors")
RATINGS = ("up", "down", "none")


def _one_of(*known: str) -> _Reader:
    def read(key: str, text: str) -> tuple[Operator, TermValue]:
        if text.lower() in known:
            return "=", text.lower()
        near = get_close_matches(text.lower(), known, n=1)
        raise _NotUnderstoodError(f"{key} is one of {', '.join(known)}.", f"{key}:{near[0]}" if near else "")

    return read


def _text(key: str, text: str) -> tuple[Operator, TermValue]:
    return "=", text


_OPERATORS: tuple[Operator, ...] = ("<=", ">=", "<", ">", "=")


def _compared(text: str) -> tuple[Operator, str]:
    operator = next((sign for sign in _OPERATORS if text.startswith(sign)), None)
    return ("=", text) if operator is None else (operator, text.removeprefix(operator).strip())


def _level(key: str, text: str) -> tuple[Operator, TermValue]:
    operator, number = _compared(text)
    if number not in ("0", "1", "2", "3"):
        raise _NotUnderstoodError("level is a number from 0 to 3, perhaps compared: level:>=2.")
    return operator, int(number)


_UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "min": 60_000}
_LONGEST_MS = 2_147_483_647


def _duration(key: str, text: str) -> tuple[Operator, TermValue]:
    operator, amount = _compared(text)
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|min)", amount, re.ASCII)
    if match is None:
        proposal = f"{key}:{text}s" if re.fullmatch(r"\d{1,9}", amount, re.ASCII) else ""
        raise _NotUnderstoodError("duration is a number with ms, s or min, perhaps compared: duration:>2s.", proposal)
    return operator, min(round(float(match[1]) * _UNITS_MS[match[2]]), _LONGEST_MS)


def _moment(key: str, text: str) -> tuple[Operator, TermValue]:
    days = {"today": 0, "yesterday": 1}
    if text in days:
        return "=", datetime.combine(datetime.now(UTC).date() - timedelta(days[text]), datetime.min.time(), UTC)
    try:
        moment = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            reason = f"{key} is a date: {key}:2026-11-01, or today, yesterday, or with a time 2026-11-01T12:30."
            raise _NotUnderstoodError(reason) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if not 1970 <= moment.year < 9999:
        raise _NotUnderstoodError(f"{key} is a date between 1970 and 9999.")
    return "=", moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One filter: what it means, an example, and how its value is read."""

    meaning: str
    example: str
    read: _Reader
    values: tuple[str, ...] = ()


KEYS: Mapping[str, Key] = {
    "status": Key(
        meaning="its state or how it ended", example="status:failed", read=_one_of(*STATUSES), values=STATUSES
    ),
    "is": Key(
        meaning="searched for in other words, with a part of its context cut by a limit, answered from a model's own"
        f" knowledge, longer than {SLOW_MS} ms, a trace of another application",
        example="is:rewritten",
        read=_one_of(*MARKS),
        values=MARKS,
    ),
    "plugin": Key(meaning="a plugin that took part", example="plugin:kb-fast", read=_text),
    "kb": Key(meaning="the mounted knowledge base", example='kb:"Handbook"', read=_text),
    "level": Key(meaning="deliberation level", example="level:>=2", read=_level, values=("0", "1", "2", "3")),
    "duration": Key(meaning="how long the turn took", example="duration:>2s", read=_duration),
    "after": Key(meaning="on that day (UTC) or later", example="after:2026-11-01", read=_moment),
    "before": Key(meaning="before that day (UTC)", example="before:2026-11-01", read=_moment),
    "rating": Key(meaning="thumbs on the answer", example="rating:down", read=_one_of(*RATINGS), values=RATINGS),
    "error": Key(meaning="the code of the failure", example="error:VALIDATION_REJECTED", read=_text),
    "model": Key(meaning="the model the client requested", example="model:large", read=_text),
    "used": Key(meaning="a model that took part", example="used:large", read=_text),
    "agent": Key(meaning="the session's active agent", example="agent:helper", read=_text),
    "by": Key(meaning="the user or API key that asked", example='by:"Help desk (Ab12cd…)"', read=_text),
    "session": Key(meaning="one session, by its id", example="session:sess-…", read=_text),
    "in": Key(meaning="only one kind of result", example="in:units", read=_one_of(*KINDS), values=KINDS),
}

_TOKEN = re.compile(r"""\s*(?P<not>-)?(?:(?P<key>[A-Za-z]+):)?(?P<value>"[^"]*"?|[^\s"]*)""")


def parse(text: str) -> Filter:
    """Return the parsed text."""
    readable = text.strip()
    problems: list[FilterProblem] = []
    if len(readable) > FILTER_CHARS:
        rest, readable = readable[FILTER_CHARS:], readable[:FILTER_CHARS]
        problems.append(FilterProblem(text=rest, reason=f"Only the first {FILTER_CHARS} characters are read."))
    terms: list[Term] = []
    for match in _TOKEN.finditer(readable):
        try:
            term = _term(match)
        except _NotUnderstoodError as refused:
            problems.append(FilterProblem(text=match[0].strip(), reason=refused.reason, proposal=refused.proposal))
        else:
            if term is not None:
                terms.append(term)
    return Filter(text=readable, terms=tuple(terms), problems=tuple(problems))


def _term(match: re.Match[str]) -> Term | None:
    key, value, is_negated = match["key"], match["value"].strip('"').strip(), bool(match["not"])
    if key is None:
        return Term(key="", value=value, is_negated=is_negated, meaning=f"“{value}”") if value else None
    name = key.lower()
    if name not in KEYS:
        near = get_close_matches(name, KEYS, n=1, cutoff=0.5)
        reason = f"There is no filter “{key}”. In quotes it is looked for as a text."
        raise _NotUnderstoodError(reason, match[0].strip().replace(f"{key}:", f"{near[0]}:", 1) if near else "")
    if not value:
        raise _NotUnderstoodError(f"A value is missing, as in {KEYS[name].example}.")
    operator, read = KEYS[name].read(name, value)
    return Term(key=name, operator=operator, value=read, is_negated=is_negated, meaning=f"{name} {value}")
