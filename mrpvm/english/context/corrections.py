"""Statements that a later statement of the same voice corrects, and the full text of corrections."""

import re
from collections.abc import Sequence
from copy import replace
from itertools import product

from mrpvm.english.messages.kinds import kind_of
from mrpvm.english.questions.matching import numbers_in
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.rewordings import rewordings
from mrpvm.english.sentences.statements import Statement
from mrpvm.english.sentences.structure import Clause, Phrase
from mrpvm.english.sentences.values import PLACE_PREPOSITIONS
from mrpvm.english.words.lexicon import (
    AUXILIARIES,
    COLOURS,
    MONTHS,
    NOW_WORDS,
    PREPOSITIONS,
    REFERRING_PRONOUNS,
    pattern,
)
from mrpvm.english.words.reading import is_past
from mrpvm.english.words.tagging import names_time, verb_forms
from mrpvm.english.words.text import sentences, words
from mrpvm.values import HistoryMessage

_ENDED = re.compile(r"\b(?:no longer|not any ?more|anymore|any longer)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"\binstead[.!]?$", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:previously|formerly|originally|used to)\b|\b(?:before|earlier)\W*$", re.IGNORECASE)
_SINCE = re.compile(r"^since \w+,? ", re.IGNORECASE)
FORGET = "forget"
"""The word that every request to forget contains."""
_FORGET, _FORGET_OWN = pattern("corrections.forget"), pattern("corrections.forget_own")
_FORGET_LAST = pattern("corrections.forget_last")
_THING = "thing"
_PLACE = dict.fromkeys(PLACE_PREPOSITIONS, "place")
_SINCE_WHEN = frozenset(("since", "from", "as"))
CORRECTED_REACH = 200
"""How many earlier statements are compared with a correction, so that the cost stays linear."""
_NEW_WORDS_MAX = 2
"""The most new words in a correction: with more of them it is a separate statement."""


def asks_of_before(question: str) -> bool:
    """Return whether a question is about the state before a change."""
    return _FORMER.search(question) is not None


def taken_back(text: str) -> str:
    """Return the words that a sentence asks to forget, empty for other sentences."""
    match = _FORGET.match(text)
    return match["what"] if match and read(match["what"]).senses else ""


def takes_back(request: str, text: str) -> bool:
    """Return whether a sentence asks to forget another sentence, which has all words that it names."""
    gone = taken_back(request)
    return bool(gone) and read(gone).senses <= read(text).senses


def forget_told(message: str, history: Sequence[HistoryMessage]) -> str | None:
    """Return a request to forget with the statement that the sender told: "Forget my address", "Forget that".

    "Forget that" takes back the last statement. None for other messages, and if nothing of the kind was told.
    """
    earlier = (text for item in reversed(history) if item.role == "user" for text in reversed(sentences(item.content)))
    if _FORGET_LAST.match(message.strip()):
        said = (text for text in earlier if kind_of(text, is_alone=True) == "statement")
        told = next((text for text in said if not taken_back(text)), None)
        return f"Forget that {told}" if told else None
    match = _FORGET_OWN.match(message.strip())
    if match is None:
        return None
    request = f"Forget about {match['what']}."
    return request if any(takes_back(request, text) for text in earlier) else None


def without_corrected(statements: Sequence[Statement], *, keeps_former: bool = False) -> list[Statement]:
    """Return the statements that no later statement corrects; different sources do not correct each other.

    Args:
        keeps_former: the question is about the state before a change, so of a changed statement the earlier one is
            kept; a statement that was an error is never kept.
    """
    changes = [item for item in statements if not item.voiced.is_correction and is_change(item)]
    corrections = [item for item in statements if item.voiced.is_correction]
    ordered = sorted(statements, key=lambda item: item.order)
    places = {id(item): place for place, item in enumerate(ordered)}
    outdated = {
        id(earlier)
        for later in (corrections if keeps_former else corrections + changes)
        for earlier in ordered[max(places[id(later)] - CORRECTED_REACH, 0) : places[id(later)]]
        if _corrects(later, earlier)
    }
    kept = [item for item in statements if id(item) not in outdated and not taken_back(item.reading.text)]
    return [item for item in kept if item not in changes] or kept if keeps_former else kept


