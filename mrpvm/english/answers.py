"""The statements that answer a question by the roles of its clause, or the reason why none does."""

from dataclasses import dataclass, replace

from mrpvm.english.asking import Asked, asked_by
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.entailment import Match, Refusal, entails
from mrpvm.english.matching import Pair
from mrpvm.english.naming import as_unnamed, named_beside, names_all
from mrpvm.english.reading import sense_class
from mrpvm.english.statements import Statement
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.text import stem
from mrpvm.english.values import asked_with_how

NAMED = "the cited sentence names all that is asked"
_READINGS = 3
"""How many words of a question are tried as its verb."""


@dataclass(frozen=True, slots=True)
class Framed:
    """Statements that answer, with their values; `is_undecided` if they give more than one answer."""

    statements: tuple[Statement, ...]
    values: tuple[str, ...] = ()
    is_undecided: bool = False
    verdict: bool | None = None
    reason: str = "a clause of the cited sentence says what is asked"


def framed_answer(text: str, discourse: Discourse) -> Framed | Refusal:
    """Return the answer by the roles of clauses, or the reason why there is none."""
    readings: list[Asked] = []
    for wording in dict.fromkeys((text, asked_with_how(text))):
        found = (asked_by(wording, skipped_verbs=count) for count in range(_READINGS))
        readings += (asked for asked in found if asked is not None)
    refusals = [Refusal("refused: no rule reads a question of this form")]
    for asked in (item for place, item in enumerate(readings) if item not in readings[:place]):
        answer = _answer(asked, discourse.restricted(asked.manners))
        if isinstance(answer, Framed):
            return answer
        refusals.append(answer)
    return max(refusals[1:] or refusals, key=lambda item: item.shared)


def _answer(asked: Asked, discourse: Discourse) -> Framed | Refusal:
    judged = [entails(asked, told, discourse) for told in discourse.told]
    found = [item for item in judged if isinstance(item, Match)]
    if not found:
        told = None if asked.wants == "verdict" else _reply(asked, discourse) or _named(asked, discourse)
        refusals = (item for item in judged if isinstance(item, Refusal))
        return told or max(refusals, key=lambda item: item.shared, default=Refusal("refused: no sentence was given"))
    first = found[0]
    if asked.wants == "verdict":
        is_clear = len({match.verdict for match in found}) == 1
        contrary = Refusal("refused: one sentence says yes and another no")
        return Framed((first.told.statement,), verdict=first.verdict) if is_clear else contrary
    return Framed((first.told.statement,)) if asked.wants in ("reason", "manner") else _decided(found)


def _named(asked: Asked, discourse: Discourse) -> Framed | None:
    """Return the sentence of a message that has all words of the question and a value of the kind asked for, if any."""
    messages = [told for told in discourse.told if not (told.statement.is_of_document or told.statement.speaker)]
    unnamed = as_unnamed(asked)
    judged = (entails(unnamed, told, discourse) for told in messages) if unnamed else ()
    found = [item for item in judged if isinstance(item, Match)]
    for wanted in (asked, unnamed):
        if wanted is not None and not found:
            named = ((told, named_beside(wanted, told, discourse)) for told in messages)
            found = [Match(told, tuple(values)) for told, values in named if values]
    named_last = [told for told in messages if names_all(asked, told)][-1:]
    if not found or (named_last and named_last[0] is not found[-1].told):
        return None  # what was told of it last has no such value
    answer = _decided(found)
    return None if answer.is_undecided else replace(answer, reason=NAMED)


def replied(text: str, discourse: Discourse) -> Framed | Refusal:
    """Return the replies to the same question asked earlier; a question with only pronouns has no other answer."""
    asked = asked_by(text)
    told = _reply(asked, discourse) if asked else None
    return told or Refusal("refused: nothing said before tells who or what the question means")


def _reply(asked: Asked, discourse: Discourse) -> Framed | None:
    told = replies(asked, discourse)
    if not told:
        return None
    names = [clause.subject for item in told for clause in item.parsed.clauses if clause.subject]
    values = [told[0].parsed.text_of(phrase) for phrase in names if phrase.is_name] if asked.wants == "person" else []
    return Framed(tuple(item.statement for item in told), tuple(values))


def _decided(found: list[Match]) -> Framed:
    first = found[0]
    rivals = [match for match in found[1:] if not _agree(first, match)]
    statements = [match.told.statement for match in found] if rivals else [first.told.statement]
    return Framed(tuple(statements), first.values, is_undecided=bool(rivals))


def _agree(left: Match, right: Match) -> bool:
    one, other = (set(" ".join(match.values).lower().split()) for match in (left, right))
    return one <= other or other <= one


_PRICES = sense_class("be cost")
_SPEAKERS = frozenset(("i", "we", "you", "they", "one"))
_EVASIONS = frozenset(("know", "idea", "sure", "maybe", "perhaps", "not", "n't"))


def replies(asked: Asked, discourse: Discourse) -> list[Told]:
    """Return the reply to the same question asked by somebody else, or the correction of that reply."""
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
    # A reply says nothing about what its question does not mention.
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
