"""The statements that answer a question by the roles of its clause, or the reason why none does."""

from collections.abc import Sequence
from copy import replace

from msgspec import Struct

from mrpvm.english.context.discourse import Discourse, Premise
from mrpvm.english.questions.asking import Query, query_of, words_asked
from mrpvm.english.questions.entailment import Match, Refusal, Verdict, entails
from mrpvm.english.questions.matching import Pair
from mrpvm.english.questions.naming import as_unnamed, named_beside, names_all
from mrpvm.english.questions.wordings import wordings_of
from mrpvm.english.scoring.scorer import kind_of
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.statements import Statement
from mrpvm.english.sentences.structure import Clause, Phrase
from mrpvm.english.sentences.values import measures
from mrpvm.english.words.reading import denies, sense_class
from mrpvm.english.words.text import stem

NAMED = "the cited sentence names all that is asked"
ANSWERED = "the source answers this question there"
CONDITIONAL = "the cited sentence says what is asked under a condition that the question does not name"
_CONDITIONS = 2
"""How many sentences with a condition answer a question."""
_READINGS = 3
"""How many words of a question are tried as its verb."""


class Framed(Struct, frozen=True):
    """Statements that answer, with their values; `is_undecided` if they give more than one answer."""

    statements: tuple[Statement, ...]
    values: tuple[str, ...] = ()
    is_undecided: bool = False
    verdict: Verdict | None = None
    reason: str = "a clause of the cited sentence says what is asked"


def framed_answer(text: str, discourse: Discourse) -> Framed | Refusal:
    """Return the answer by the roles of clauses, or the reason why there is none."""
    readings: list[Query] = []
    for wording in dict.fromkeys((text, *wordings_of(text))):
        by_verb = (query_of(wording, skipped_verbs=count) for count in range(_READINGS))
        readings += filter(None, (*by_verb, query_of(wording, ends_with_predicate=True)))
    readings = [item for place, item in enumerate(readings) if item not in readings[:place]]
    refusals = [Refusal("refused: no rule reads a question of this form")]
    for query in readings:
        answer = _answer(query, discourse.restricted(query.manners))
        if isinstance(answer, Framed):
            return answer
        refusals.append(answer)
    in_cells = (_in_cell(query, discourse.restricted(query.manners)) for query in readings)
    return next(filter(None, in_cells), None) or max(refusals[1:] or refusals, key=lambda item: item.shared)


def _answer(query: Query, discourse: Discourse) -> Framed | Refusal:
    judged = [entails(query, premise, discourse) for premise in discourse.premises]
    matches = [item for item in judged if isinstance(item, Match)]
    if not matches:
        answer = None if query.wants == "verdict" else _reply(query, discourse) or _named(query, discourse)
        refusals = (item for item in judged if isinstance(item, Refusal))
        return answer or max(refusals, key=lambda item: item.shared, default=Refusal("refused: no sentence was given"))
    first = matches[0]
    if query.wants == "verdict":
        return _judged(matches)
    return Framed((first.premise.statement,)) if query.wants in ("reason", "manner") else _decided(matches)


def _judged(matches: Sequence[Match]) -> Framed | Refusal:
    """Return the verdict of the sentences without a condition, else those with one."""
    settled = [match for match in matches if match.verdict != "depends"]
    if not settled:
        conditional = matches[:_CONDITIONS]
        return Framed(tuple(match.premise.statement for match in conditional), verdict="depends", reason=CONDITIONAL)
    if len({match.verdict for match in settled}) > 1:
        return Refusal("refused: one sentence says yes and another no")
    return Framed((settled[0].premise.statement,), verdict=settled[0].verdict)


def _named(query: Query, discourse: Discourse) -> Framed | None:
    """Return the sentence of a message that has all words of the question and a value of the kind asked for, if any."""
    messages = [item for item in discourse.premises if not (item.statement.is_of_document or item.statement.speaker)]
    unnamed = as_unnamed(query)
    judged = (entails(unnamed, premise, discourse) for premise in messages) if unnamed else ()
    matches = [item for item in judged if isinstance(item, Match)]
    for wanted in (query, unnamed):
        if wanted is not None and not matches:
            named = ((premise, named_beside(wanted, premise, discourse)) for premise in messages)
            matches = [Match(premise, tuple(values)) for premise, values in named if values]
    named_last = [premise for premise in messages if names_all(query, premise)][-1:]
    if not matches or (named_last and named_last[0] is not matches[-1].premise):
        return None  # what was told of it last has no such value
    answer = _decided(matches)
    return None if answer.is_undecided else replace(answer, reason=NAMED)


