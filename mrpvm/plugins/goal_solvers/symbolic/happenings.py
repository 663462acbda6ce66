"""What happens to something: what a statement says is done to it, or that it does by itself."""

import re
from collections.abc import Sequence
from itertools import pairwise

from mrpvm.knowledge.lexicon import BE_FORMS, LOCATION_VERBS, word_class
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, Word, is_past, read, sense
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_ASKED = re.compile(
    r"^what (?P<verb>happens|happened|will happen|is done|was done) (?:to|with) (?P<thing>.+)$", re.IGNORECASE
)
_PAST = frozenset(("happened", "was done"))
_PARTNERS = frozenset((None, "i", "we", "you"))
_UNCHANGED = word_class("split cut put set reset shut cast hit let read shed spread thrust")
"""Participles that look like the bare verb."""
_LOCATIONS = frozenset(sense(verb) for verb in LOCATION_VERBS)


def asks_what_happens(text: str) -> bool:
    """Tell whether a question asks what becomes of something."""
    return _ASKED.match(_bare(text)) is not None


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip("?.! ")


def happenings(text: str, statements: Sequence[Statement]) -> list[Statement]:
    """Give the statements whose subject is exactly the thing asked about, if they tell what becomes of it."""
    match = _ASKED.match(_bare(text))
    thing = read(match["thing"]) if match else None
    if match is None or thing is None or thing.is_conditional:
        return []
    is_past_asked = match["verb"].lower() in _PAST
    asked = [word for word in thing.words if not word.is_pronoun]
    return [item for item in statements if asked and any(_tells(asked, said, is_past_asked) for said in item.readings)][
        :2
    ]


def _tells(asked: Sequence[Word], reading: Reading, is_past_asked: bool) -> bool:
    said, rest = reading.words[: len(asked)], reading.words[len(asked) :]
    if len(said) < len(asked) or not rest or not all(_is_same(*pair) for pair in zip(asked, said, strict=True)):
        return False
    if reading.is_conditional or any(_parted(reading, *pair) for pair in pairwise(said)):
        return False
    verb = rest[0]
    if not verb.is_core or is_past_asked != _is_past(reading, verb):
        return False
    if BE_FORMS & set(reading.tokens[said[-1].place : verb.place]):
        return is_past(verb.text) or verb.text in _UNCHANGED
    acts = not BE_FORMS & set(reading.tokens) and not any(word.is_core for word in rest[1:])
    return acts and verb.sense not in _LOCATIONS


def _is_same(asked: Word, said: Word) -> bool:
    same_owner = asked.owner == said.owner or {asked.owner, said.owner} <= _PARTNERS
    return asked.sense == said.sense and asked.preposition == said.preposition and same_owner


def _parted(reading: Reading, left: Word, right: Word) -> bool:
    """Tell whether a verb stands between two words of the subject."""
    return bool(BE_FORMS & set(reading.tokens[left.place : right.place]))


def _is_past(reading: Reading, verb: Word) -> bool:
    auxiliaries = BE_FORMS & set(reading.tokens)
    return bool({"was", "were"} & auxiliaries) if auxiliaries else is_past(verb.text)