def is_change(item: Statement) -> bool:
    """Return whether a statement may say that something differs from what was said before."""
    is_other = item.replaces or taken_back(item.reading.text) or _ENDED.search(item.text) or _is_now(item)
    return bool(is_other or (item.speaker and _INSTEAD.search(item.text)))


def _corrects(later: Statement, earlier: Statement) -> bool:
    if _is_replaced(later, earlier):
        return True
    if not of_same_voice(later, earlier):
        return False
    if taken_back(later.reading.text):
        return not earlier.is_of_document and takes_back(later.reading.text, earlier.reading.text)
    said, before = later.reading.senses, earlier.reading.senses
    is_over = _ENDED.search(later.text) is not None and before <= said
    if is_over or _is_outdated(later, earlier):
        return True
    if not later.voiced.is_correction:
        return False
    is_denied = bool(later.voiced.denied) and later.voiced.denied <= before
    return is_denied and bool(said & before) and len(said - before) <= _NEW_WORDS_MAX


def of_same_voice(later: Statement, earlier: Statement) -> bool:
    if later.entry.unit.source_id != earlier.entry.unit.source_id or later.speaker != earlier.speaker:
        return False
    new, old = later.voiced.voice, earlier.voiced.voice
    return new == old or ((bool(new) == bool(old) or later.voiced.is_marked) and (new <= old or old <= new))


def _is_replaced(later: Statement, earlier: Statement) -> bool:
    """Return whether a speaker asks for something else "instead" of what has just been offered."""
    if not (_INSTEAD.search(later.text) and later.speaker and earlier.speaker):
        return False
    left, right = later.entry.unit, earlier.entry.unit
    near = left.chunk_id == right.chunk_id and 0 <= (left.unit_index or 0) - (right.unit_index or 0) <= 1
    return near and any(word.sense in earlier.reading.senses for word in later.reading.words[:1])


def _is_now(statement: Statement) -> bool:
    return not NOW_WORDS.isdisjoint(statement.reading.tokens) or _SINCE.match(statement.text) is not None


def _is_outdated(later: Statement, earlier: Statement) -> bool:
    """Return whether a later statement of a conversation replaces an earlier one, as a change or as a correction."""
    if later.is_of_document or earlier.is_of_document or later.speaker:
        return False
    if later.replaces == earlier.text:
        return True
    is_marked = later.voiced.is_marked
    if is_marked and is_value(later.voiced.said):
        return False
    if not (is_marked or _is_now(later)):
        return False
    pairs = product(read(later.reading.text).clauses, read(earlier.reading.text).clauses)
    return any(_has_other_value(said, before, is_marked=is_marked) for said, before in pairs)


def _has_other_value(later: Clause, earlier: Clause, *, is_marked: bool) -> bool:
    """Return whether two clauses about one thing differ in one value only: another town, not another circumstance.

    Args:
        is_marked: whether the later one calls itself a correction, which may differ in any way.
    """
    one, other = _subject(later), _subject(earlier)
    is_same = bool(one and other) and (one <= other or other <= one) and later.verb == earlier.verb
    if not is_same or (is_past(earlier.verb_text) and not is_marked):
        return False
    said, before = _values(later), _values(earlier)
    changed = [kind for kind in said.keys() & before.keys() if said[kind] != before[kind]]
    return bool(changed) and (is_marked or (len(changed) == 1 and changed != [_THING] and said.keys() <= before.keys()))


def _subject(clause: Clause) -> frozenset[str]:
    if clause.subject is None or not clause.subject.pronoun:
        return clause.subject.senses if clause.subject else frozenset()
    return frozenset(("i" if clause.subject.pronoun == "we" else clause.subject.pronoun,))


def _values(clause: Clause) -> dict[str, frozenset[str]]:
    """Return the values that a clause gives its subject, by the kind of value that may replace them."""
    objects = {_kind(phrase): phrase.senses for phrase in clause.objects}
    return objects | {
        f"time {word}" if names_time(phrase.head_text) or numbers_in(phrase) else _PLACE.get(word, word): phrase.senses
        for word, phrase in clause.modifiers
        if word not in _SINCE_WHEN and NOW_WORDS.isdisjoint(phrase.senses)
    }


def _kind(phrase: Phrase) -> str:
    if numbers := numbers_in(phrase):
        return f"number of {sorted(phrase.senses - numbers)}"
    return "colour" if phrase.head_text in COLOURS else "name" if phrase.is_name else _THING


