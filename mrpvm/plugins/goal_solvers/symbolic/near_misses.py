"""Statements that hold all words of a question and are of something else [BP-36 b]."""

import re

from mrpvm.knowledge.lexicon import DETERMINERS, MODALS, NOW_WORDS, NUMBER_WORDS, PREPOSITIONS, word_class
from mrpvm.plugins.goal_solvers.symbolic.frames.parsing import parse
from mrpvm.plugins.goal_solvers.symbolic.questions import Kind, Question
from mrpvm.plugins.goal_solvers.symbolic.reading import ANYBODY, Reading, Word, is_past, sense
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement
from mrpvm.plugins.goal_solvers.symbolic.times import starts_later

_CHANGES = frozenset(
    sense(word)
    for word in word_class("rise fall increase decrease grow shrink drop reduce raise lower cut sink climb change")
)
_LIGHT = frozenset(
    sense(word)
    for word in word_class("make do give take have get write hold start begin be send file lodge submit win")
)
"""Verbs that say nothing of their own beside the noun of a deed: who made a proposal proposed."""
_PAST = frozenset(("did", "was", "were"))
_PRESENT_BE = frozenset(("is", "are"))
_ENDED = re.compile(r"\b(?:was|were)\b.*\b(?:from .+ to|between .+ and|until|till)\b", re.IGNORECASE)


def is_near_miss(question: Question, reading: Reading, paired: dict[Word, Word], statement: Statement) -> bool:
    """Tell whether a statement that has every word of a question does not say what it asks."""
    return (
        changes_by(question, reading)
        or _is_of_another_time(question, reading)
        or _is_open_to_others(question, reading, paired)
        or _only_qualifies(question, paired, statement)
        or _is_deed_of_others(question, paired, statement)
    )


def changes_by(question: Question, reading: Reading) -> bool:
    """Tell whether a statement says by how much something changes, and not how much it is."""
    if not _CHANGES & reading.senses - question.senses or "by" in question.reading.tokens:
        return False
    behind = (reading.tokens[place + 1 : place + 3] for place, word in enumerate(reading.tokens) if word == "by")
    return any(word.isdigit() or word in NUMBER_WORDS for found in behind for word in found)


def _is_of_another_time(question: Question, reading: Reading) -> bool:
    """Tell whether what is asked of now was so until some time, or will be from some time on."""
    asked = {question.auxiliary, *question.reading.tokens}
    is_of_now = bool(NOW_WORDS & set(reading.tokens) - asked) and not _PAST & set(reading.tokens)
    if asked & _PAST and is_of_now and not any(is_past(word.text) for word in reading.words):
        return True
    if question.is_copular and question.kind is not Kind.WHEN and asked & _PRESENT_BE:
        return _ENDED.search(reading.text) is not None or (not asked & MODALS and _is_ahead(question, reading))
    return bool(asked & {"do", "does"}) and question.kind is not Kind.WHEN and _is_ahead(question, reading)


def _is_ahead(question: Question, reading: Reading) -> bool:
    times = {word.sense for word in reading.words if word.preposition is not None}
    return starts_later(reading.text) and not times & question.senses


def _is_open_to_others(question: Question, reading: Reading, paired: dict[Word, Word]) -> bool:
    """Tell whether who asks what he can do himself is told what others can: "doctors can park behind the clinic"."""
    asker = (*question.reading.tokens[1:2], "")[0]
    asks_of_self = question.auxiliary in MODALS and asker in ("i", "we", "you", "one")
    first = next((word for word in reading.words if word.is_core and not word.is_owner), None)
    if not asks_of_self or first is None or reading.is_passive or first.is_pronoun or first in paired.values():
        return False
    return first.sense not in ANYBODY and first.place < min(word.place for word in paired.values())


def _only_qualifies(question: Question, paired: dict[Word, Word], statement: Statement) -> bool:
    """Tell whether a thing asked about only tells the kind of another one: "the boat house" is not the boat."""
    tokens = question.reading.tokens
    parsed = parse(statement.plain)
    phrases = [phrase for clause in parsed.clauses for first in clause.phrases for phrase in (first, *first.owned_by)]
    for wanted, word in paired.items():
        behind = (*tokens[wanted.place + 1 :], "")[0]
        is_whole = tokens[max(wanted.place - 1, 0)] in DETERMINERS and (not behind or behind in PREPOSITIONS)
        heads = {phrase.head for phrase in phrases if word.sense in phrase.senses and not phrase.is_name}
        if is_whole and heads and not heads & question.senses:
            return True
    return False


def _is_deed_of_others(question: Question, paired: dict[Word, Word], statement: Statement) -> bool:
    """Tell whether who did something is asked, and what others did with the deed is told: "rejected the appeal"."""
    if question.kind is not Kind.WHO or not question.gap_first or question.is_copular:
        return False
    deed = next((word for wanted, word in paired.items() if wanted.is_core), None)
    return deed is not None and any(
        phrase.head == deed.sense and clause.verb not in _LIGHT and clause.verb != deed.sense
        for clause in parse(statement.plain).clauses
        for phrase in clause.objects
    )
