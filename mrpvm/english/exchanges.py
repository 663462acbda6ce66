"""Replies to a question that the evidence itself holds: in a dialogue, or under a heading that asks."""

from mrpvm.english.asking import Asked, asked_by
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.matching import Pair
from mrpvm.english.reading import sense_class
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.text import stem

_PRICES = sense_class("be cost")
_SPEAKERS = frozenset(("i", "we", "you", "they", "one"))
_EVASIONS = frozenset(("know", "idea", "sure", "maybe", "perhaps", "not", "n't"))


def replies(asked: Asked, discourse: Discourse) -> list[Told]:
    """Return the reply to the question asked, where somebody else asked the same: or what sets it right."""
    found = (told for told in discourse.told if told.statement.asked and _asks_same(asked, told, discourse))
    first = next(found, None)
    if first is None or (_EVASIONS & set(first.parsed.tokens[:6]) and asked.wants != "verdict"):
        return []
    unit = first.statement.unit_id
    later = [told for told in discourse.told if told.statement.unit_id == unit and told is not first]
    return [told for told in later if told.statement.voiced.is_marked][-1:] or [first]


def _asks_same(asked: Asked, told: Told, discourse: Discourse) -> bool:
    before = asked_by(told.statement.asked or "")
    if before is None or asked.wants != before.wants or _head(asked.noun) != _head(before.noun):
        return False
    left, right = asked.clause, before.clause
    priced = asked.wants == "amount" and left.verb in _PRICES and right.verb in _PRICES
    if not (priced or Pair(asked, left, right, told, discourse).same_verb()) or left.is_negated != right.is_negated:
        return False
    if not _same_subject(left.subject, right.subject):
        return False
    # A reply says nothing of what its question is not about.
    objects = frozenset().union(*(phrase.senses for phrase in right.objects))
    known = _senses(right) | {stem(token) for token in told.parsed.tokens}
    return _senses(left) <= known and objects <= _senses(left) | told.around


def _head(phrase: Phrase | None) -> str | None:
    return phrase.head if phrase else None


def _same_subject(one: Phrase | None, other: Phrase | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.pronoun or other.pronoun:
        return one.pronoun in _SPEAKERS and other.pronoun in _SPEAKERS
    return one.head == other.head


def _senses(clause: Clause) -> frozenset[str]:
    return frozenset().union(*(phrase.senses | phrase.owner for phrase in clause.phrases))