VALUE_SHAPES = tuple(pattern(f"restating.{shape}") for shape in ("date", "day", "month", "number"))
"""Patterns of values that replace each other: a date replaces a date, a day a day, a number a number."""
_TIME = pattern("restating.time")
_LEAD = re.compile(rf"^(?:{'|'.join(sorted(PREPOSITIONS))})\s+", re.IGNORECASE)
_SHIFTED = pattern("restating.shifted")
_VALUE_WORDS = 5


def restated(statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements; those that only name a new value are completed from the statement that they correct."""
    earlier: list[Statement] = []
    full: dict[int, Statement] = {}
    for item in sorted(statements, key=lambda item: item.order):
        full[id(item)] = _in_full(item, earlier)
        if not item.is_of_document:
            earlier.append(item)
    return [full[id(item)] for item in statements]


def _in_full(statement: Statement, earlier: Sequence[Statement]) -> Statement:
    if statement.is_of_document or statement.speaker is not None:
        return statement
    before = next((item for item in reversed(earlier[-CORRECTED_REACH:]) if _is_of(item, statement)), None)
    said, replaced = _with_rewordings(statement.reading.text), None
    if before and statement.voiced.is_marked and is_value(statement.plain):
        said, replaced = _with_value(before, statement), before.text
    elif shifted := _SHIFTED.match(statement.reading.text):
        before = next(
            (item for item in reversed(earlier[-CORRECTED_REACH:]) if _is_timed(item, shifted["subject"])), None
        )
        said, replaced = (_at_time(before, shifted["value"]), before.text) if before else (None, None)
    quoted_before = before.text if before and (replaced or _opens_with_pronoun(statement)) else statement.before
    if said is None:
        return replace(statement, before=quoted_before)
    if replaced:
        said = _with_rewordings(said) or said
    return replace(statement, plain=said, reading=read(said), before=quoted_before, replaces=replaced)


def _is_timed(earlier: Statement, subject: str) -> bool:
    """Return whether an earlier statement of a conversation gives a time."""
    named = read(subject).senses
    is_told = not earlier.is_of_document and bool(named) and named <= earlier.reading.senses
    return is_told and _TIME.search(earlier.plain) is not None


def _at_time(earlier: Statement, value: str) -> str:
    """Return an earlier sentence with another time in it."""
    is_clock = re.match(r"\d{1,2}(?:[:.]\d{2})?\s?(?:am|pm)?$", value) is not None
    led = value if _LEAD.match(value) else f"{'at' if is_clock else 'on'} {value}"
    return _TIME.sub(lambda _: led, earlier.plain, count=1)


def _is_of(earlier: Statement, later: Statement) -> bool:
    """Return whether an earlier statement of the same conversation names the topic of a later one."""
    if earlier.is_of_document or earlier.entry.unit.source_id != later.entry.unit.source_id:
        return False
    topic = read(later.entry.unit.topic).senses
    return bool(topic) and topic <= earlier.reading.senses


def _opens_with_pronoun(statement: Statement) -> bool:
    first = next(iter(words(statement.voiced.said)), "")
    return first.partition("'")[0] in REFERRING_PRONOUNS


def is_value(said: str) -> bool:
    """Return whether a text is only a value: "13 June", "at four"."""
    value_words = words(said)
    has_verb = any(word in AUXILIARIES or verb_forms(word) for word in value_words if word not in MONTHS)
    return len(value_words) <= _VALUE_WORDS and not has_verb


def _with_value(earlier: Statement, later: Statement) -> str | None:
    """Return an earlier sentence with the corrected value of a later one."""
    value = later.plain.strip(" .!")
    said = earlier.plain
    for word in words(said):
        if later.voiced.denied and word in later.voiced.denied:
            return re.sub(rf"\b{re.escape(word)}\b", lambda _: value, said, count=1, flags=re.IGNORECASE)
    bare = _LEAD.sub("", value)
    for shape in VALUE_SHAPES:
        if shape.search(bare) and (match := shape.search(said)):
            return f"{said[: match.start()]}{bare}{said[match.end() :]}"
    return None


def _with_rewordings(said: str) -> str | None:
    """Return a sentence with its rewordings, None if it has none."""
    besides = "; ".join(reworded for _, reworded in rewordings(said))
    return f"{said.rstrip('.!')}; {besides}." if besides else None
