"""Statements that a later one of the same voice sets right are no evidence any more."""

import re
from collections.abc import Sequence

from mrpvm.english.lexicon import COLOURS, MONTHS, NOW_WORDS, NUMBER_WORDS, word_class
from mrpvm.english.parsing import parse
from mrpvm.english.reading import Reading, Word, is_past, read, sense
from mrpvm.english.restating import is_value
from mrpvm.english.statements import Statement

_ENDED = re.compile(r"\b(?:no longer|not any ?more|anymore|any longer)\b", re.IGNORECASE)
_INSTEAD = re.compile(r"\binstead[.!]?$", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:previously|formerly|originally|used to)\b|\b(?:before|earlier)\W*$", re.IGNORECASE)
_SINCE = re.compile(r"^since \w+,? ", re.IGNORECASE)
FORGET = "forget"
"""The word that stands in every request to forget."""
_FORGET = re.compile(
    r"^(?:(?:please|ok|okay|now)[\s,]+)*forget (?:that|about|what i (?:said|told you) about)\s+(?P<what>\S.*?)[.!]*$",
    re.IGNORECASE,
)
_LASTING = frozenset(sense(word) for word in word_class("live work weigh study cost earn drive be call"))
"""What somebody does in one way at a time: who now lives in Rome no longer lives in Vienna."""
CORRECTED_REACH = 200
"""So many statements back a correction looks for what it sets right: the cost stays linear."""
_NEW_WORDS_MAX = 2
"""How much a correction may say that what it corrects does not: more makes it a statement of its own."""
_VALUE_WORDS_MAX = 3
_SHARED_WORDS_MIN = 2


def asks_of_before(question: str) -> bool:
    """Return whether a question is about how something was before it changed."""
    return _FORMER.search(question) is not None


def taken_back(text: str) -> str:
    """Return what a sentence asks to forget, empty for other sentences."""
    found = _FORGET.match(text)
    return found["what"] if found and read(found["what"]).senses else ""


def takes_back(request: str, text: str) -> bool:
    """Return whether a sentence asks to forget another one: all that it names stands in it."""
    gone = taken_back(request)
    return bool(gone) and read(gone).senses <= read(text).senses


def without_corrected(statements: Sequence[Statement], *, keeps_former: bool = False) -> list[Statement]:
    """Return the statements that nothing later takes back; two sources that differ correct nothing.

    Args:
        keeps_former: what held before is asked for, so that of what has changed the former is kept instead; what was
            said in error never held.
    """
    corrections = [
        item
        for item in statements
        if item.voiced.is_correction
        or item.replaces
        or taken_back(item.reading.text)
        or _ENDED.search(item.text)
        or _is_now(item)
        or (item.speaker and _INSTEAD.search(item.text))
    ]
    changes = [item for item in corrections if not item.voiced.is_correction]
    if keeps_former:
        corrections = [item for item in corrections if item not in changes]
    ordered = sorted(statements, key=lambda item: item.order)
    places = {id(item): place for place, item in enumerate(ordered)}
    outdated = {
        id(earlier)
        for later in corrections
        for earlier in ordered[max(places[id(later)] - CORRECTED_REACH, 0) : places[id(later)]]
        if _corrects(later, earlier)
    }
    kept = [item for item in statements if id(item) not in outdated and not taken_back(item.reading.text)]
    return [item for item in kept if item not in changes] or kept if keeps_former else kept


def _corrects(later: Statement, earlier: Statement) -> bool:
    if _is_replaced(later, earlier):
        return True
    if not _same_voice(later, earlier):
        return False
    if taken_back(later.reading.text):
        return not earlier.is_of_document and takes_back(later.reading.text, earlier.reading.text)
    if _is_over(later, earlier) or _is_outdated(later, earlier):
        return True
    said, before = later.reading.senses, earlier.reading.senses
    shared, new = said & before, said - before
    if not later.voiced.is_correction:
        return False
    if later.voiced.denied:
        return later.voiced.denied <= before and bool(shared) and len(new) <= _NEW_WORDS_MAX
    if is_value(later.voiced.said):
        return later.replaces == earlier.text
    if later.is_of_document:
        return 0 < len(new) <= _NEW_WORDS_MAX and len(shared) >= _SHARED_WORDS_MIN
    return _has_other_value(later, earlier)


def _has_other_value(later: Statement, earlier: Statement) -> bool:
    """Return whether two statements of a conversation say the same but for one value."""
    said, before = later.reading.senses, earlier.reading.senses
    new, old = said - before, before - said
    return (
        _same_subject(later, earlier)
        and bool(said & before)
        and 0 < len(new) <= _VALUE_WORDS_MAX
        and len(old) <= _VALUE_WORDS_MAX
    )


