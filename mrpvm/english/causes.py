"""Why something is so, where a clause of the same sentence gives the reason."""

from itertools import pairwise

from mrpvm.english.lexicon import ATTITUDE_VERBS, groups, listed
from mrpvm.english.matching import Pair
from mrpvm.english.reading import sense, sense_class

_CAUSAL = frozenset(("because", "since", "as"))
_PHRASES = frozenset(map(tuple, groups("reasons")))
_CONTROL = frozenset(map(sense, ATTITUDE_VERBS | listed("control_verbs")))
_BE = sense("be")
_PLACED = sense_class("place put keep store stand leave set use")


def is_cause(pair: Pair) -> bool:
    """Return whether a clause says what is asked, and its sentence the reason."""
    question, clause = pair.question, pair.clause
    if clause.link in _CAUSAL | {"if", "unless"} or clause.is_negated != question.is_negated:
        return False
    is_state = question.verb == _BE and not question.is_passive
    says_same = _says_state(pair) and pair.same_modifiers() if is_state else pair.says_same()
    return says_same and _has_reason(pair)


def _says_state(pair: Pair) -> bool:
    """Return whether a clause says the state: "is not near the oven" is also "do not place it near the oven"."""
    question, clause = pair.question, pair.clause
    if question.subject is None:
        return False
    if clause.verb in _PLACED and question.modifiers and not question.objects:
        return pair.among(question.subject, clause.patient)
    is_about = clause.verb == _BE and pair.same(question.subject, clause.subject)
    return is_about and all(pair.among(wanted, clause.objects) for wanted in question.objects)


def _has_reason(pair: Pair) -> bool:
    clause = pair.clause
    for other in pair.parsed.clauses:
        if other.link in _CAUSAL and other.outer is clause:
            return True
        if clause.link == "so" and other is clause.outer:
            return True
        purpose = other.link == "to" and other.outer is clause and clause.verb not in _CONTROL
        if purpose and not (clause.is_negated or clause.verb == _BE):
            return True
        if "otherwise" in other.adverbs and not other.link:
            return True
    return not _PHRASES.isdisjoint(pairwise(pair.parsed.tokens))
