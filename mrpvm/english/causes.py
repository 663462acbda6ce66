"""Why something is so, where a clause of the same sentence gives the reason."""

from collections.abc import Iterator
from itertools import pairwise

from mrpvm.english.asking import Asked
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.lexicon import ATTITUDE_VERBS, word_class
from mrpvm.english.naming import same
from mrpvm.english.reading import sense
from mrpvm.english.roles import (
    same_agent,
    same_modifiers,
    same_patients,
    same_verb,
)
from mrpvm.english.structure import Clause

_CAUSAL = frozenset(("because", "since", "as"))
_PHRASES = (("because", "of"), ("due", "to"), ("owing", "to"), ("thanks", "to"), ("for", "fear"), ("so", "that"),
            ("in", "order"), ("in", "response"))  # fmt: skip
_CONTROL = frozenset(sense(word) for word in ATTITUDE_VERBS) | frozenset(
    sense(word)
    for word in word_class(
        "begin start decide learn continue agree manage fail need have ask tell allow like force help"
    )
)
_BE = sense("be")
_PLACED = frozenset(sense(word) for word in word_class("place put keep store stand leave set use"))


def causes(asked: Asked, discourse: Discourse) -> Iterator[Told]:
    """Return the statements that say what is asked together with its reason."""
    for told in discourse.told:
        if any(
            _is_effect(asked, clause, told, discourse) and _has_reason(clause, told) for clause in told.parsed.clauses
        ):
            yield told


def _is_effect(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> bool:
    question = asked.clause
    if clause.link in ("if", "unless") or clause.link in _CAUSAL or clause.is_negated != question.is_negated:
        return False
    if not same_modifiers(asked, clause, told, discourse):
        return False
    if question.verb == _BE and not question.is_passive:
        return _is_state(asked, clause, told, discourse)
    return (
        same_verb(question, clause)
        and same_agent(question, clause, told, discourse)
        and same_patients(question, clause, told, discourse)
    )


def _is_state(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> bool:
    """Return whether a clause says the state: "is not near the oven" is also "do not place it near the oven"."""
    question = asked.clause
    if question.subject is None:
        return False
    if clause.verb in _PLACED and question.modifiers and not question.objects:
        return any(same(question.subject, phrase, told, discourse) for phrase in clause.patient)
    about = (
        clause.verb == _BE and clause.subject is not None and same(question.subject, clause.subject, told, discourse)
    )
    return about and all(
        any(same(wanted, item, told, discourse) for item in clause.objects) for wanted in question.objects
    )


def _has_reason(clause: Clause, told: Told) -> bool:
    for other in told.parsed.clauses:
        if other.link in _CAUSAL and other.outer is clause:
            return True
        if clause.link == "so" and other is clause.outer:
            return True
        purpose = other.link == "to" and other.outer is clause and clause.verb not in _CONTROL
        if purpose and not (clause.is_negated or clause.verb == _BE):
            return True
        if "otherwise" in other.adverbs and not other.link:
            return True
    tokens = told.parsed.tokens
    pairs = set(pairwise(tokens))
    return any(pair in pairs for pair in _PHRASES)
