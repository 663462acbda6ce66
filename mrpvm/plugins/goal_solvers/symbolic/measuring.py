"""Measured values in a statement: numbers with a unit, of the thing that a question asks about [BP-36 b]."""

import re
from itertools import pairwise

from mrpvm.knowledge.lexicon import (
    BE_FORMS,
    CONJUNCTIONS,
    HAVE_FORMS,
    MODALS,
    NUMBER_WORDS,
    PREPOSITIONS,
    word_class,
)
from mrpvm.knowledge.verbs import verb_forms
from mrpvm.plugins.goal_solvers.symbolic.dimensions import MEASURED_BY, tells
from mrpvm.plugins.goal_solvers.symbolic.frames.lookahead import LIMITS
from mrpvm.plugins.goal_solvers.symbolic.questions import Question
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, sense
from mrpvm.plugins.goal_solvers.symbolic.units import LENGTHS, MONEY_SIGNS, SPANS, UNITS, is_difference, unit_of

NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th|%|[a-z]{1,3})?")
_KINDS = {"length-or-time": ("length", "duration"), "amount": ("measure", "size")}
"""The kinds of value that tell what a question asks for, where its own name is none."""
_LATER = frozenset(("later", "ago", "earlier", "before", "after"))
_COMPARING = frozenset(("more", "less", "fewer", "than"))
_COST = sense("cost")


def numbers(reading: Reading, used: set[int]) -> list[int]:
    """Give the places of the numbers that the question does not name."""
    return [
        place
        for place, token in enumerate(reading.tokens)
        if (NUMBER.fullmatch(token) or token in NUMBER_WORDS) and place not in used
    ]


def measured_spans(question: Question, reading: Reading, used: set[int]) -> list[tuple[int, int]]:
    """Give the places of the numbers of the kind asked for, each with the place of its unit."""
    found = []
    for place in numbers(reading, used):
        if question.attribute == "age" and _passes(reading, place):
            continue
        if place and reading.tokens[place - 1] in ("every", "each", "per"):
            continue  # how often, not how long
        unit = _unit_of(question, reading, place)
        if unit is None or (question.measure and not tells(question.measure, reading.tokens, place, unit)):
            continue
        if is_difference(reading.tokens, unit) and not _COMPARING & set(question.reading.tokens):
            continue
        if question.measure == "far" and not _is_distance_asked(question, reading, unit, used):
            continue
        if question.measure and _asks_what_is(question) and not _is_of_subject(reading, place, used):
            continue
        found.append((place, unit))
    return found


def _asks_what_is(question: Question) -> bool:
    """Tell whether a question asks what a thing is or has to be, not what it does: "how long must a name be"."""
    return question.auxiliary in BE_FORMS or question.reading.tokens[-1:] == ("be",)


def _passes(reading: Reading, place: int) -> bool:
    """Tell whether a time is no age: "two years later", "was there for two years"."""
    return bool(_LATER & set(reading.tokens[place + 1 : place + 3])) or reading.tokens[place - 1] == "for"


def _unit_of(question: Question, reading: Reading, place: int) -> int | None:
    """Give the place of the unit that a number counts, if it is one of the kind asked for."""
    tokens, attribute = reading.tokens, question.attribute or ""
    units = frozenset[str]().union(*(UNITS[kind] for kind in _KINDS.get(attribute, (attribute,))))
    following, second, third = (*tokens[place + 1 : place + 4], "", "", "")[:3]
    if following in ("square", "cubic"):
        return place + 2 if attribute == "size" and second in LENGTHS else None
    if attribute == "speed" and following in LENGTHS and second in ("per", "an", "a") and third in SPANS:
        return place + 1
    is_price = attribute == "amount" and _COST in question.senses
    if following in units or (is_price and following.isalpha() and following not in PREPOSITIONS):
        return place + 1
    sign = tokens[place - 1] if place and tokens[place - 1] in MONEY_SIGNS else ""
    if unit_of(tokens[place]) in units or sign in units:
        return place
    return place if attribute == "age" and place == len(tokens) - 1 and not sign else None


def _is_distance_asked(question: Question, reading: Reading, unit: int, used: set[int]) -> bool:
    """Tell whether a length leads to what the question measures from: "23 km from Kall" is no distance to Orst."""
    if not any(word.preposition in _AWAY for word in question.required):
        return True
    tokens = reading.tokens
    start = next((at for at in range(unit + 1, min(unit + 4, len(tokens))) if tokens[at] in _AWAY), None)
    if start is None:
        return any(word.place in used and word.preposition in _AWAY for word in reading.words)
    closing = (at for at in range(start + 1, len(tokens)) if tokens[at] in _BEHIND_PLACE or not tokens[at][0].isalnum())
    end = next(closing, len(tokens))
    return any(start < place < end for place in used)


_AWAY = frozenset(("from", "to"))
_BEHIND_PLACE = (PREPOSITIONS | CONJUNCTIONS) - {"of"}


def _is_of_subject(reading: Reading, place: int, used: set[int]) -> bool:
    """Tell whether a value is what the matched thing is: in "it lies in a park 2 km long" it is the park's."""
    value = reading.word_at(place)
    if _does_otherwise(reading, place, used):
        return False
    if value is None:
        return True
    start, preposition = place, value.preposition
    if place > 2 and reading.tokens[place - 2 : place] in LIMITS:  # "of at most nine letters"
        start = place - 2
        preposition = reading.tokens[start - 1] if reading.tokens[start - 1] in PREPOSITIONS else None
    if preposition in _OWN_VALUE:
        return True
    if any(word.preposition == preposition and word.place in used for word in reading.words):
        return True
    if preposition != "of":
        return False
    head = next((word for word in reversed(reading.words) if word.place < start and word.preposition != "of"), None)
    return head is not None and (head.place in used or (head.text in MEASURED_BY and head.is_core))


def _does_otherwise(reading: Reading, place: int, used: set[int]) -> bool:
    """Tell whether the value goes with a verb that tells no extent: "it carries 600 kilos" is not what it weighs."""
    subject = max((at for at in used if at < place), default=place)
    between = range(subject + 1, place)
    if any(reading.tokens[at] in BE_FORMS | HAVE_FORMS for at in between):
        return False
    if _is_object(reading, used):
        return True
    verbs = [
        at
        for at in between
        if verb_forms(reading.tokens[at]) & {"s", "past"}
        or (reading.tokens[at - 1] in MODALS and verb_forms(reading.tokens[at]))
    ]
    return bool(verbs) and sense(reading.tokens[verbs[-1]]) not in _EXTENT_VERBS


def _is_object(reading: Reading, used: set[int]) -> bool:
    """Tell whether the matched thing stands behind a verb: in "they search the site for two hours" it lasts nothing."""
    before = [word for word in reading.words if word.is_core and word.place < min(used, default=0)]
    return any(
        verb_forms(word.text) & ({"s", "past", "base"} if other.text.endswith("s") else {"s", "past"})
        for other, word in pairwise(before)
    )


_EXTENT_VERBS = frozenset(
    sense(word)
    for word in word_class(
        "measure weigh last take run stretch extend cover rise reach stand lie keep stay remain amount occupy travel "
        "move drive go fly sail turn spin start end cost"
    )
)
_OWN_VALUE = frozenset((None, "at", "for", "to", "over", "under", "about", "around", "with", "within"))