def _in_cell(query: Query, discourse: Discourse) -> Framed | None:
    """Return the cell of a table, or another labelled value, with all words of the question and a value of its kind."""
    if query.wants == "verdict":
        return None
    cells = [item for item in discourse.premises if item.statement.is_labelled and item.statement.is_of_document]
    if query.wants == "amount" and query.noun is None:
        cells = [item for item in cells if _is_price(item)]
    named = ((premise, named_beside(query, premise, discourse)) for premise in cells)
    matches = [Match(premise, tuple(values)) for premise, values in named if values]
    answer = _decided(matches) if matches else None
    return replace(answer, reason=NAMED) if answer and not answer.is_undecided else None


def _is_price(premise: Premise) -> bool:
    return any(measures(clause, "cost", premise.parsed) for clause in premise.parsed.clauses)


def replied(text: str, discourse: Discourse) -> Framed | Refusal:
    """Return the replies to the same question asked earlier; a question with only pronouns has no other answer."""
    query = query_of(text)
    reply = _reply(query, discourse) if query else None
    return reply or Refusal("refused: nothing said before tells who or what the question means")


def _decided(matches: list[Match]) -> Framed:
    first = matches[0]
    rivals = [match for match in matches[1:] if not _agree(first, match)]
    statements = [match.premise.statement for match in matches] if rivals else [first.premise.statement]
    return Framed(tuple(statements), first.values, is_undecided=bool(rivals))


def _agree(left: Match, right: Match) -> bool:
    one, other = (set(" ".join(match.values).lower().split()) for match in (left, right))
    return one <= other or other <= one


def answered_in_source(text: str, statements: Sequence[Statement]) -> list[Statement]:
    """Return what a document says below the same question, in order."""
    below = (item for item in statements if item.question and item.is_of_document)
    answers = [item for item in below if _is_same_question(text, item)]
    same = (item for item in answers if item.entry.unit.chunk_id == answers[0].entry.unit.chunk_id)
    return sorted(same, key=lambda item: item.order)


def _is_same_question(text: str, statement: Statement) -> bool:
    """Return whether a question has the words of the one above a statement, and no others that its unit does not."""
    asked = statement.question or ""
    wanted, known = words_asked(text).keys(), words_asked(asked).keys()
    if not known or kind_of(text) != kind_of(asked) or denies(text) != denies(asked):
        return False
    if wanted == known or kind_of(text) == "yes":
        return wanted == known  # an answer with "yes" need not be one for the further words
    return known <= wanted <= known | read(statement.entry.unit.text).senses


_PRICES = sense_class("be cost")
_SPEAKERS = frozenset(("i", "we", "you", "they", "one"))
_EVASIONS = frozenset(("know", "idea", "sure", "maybe", "perhaps", "not", "n't"))


def _reply(query: Query, discourse: Discourse) -> Framed | None:
    """Return the reply to the same question asked by somebody else, or the correction of that reply."""
    answering = (premise for premise in discourse.premises if premise.statement.question)
    first = next((premise for premise in answering if _asks_same(query, premise, discourse)), None)
    if first is None or (_EVASIONS & set(first.parsed.tokens[:6]) and query.wants != "verdict"):
        return None
    same_unit = (item for item in discourse.premises if item.statement.unit_id == first.statement.unit_id)
    premise = [first, *(item for item in same_unit if item.statement.voiced.is_marked and item is not first)][-1]
    subjects = [clause.subject for clause in premise.parsed.clauses if clause.subject]
    names = [premise.parsed.text_of(phrase) for phrase in subjects if phrase.is_name]
    return Framed((premise.statement,), tuple(names) if query.wants == "person" else ())


def _asks_same(query: Query, premise: Premise, discourse: Discourse) -> bool:
    before = query_of(premise.statement.question or "")
    if before is None or query.wants != before.wants or _head(query.noun) != _head(before.noun):
        return False
    left, right = query.clause, before.clause
    priced = query.wants == "amount" and left.verb in _PRICES and right.verb in _PRICES
    if not (priced or Pair(query, left, right, premise, discourse).same_verb()) or left.is_negated != right.is_negated:
        return False
    if not _same_subject(left.subject, right.subject):
        return False
    # A reply says nothing about what its question does not mention.
    objects = frozenset().union(*(phrase.senses for phrase in right.objects))
    known = _senses(right) | {stem(token) for token in premise.parsed.tokens}
    return _senses(left) <= known and objects <= _senses(left) | premise.around


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
