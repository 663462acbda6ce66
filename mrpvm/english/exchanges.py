"""Replies to a question that the evidence itself holds: in a dialogue, or under a heading that asks."""

from collections.abc import Sequence

from mrpvm.english.asking import Asked, asked_by
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.reading import sense
from mrpvm.english.roles import same_verb
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.text import stem

_PRICES = frozenset((sense("be"), sense("cost")))
_SPEAKERS = frozenset(("i", "we", "you", "they", "one"))
_EVASIONS = frozenset(("know", "idea", "sure", "maybe", "perhaps", "not", "n't"))


def replies(asked: Asked, discourse: Discourse) -> list[Told]:
    """Return the reply to the question asked, where somebody else asked the same: or what sets it right."""
    found = [
        told
        for told in discourse.told
        if told.statement.asked and (before := asked_by(told.statement.asked)) and _same_question(asked, before, told)
    ]
    if not found or (_EVASIONS & set(found[0].parsed.tokens[:6]) and asked.wants != "verdict"):
        return []
    first = found[0]
    unit = first.statement.unit_id
    later = [told for told in discourse.told if told.statement.unit_id == unit and told is not first]
    corrected = [told for told in later if told.statement.voiced.is_marked]
    return corrected[-1:] or [first]


def _same_question(asked: Asked, before: Asked, told: Told) -> bool:
    if asked.wants != before.wants or (asked.noun is None) != (before.noun is None):
        return False
    if asked.noun is not None and before.noun is not None and asked.noun.head != before.noun.head:
        return False
    left, right = asked.clause, before.clause
    priced = asked.wants == "amount" and left.verb in _PRICES and right.verb in _PRICES
    if not (priced or same_verb(left, right)) or left.is_negated != right.is_negated:
        return False
    if not _same_subject(left, right):
        return False
    known = _senses(right) | {stem(token) for token in told.parsed.tokens}
    return _required(left) <= known and _named(right) <= _senses(left) | told.around


def _same_subject(left: Clause, right: Clause) -> bool:
    one, other = left.subject, right.subject
    if one is None or other is None:
        return one is other
    if one.pronoun or other.pronoun:
        return one.pronoun in _SPEAKERS and other.pronoun in _SPEAKERS
    return one.head == other.head


def _phrases(clause: Clause) -> Sequence[Phrase]:
    subject = [clause.subject] if clause.subject else []
    return [*subject, *clause.objects, *(phrase for _, phrase in clause.modifiers)]


def _senses(clause: Clause) -> frozenset[str]:
    return frozenset().union(*(phrase.senses | phrase.owner for phrase in _phrases(clause)))


_required = _senses


def _named(clause: Clause) -> frozenset[str]:
    """Return what a question is about besides its subject: a reply to it says nothing of anything else."""
    return frozenset().union(*(phrase.senses for phrase in clause.objects))
