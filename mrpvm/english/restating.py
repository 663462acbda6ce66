"""What a correction or a change says in full: "no wait, 13 June", "it was moved to Friday", "we moved to Rome"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mrpvm.english.lexicon import AUXILIARIES, MONTHS, PREPOSITIONS, REFERRING_PRONOUNS, pattern
from mrpvm.english.reading import read
from mrpvm.english.rewordings import rewordings
from mrpvm.english.statements import Statement
from mrpvm.english.tagging import verb_forms
from mrpvm.english.text import words

_SHAPES = tuple(pattern(f"restating.{shape}") for shape in ("date", "day", "month", "number"))
"""What stands for what where only a value is set right: a date for a date, a day for a day, a number for a number."""
_TIME = pattern("restating.time")
_LEAD = re.compile(rf"^(?:{'|'.join(sorted(PREPOSITIONS))})\s+", re.IGNORECASE)
_SHIFTED = pattern("restating.shifted")
_REACH = 200
"""So many statements back something may stand that is put in other words."""
_VALUE_WORDS = 5


def restated(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements, those in full that only name a new value; each is told with what it sets right."""
    told: list[Statement] = []
    full: dict[int, Statement] = {}
    for item in sorted(statements, key=lambda item: item.order):
        full[id(item)] = _in_full(item, told)
        if not item.is_of_document:
            told.append(item)
    return [full[id(item)] for item in statements]


def _in_full(statement: Statement, earlier: Sequence[Statement]) -> Statement:
    if statement.is_of_document or statement.speaker is not None:
        return statement
    before = next((item for item in reversed(earlier[-_REACH:]) if _is_of(item, statement)), None)
    said, replaced = _with_rewordings(statement.reading.text), None
    if before and statement.voiced.is_marked and is_value(statement.plain):
        said, replaced = _with_value(before, statement), before.text
    elif shifted := _SHIFTED.match(statement.reading.text):
        before = next((item for item in reversed(earlier[-_REACH:]) if _is_timed(item, shifted["subject"])), None)
        said, replaced = (_at_time(before, shifted["value"]), before.text) if before else (None, None)
    told = before.text if before and (replaced or _opens_with_pronoun(statement)) else statement.before
    if said is None:
        return replace(statement, before=told)
    if replaced:
        said = _with_rewordings(said) or said
    return replace(statement, plain=said, reading=read(said), before=told, replaces=replaced)


def _is_timed(earlier: Statement, subject: str) -> bool:
    """Return whether an earlier statement of a conversation says when something is."""
    named = read(subject).senses
    is_told = not earlier.is_of_document and bool(named) and named <= earlier.reading.senses
    return is_told and _TIME.search(earlier.plain) is not None


def _at_time(earlier: Statement, value: str) -> str:
    """Return an earlier sentence with another time in it."""
    is_clock = re.match(r"\d{1,2}(?:[:.]\d{2})?\s?(?:am|pm)?$", value) is not None
    led = value if _LEAD.match(value) else f"{'at' if is_clock else 'on'} {value}"
    return _TIME.sub(lambda _: led, earlier.plain, count=1)


def _is_of(earlier: Statement, later: Statement) -> bool:
    """Return whether an earlier statement of the same conversation names what a later one is about."""
    if earlier.is_of_document or earlier.entry.unit.source_id != later.entry.unit.source_id:
        return False
    topic = read(later.entry.unit.topic).senses
    return bool(topic) and topic <= earlier.reading.senses


def _opens_with_pronoun(statement: Statement) -> bool:
    first = next(iter(words(statement.voiced.said)), "")
    return first.partition("'")[0] in REFERRING_PRONOUNS


def is_value(said: str) -> bool:
    """Return whether what is said is no sentence but a value alone: "13 June", "at four"."""
    found = words(said)
    has_verb = any(word in AUXILIARIES or verb_forms(word) for word in found if word not in MONTHS)
    return len(found) <= _VALUE_WORDS and not has_verb


def _with_value(earlier: Statement, later: Statement) -> str | None:
    """Return an earlier sentence with the value in it that a later one sets right."""
    value = later.plain.strip(" .!")
    said = earlier.plain
    for word in words(said):
        if later.voiced.denied and word in later.voiced.denied:
            return re.sub(rf"\b{re.escape(word)}\b", lambda _: value, said, count=1, flags=re.IGNORECASE)
    bare = _LEAD.sub("", value)
    for shape in _SHAPES:
        if shape.search(bare) and (found := shape.search(said)):
            return f"{said[: found.start()]}{bare}{said[found.end() :]}"
    return None


def _with_rewordings(said: str) -> str | None:
    """Return a sentence with what it says besides, None where that is nothing."""
    besides = "; ".join(found.said for found in rewordings(said))
    return f"{said.rstrip('.!')}; {besides}." if besides else None