def _is_replaced(later: Statement, earlier: Statement) -> bool:
    """Return whether somebody in the dialogue asks for something else "instead" of what has just been offered."""
    if not (_INSTEAD.search(later.text) and later.speaker and earlier.speaker):
        return False
    left, right = later.entry.unit, earlier.entry.unit
    near = left.chunk_id == right.chunk_id and 0 <= (left.unit_index or 0) - (right.unit_index or 0) <= 1
    verb = next(iter(later.reading.words), None)
    return near and verb is not None and verb.sense in earlier.reading.senses


def _is_over(later: Statement, earlier: Statement) -> bool:
    """Return whether the later statement says that what the earlier one says holds no longer."""
    return any(
        _ENDED.search(reading.text) is not None and earlier.reading.senses <= reading.senses
        for reading in later.readings
    )


def _same_subject(later: Statement, earlier: Statement) -> bool:
    left, right = (_subject(item) for item in (later, earlier))
    return bool(left and right) and (left <= right or right <= left)


def _subject(statement: Statement) -> frozenset[str]:
    subject = next((clause.subject for clause in parse(statement.reading.text).clauses if clause.subject), None)
    if subject is None:
        return frozenset()
    pronoun = _MYSELF.get(subject.pronoun, subject.pronoun)
    return frozenset((pronoun,)) if pronoun else subject.senses


def _is_now(statement: Statement) -> bool:
    is_told = bool(NOW_WORDS & set(statement.reading.tokens))
    return is_told or _SINCE.match(statement.text) is not None


def _is_outdated(later: Statement, earlier: Statement) -> bool:
    """Return whether a later statement of a conversation says how what an earlier one says is now."""
    if later.is_of_document or earlier.is_of_document or later.speaker:
        return False
    if later.replaces == earlier.text:
        return True
    if not _is_now(later):
        return False
    if _is_state(earlier) and _has_other_value(later, earlier):
        return bool(_kinds(later.reading, earlier) & _kinds(earlier.reading, later) - {_THING})
    verb = next((word.sense for word in earlier.reading.words if _lasts(word)), None)
    return verb is not None and any(
        {verb, _who(earlier.reading)} <= _plain(reading) and _differs_alike(reading, earlier)
        for reading in later.readings
    )


def _differs_alike(reading: Reading, earlier: Statement) -> bool:
    """Return whether what is new stands in the places of what was said: another town, not another circumstance."""
    new = {_kind(word) for word in reading.words if word.sense not in earlier.reading.senses and _says(word)}
    old = {_kind(word) for word in earlier.reading.words if word.sense not in reading.senses and _says(word)}
    return bool(new & old) and new - _SINCE_WHEN - _PARTS_OF_SPEECH <= old


def _says(word: Word) -> bool:
    return not word.is_pronoun and word.text not in NOW_WORDS | MONTHS


def _kinds(reading: Reading, other: Statement) -> set[str]:
    return {_kind(word) for word in reading.words if word.sense not in other.reading.senses}


def _kind(word: Word) -> str:
    """Return what a word may be exchanged with: its preposition, or that it is a number, a colour, a name, a thing."""
    if word.preposition is not None:
        return word.preposition
    if word.text[0].isdigit() or word.text in NUMBER_WORDS:
        return "number"
    return "colour" if word.text in COLOURS else "name" if word.is_name else _THING


def _plain(reading: Reading) -> set[str | None]:
    return {_MYSELF.get(word, word) for word in reading.senses}


def _who(reading: Reading) -> str | None:
    first = next((word for word in reading.words if word.is_core), None)
    return _MYSELF.get(first.sense, first.sense) if first else None


_THING = "thing"
_PARTS_OF_SPEECH = frozenset(("number", "colour", "name", _THING))
_SINCE_WHEN = frozenset(("since", "from", "as"))


def _lasts(word: Word) -> bool:
    return word.sense in _LASTING and not is_past(word.text)


def _is_state(statement: Statement) -> bool:
    return bool({"is", "are", "am"} & set(statement.reading.tokens))


_MYSELF = {"we": "i"}


def _same_voice(later: Statement, earlier: Statement) -> bool:
    if later.entry.unit.source_id != earlier.entry.unit.source_id or later.speaker != earlier.speaker:
        return False
    new, old = later.voiced.voice, earlier.voiced.voice
    return new == old or ((bool(new) == bool(old) or later.voiced.is_marked) and (new <= old or old <= new))
