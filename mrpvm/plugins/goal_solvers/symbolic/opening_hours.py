"""When a house is open: days and times as opening hours tell them, and what is asked of them [BP-36 b]."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mrpvm.knowledge.lexicon import PARTIAL_ADVERBS
from mrpvm.plugins.goal_solvers.symbolic.reading import read
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_SPANS = {"weekday": range(5), "weekend": range(5, 7), "daily": range(7), "every day": range(7), "all week": range(7)}
_RANGE = re.compile(rf"\b(?P<first>{_DAY})\.?\s*(?:to|through|until|till|-|\u2013|\u2014)\s*(?P<last>{_DAY})\b", re.I)
_ONE_DAY = re.compile(rf"\b{_DAY}\b", re.IGNORECASE)
_TIME = re.compile(r"\b\d{1,2}(?:[:.]\d{2})?\s?(?:am|pm|a\.m\.|p\.m\.|h\b|o'clock)?(?!\w)|\bnoon\b|\bmidnight\b", re.I)
_CUT = re.compile(
    rf"[;\n]|[,.]\s*(?=(?:and\s+)?(?:(?:on|at)\s+)?(?:closed|open|weekdays?|weekends?|public|{_DAY})\b)"
    r"|\s+and\s+(?=(?:is\s+|are\s+)?closed\b)|\s+but\s+",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\b(?:except|but not|other than)\b(?: on| at)? (?P<out>.+)$", re.IGNORECASE)
_ABOUT_HOURS = re.compile(r"\b(?:open|opens|closed|closes|opening|hours)\b", re.IGNORECASE)
_ONLY_HOURS = re.compile(
    rf"^(?:(?:{_DAY}|weekdays?|weekends?|daily|to|through|and|from|until|till|open|closed|noon|midnight|am|pm|h)\b"
    r"|[\d\s:.,;\u2013\u2014-])+$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[,;]? (?:and|but|while) (?:the|our|its) ", re.IGNORECASE)
"""More than one house: "the pool on Sundays and the sauna on Mondays"."""
_WHETHER = re.compile(
    r"^(?:are|is) (?P<who>you|we|it|(?:the|your) [\w' -]+?) (?P<state>open|closed) (?:on |at )?(?:the )?(?P<days>.+)$",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^(?:when|what time|at what time|until when|from when|how long) (?:are|is|do|does) "
    r"(?P<who>you|we|it|(?:the|your) [\w' -]+?) (?P<state>open|close|closed|shut)"
    r"(?: (?:on |at )?(?:the )?(?P<days>.+))?$",
    re.IGNORECASE,
)
_HOUSE = re.compile(r"^(?:we|open|closed|our [\w-]+|the [\w-]+)\b(?! of\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Part:
    """Days on which a house is open or closed, counted from Monday; `has_times` tells whether it says from when."""

    days: frozenset[int]
    is_open: bool
    has_times: bool


def open_on(question: str, statements: Sequence[Statement]) -> tuple[bool, Statement] | None:
    """Give whether a house is open, or closed, on the days a question names, and what says so; None if nothing does."""
    asked = _WHETHER.match(question.strip().rstrip("?"))
    days = _days(asked["days"]) if asked else frozenset[int]()
    if asked is None or not days:
        return None
    for statement in _of(asked["who"], statements):
        for part in _parts(statement.plain):
            if days <= part.days:
                return part.is_open == (asked["state"].lower() == "open"), statement
    return None


def hours_of(question: str, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements that say when a house opens and closes on the days that a question names."""
    asked = _WHEN.match(question.strip().rstrip("?"))
    if asked is None:
        return []
    days = _days(asked["days"] or "")
    if asked["days"] and not days:
        return []
    return [
        statement
        for statement in _of(asked["who"], statements)
        if _tells_end(asked["state"], statement.plain)
        and any(part.has_times and (not days or days <= part.days) for part in _parts(statement.plain))
    ]


def _tells_end(asked: str, text: str) -> bool:
    """Tell whether hours name the end that is asked for: "opens at 8" does not say when it closes."""
    if len(_TIME.findall(_ONE_DAY.sub("", text))) > 1:
        return True
    opens, closes = (re.search(word, text, re.IGNORECASE) is not None for word in (r"\bopens?\b", r"\bclos|until|till"))
    return opens or not closes if asked.lower() == "open" else closes or not opens


def _of(who: str, statements: Sequence[Statement]) -> Iterator[Statement]:
    """Give the statements of a document that tell the hours of the house asked about."""
    named = read(who).senses if who.lower() not in ("you", "we", "it") else frozenset[str]()
    for statement in statements:
        text, unit = statement.plain.strip(" ."), statement.entry.unit
        is_line = _ONLY_HOURS.match(text) is not None and _ONE_DAY.search(text) is not None
        around = read(f"{unit.topic}. {unit.title or ''}").senses
        is_of_house = statement.is_of_document or bool(named)
        if PARTIAL_ADVERBS & set(statement.reading.tokens):
            continue
        if not is_of_house or statement.reading.is_conditional or _SEVERAL.search(statement.text):
            continue
        if not (is_line or (_ABOUT_HOURS.search(text) and (_HOUSE.match(text) or ":" in text))):
            continue
        if not named or named <= statement.reading.senses | around or re.match(r"(?:we|our)\b", text, re.IGNORECASE):
            yield statement


def _parts(text: str) -> Iterator[_Part]:
    for piece in _CUT.split(text):
        out = _EXCEPT.search(piece)
        closed = _days(out["out"]) if out else frozenset[int]()
        days = _days(piece[: out.start()] if out else piece)
        has_times = _TIME.search(_ONE_DAY.sub("", piece)) is not None
        is_closed = re.search(r"\bclosed\b", piece, re.IGNORECASE) is not None
        if days - closed and (has_times or is_closed or re.search(r"\bopen\b", piece, re.IGNORECASE)):
            yield _Part(days - closed, not is_closed, has_times and not is_closed)
        if closed:
            yield _Part(closed, is_closed, has_times=False)
        if not days and has_times:
            yield _Part(days, is_open=True, has_times=True)


def _days(text: str) -> frozenset[int]:
    """Give the days that a text names, Monday as 0."""
    found = {day for name, days in _SPANS.items() if name in text.lower() for day in days}
    for match in _RANGE.finditer(text):
        first, last = _number(match["first"]), _number(match["last"])
        found |= {day % 7 for day in range(first, last + 1 if last >= first else last + 8)}
    return frozenset(found | {_number(match.group()) for match in _ONE_DAY.finditer(text)})


def _number(day: str) -> int:
    return _DAYS.index(day[:3].lower())
