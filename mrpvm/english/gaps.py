"""What a sentence leaves out behind "and": "soup every day and fish on Fridays" tells no day of the fish but its own.

Only where both things have a time or number of their own is it clear what is left out: the verb, and with it all but
the thing that the new one takes the place of.
"""

import re
from collections.abc import Sequence

from mrpvm.english.lexicon import DETERMINERS, NEGATIONS, NUMBER_WORDS, PREPOSITIONS
from mrpvm.english.lookahead import BE
from mrpvm.english.parsing import MAY, parse
from mrpvm.english.structure import Clause
from mrpvm.english.tagging import is_number
from mrpvm.english.times import names_time


def filled(text: str) -> str:
    """Return a sentence with what it leaves out behind its one "and", as it is where that leaves out nothing.

    A list of values leaves out the verb too: "a check-up costs 95 francs, a cleaning 140 francs".
    """
    is_short = " but no" in text and len(text) <= _CHARS_MAX
    if is_short and (excepted := _BUT_NOT.match(text.rstrip(".!"))):
        told, out = excepted["told"], excepted["out"]
        return f"{told} {excepted['where']}; {excepted['subject']} {excepted['verb']} not {excepted['rest']} {out}."
    if is_short and (lacking := _BUT_NO.match(text.rstrip(".!"))):
        return f"{lacking['told']}; {lacking['subject']} {lacking['verb']} no {lacking['out']}."
    listed = _values_listed(text)
    if listed:
        return listed
    if " and " not in text:
        return text
    parsed = parse(text)
    tokens, said = parsed.tokens, parsed.surfaces
    if tokens.count("and") != 1 or len(parsed.clauses) != 1 or not all(word[0].isalnum() for word in tokens):
        return text
    joint, clause = tokens.index("and"), parsed.clauses[0]
    first, second = _values_at_end(tokens[:joint]), joint + 1 + _values_at_end(tokens[joint + 1 :])
    named = tokens[joint + 1 : second]
    has_values = first < joint and second < len(tokens)
    if not has_values or not named or named[0] in PREPOSITIONS or _is_time(named[-1]) or clause.verb_place >= first:
        return text
    hole = _place_of(clause, tokens, first, is_thing=named[0] in DETERMINERS or said[second - 1][0].isupper())
    if hole is None:
        return text
    before, behind = hole
    again = (*said[:before], *said[joint + 1 : second], *said[behind:first], *said[second:])
    return f"{' '.join(said[:joint])}; {' '.join(again)}."


_PLACE = r"(?:in|on|at|to|from|under|behind|inside|outside|during|before|after)"
_CHARS_MAX = 300
"""Longer sentences have more in them than one thing left out, and the patterns take cubic time."""
_BUT_NOT = re.compile(
    r"^(?P<told>(?P<subject>[^,;]+?) (?P<verb>is|are|can|may|must|should|will) (?P<rest>[^,;]+?)) "
    rf"(?P<where>{_PLACE} [^,;]+?),? but not (?P<out>{_PLACE} [^,;]+)$",
    re.IGNORECASE,
)
"""A thing that is so in one place and not in another."""
_BUT_NO = re.compile(
    r"^(?P<told>(?P<subject>i|we|you|he|she|they|it|[A-Z]\w+) (?P<verb>[a-z]+) [^,;]+?),? but no (?P<out>[^,;]+)$",
    re.IGNORECASE,
)
"""What somebody has or gets, and what not: "I bought apples but no pears"."""
_NUMBER = rf"(?:\d[\d.,]*|{'|'.join(sorted(NUMBER_WORDS))})"
_AMOUNT = (
    r"(?:(?:about|around|only|another|up to|at least) )?(?:[$\u20ac\u00a3] ?)?"
    rf"{_NUMBER}(?: ?[%$\u20ac\u00a3]| [\w/-]+){{1,3}}"
)
_FIRST_VALUE = re.compile(rf"^(?P<told>.+? (?P<verb>costs?|weighs?|takes?|lasts?|measures?) {_AMOUNT})$", re.IGNORECASE)
_FURTHER_VALUE = re.compile(
    rf"^(?P<thing>(?:(?:an?|the) )?[a-z-]+(?: [a-z-]+){{0,2}}?) (?P<value>{_AMOUNT})$", re.IGNORECASE
)
_BETWEEN = re.compile(r", (?:and )?| and ")


def _values_listed(text: str) -> str:
    first, *rest = _BETWEEN.split(text.rstrip("."))
    head = _FIRST_VALUE.match(first) if rest else None
    further = [_FURTHER_VALUE.match(part) for part in rest]
    if head is None or not all(further) or NEGATIONS & set(text.lower().split()):
        return ""
    told = [head["told"], *(f"{found['thing']} {head['verb']} {found['value']}" for found in further if found)]
    return f"{'; '.join(told)}."


def _place_of(clause: Clause, tokens: Sequence[str], end: int, *, is_thing: bool) -> tuple[int, int] | None:
    """Return what of the clause the new thing stands for, and what is not said of it: from where, up to where."""
    objects = [phrase for phrase in clause.objects if phrase.end < end]
    subject = clause.subject
    is_so = clause.verb == BE and tokens[0] != "there"
    if is_so and is_thing and len(objects) == 1 and not (objects[0].determiner or objects[0].is_name):
        objects = []  # "the pool is open": what is open is another thing, not another way to be
    elif is_so and objects:
        return None
    if len(objects) == 1:
        return objects[0].start, end
    placed = any(phrase.start < end and word for word, phrase in clause.modifiers)
    if objects or subject is None or placed:
        return None
    return (subject.start, subject.end + 1) if not subject.others and subject.end < clause.verb_place else None


def _values_at_end(tokens: Sequence[str]) -> int:
    """Return where the times and numbers begin that a row of words ends with, its length where it ends with none."""
    start = len(tokens)
    for place in range(len(tokens) - 1, -1, -1):
        if tokens[place] in PREPOSITIONS or tokens[place] in ("every", "each"):
            phrase = [token for token in tokens[place + 1 : start] if token not in DETERMINERS]
            if not phrase or not (is_number(phrase[0]) or all(map(_is_time, phrase))):
                break
            start = place
    return start


def _is_time(token: str) -> bool:
    return token == MAY or names_time(token) or names_time(token.removesuffix("s"))
