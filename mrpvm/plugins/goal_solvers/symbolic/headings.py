"""What a heading says of the sentences below it: the question they reply to, and what their nouns are short for."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from mrpvm.knowledge.lexicon import AUXILIARIES, DETERMINERS, PREPOSITIONS, word_class
from mrpvm.plugins.goal_solvers.symbolic.frames.parsing import parse
from mrpvm.plugins.goal_solvers.symbolic.questions import Question
from mrpvm.plugins.goal_solvers.symbolic.reading import Reading, Word, is_past, read
from mrpvm.plugins.goal_solvers.symbolic.statements import Statement

_ACTOR = r"(?:i|we|you|one|users|people|customers|guests|members|visitors|readers)"
_HOW = re.compile(rf"^how (?:(?:do|can|could|may|should|must) {_ACTOR}|to) (?P<task>.+)$", re.IGNORECASE)
_WHETHER = re.compile(
    rf"^(?:(?:can|may) {_ACTOR}|is it possible (?:for (?:me|us|you) )?to|(?:am|are) {_ACTOR} (?:allowed|permitted) to)"
    r" (?P<task>.+)$",
    re.IGNORECASE,
)
_EITHER = word_class("or versus vs instead not without except than but")
_CHOOSING = _EITHER | {"and"}
_BEFORE_VERB = word_class("i we you to")
_STEPS_MAX = 5


def granted(text: str, statements: Sequence[Statement]) -> tuple[bool, Statement] | None:
    """Give yes or no where a heading asks the same, and what stands below it begins with "Yes." or "No."."""
    asked = _task(_WHETHER, text)
    found = [item for item in statements if asked and item.assent is not None and _replies_to(item, asked)]
    return (found[0].assent is True, found[0]) if len({item.assent for item in found}) == 1 else None


def granted_way(text: str, statements: Sequence[Statement]) -> list[Statement]:
    """Give the orders below a heading that asks whether one can do what is asked how to do, and that says yes."""
    asked = _task(_HOW, text)
    ordered = sorted(statements, key=lambda item: item.order)
    for place, item in enumerate(ordered):
        if asked and item.assent and _replies_to(item, asked):
            below = takewhile(lambda other, first=item: other.asked == first.asked, ordered[place:])  # type: ignore[misc]
            return list(takewhile(_is_order, below))[:_STEPS_MAX]
    return []


def _replies_to(item: Statement, asked: tuple[str, ...]) -> bool:
    return item.asked is not None and _task(_WHETHER, item.asked) == asked


def _task(form: re.Pattern[str], text: str) -> tuple[str, ...]:
    """Give the words of what somebody wants to do, in their order, nothing of a question of another form."""
    match = form.match(" ".join(text.split()).rstrip("?.! "))
    if match is None:
        return ()
    reading = read(match["task"])
    return () if reading.is_negated else tuple(word.sense for word in reading.words if not word.is_pronoun)


def _is_order(statement: Statement) -> bool:
    clauses = parse(statement.plain).clauses
    return bool(clauses) and clauses[0].is_order


def spoken_of(heading: str) -> frozenset[str]:
    """Give the senses that a heading lends to all below it: none where one of its words is meant ("Tea or milk")."""
    above = read(heading)
    return frozenset() if _EITHER & set(above.tokens) else above.senses


def under_heading(question: Question, reading: Reading, heading: str | None) -> Question | None:
    """Give the question without the word that the heading says in front of a noun of the statement, None without one.

    Below "How do I reset my password?" the link is the reset link. The noun has no other word before it, and what the
    heading says is its verb, all it says, or stands before the same noun.
    """
    if not heading:
        return None
    above = read(heading)
    if _CHOOSING & set(above.tokens):
        return None
    missing = [word for word in question.required if word.sense not in reading.senses]
    if len(missing) != 1 or missing[0].is_owner or missing[0].is_pronoun:
        return None
    noun = question.reading.word_at(missing[0].place + 1)
    if noun is None or noun not in question.required or noun.preposition != missing[0].preposition:
        return None
    said = [word for word in reading.words if word.sense == noun.sense]
    if len(said) != 1 or not _is_bare(said[0], reading) or not _heads(missing[0], noun, above):
        return None
    return replace(question, required=tuple(word for word in question.required if word is not missing[0]))


def _is_bare(noun: Word, reading: Reading) -> bool:
    """Tell whether a noun has no other word before it, nor is itself one before another noun."""
    place = noun.place
    if noun.owner or noun.is_owner or (place and reading.tokens[place - 1] not in DETERMINERS | PREPOSITIONS):
        return False
    after = reading.word_at(place + 1)
    is_verb = after is not None and (
        is_past(after.text) or (after.text.endswith("s") and not AUXILIARIES & set(reading.tokens))
    )
    return after is None or is_verb


def _heads(modifier: Word, noun: Word, above: Reading) -> bool:
    said = next((word for word in above.words if word.sense == modifier.sense), None)
    if said is None:
        return False
    following = above.word_at(said.place + 1)
    before = above.tokens[said.place - 1] if said.place else ""
    return len(above.senses) == 1 or before in _BEFORE_VERB or (following is not None and following.sense == noun.sense)
