"""Answers by words alone: a statement contains all content words of the question and a value of the kind asked for.

Messages leave out verbs ("oil change at 412,000 miles") and use other roles than the question ("I'm on 5 mg of it",
"How much of it do I take?"). If a statement has each content word of the question and only one possible value, the
roles are not needed.
"""

from collections.abc import Sequence
from copy import replace

from mrpvm.english.context.discourse import Discourse, Premise
from mrpvm.english.questions.asking import Query
from mrpvm.english.questions.matching import Pair
from mrpvm.english.sentences.structure import Clause, Phrase
from mrpvm.english.sentences.values import (
    CALENDAR,
    FINDERS,
    PLACE_PREPOSITIONS,
    UNITS,
    counts,
    has_number,
    is_measure,
    is_time,
    measures,
    phrases_of,
)
from mrpvm.english.words.reading import BE, sense_class
from mrpvm.english.words.tagging import is_number, names_time

_CLAUSES_MAX = 12
"""Clauses of a sentence that are compared with each other; nobody tells a fact in more."""
_LIGHT = sense_class("be have do get take make keep happen find stay use put now currently")
"""Verbs of little meaning beside a value, such as have, do and take: another verb may replace them."""
_IMPLIED = {
    "time": sense_class("time day date hour month year week due"),
    "amount": sense_class("cost price pay fee charge amount"),
}
"""Words of a question that a value of the kind implies."""
_ORDERING = frozenset(("before", "after", "since", "until", "without", "except", "besides"))
_SPEAKERS = frozenset(("i", "me", "my", "mine"))


def as_unnamed(query: Query) -> Query | None:
    """Return "which language am I learning" without its noun, which "I'm learning Swahili" need not contain."""
    if query.wants not in ("chosen", "kind") or query.noun is None:
        return None
    words = {name: text for name, text in query.words.items() if name not in query.noun.senses}
    is_of_place = query.preposition in ("in", "at") and query.clause.verb == BE
    return replace(query, wants="place" if is_of_place else "thing", noun=None, words=words)


def named_beside(query: Query, premise: Premise, discourse: Discourse) -> Sequence[str]:
    """Return the values of the kind asked for in the clause of a statement with most words of the question."""
    wanted = _words_wanted(query)
    if len(premise.parsed.clauses) > _CLAUSES_MAX or not names_all(query, premise):
        return ()
    is_own = any(item.pronoun in _SPEAKERS or item.owner_pronoun in _SPEAKERS for item in query.clause.phrases)
    if is_own and not _SPEAKERS.union(("we", "us", "our")) & set(premise.parsed.tokens):
        return ()
    if any(word in _ORDERING and word not in premise.parsed.tokens for word, _ in query.clause.modifiers):
        return ()
    beside = (wanted - query.noun.senses if query.noun else wanted) or wanted
    pairs = [Pair(query, query.clause, clause, premise, discourse) for clause in premise.parsed.clauses]
    own = [_own_senses(pair) for pair in pairs]
    closest = max((len(beside & senses) for senses in own), default=0)
    subject = query.clause.subject
    needed = {subject.head} & premise.parsed.senses if subject is not None else frozenset()
    for pair, senses in zip(pairs, own, strict=True):
        is_alike = pair.is_stated() and pair.clause.is_negated == query.clause.is_negated and not _is_reversed(pair)
        is_closest = len(beside & senses) == closest > 0 and needed <= senses
        if is_alike and is_closest and (values := _values(pair)):
            return values
    return ()


def names_all(query: Query, premise: Premise) -> bool:
    """Return whether a statement has all content words of a question except those that its value implies."""
    wanted, meant = _words_wanted(query), (phrase.senses for phrase in premise.meant.values())
    return bool(wanted) and wanted <= premise.parsed.senses.union(*meant)


def _words_wanted(query: Query) -> frozenset[str]:
    said = query.noun.senses if query.noun is not None and query.wants in ("time", "place", "person") else frozenset()
    return frozenset(query.words) - _LIGHT - _IMPLIED.get(query.wants, frozenset()) - said - {"i", "we", "you"}


def _own_senses(pair: Pair) -> frozenset[str]:
    """Return the senses of a clause's words, of its pronouns' antecedents, and of what is said of its subject."""
    own, premise = pair.clause, pair.premise
    subject = premise.resolved(own.subject) if own.subject else None
    same = (item for item in pair.parsed.clauses if subject and item.subject == subject and not item.link)
    said = frozenset().union(*(_senses_within(clause, pair) for clause in (own, *same)))
    if own.subject and own.subject.head not in pair.query.words:
        said -= own.subject.owner  # Anna's brother is not she
    return said.union(*(premise.resolved(phrase).senses for phrase in own.phrases if phrase.pronoun))


def _senses_within(clause: Clause, pair: Pair) -> frozenset[str]:
    inner = [other for other in pair.parsed.clauses if other.outer is clause]
    within = {place for other in inner for place in range(other.start, other.end)}
    span = range(clause.start, max(clause.end, clause.start + 1))
    return frozenset(word.sense for word in pair.parsed.words if word.place in span and word.place not in within)


def _is_reversed(pair: Pair) -> bool:
    """Return whether the agent of the question is the patient of the clause, or the other way round."""
    question, said = pair.question, pair.clause
    if question.verb == BE or not pair.same_verb():
        return False
    behind = [*said.patient, *(phrase for _, phrase in said.modifiers)]
    does = question.agent is not None and bool(question.agent.senses) and pair.among(question.agent, behind)
    return does or (said.agent is not None and any(pair.same(item, said.agent) for item in question.patient))


def _values(pair: Pair) -> Sequence[str]:
    query, clause, parsed = pair.query, pair.clause, pair.parsed
    if query.wants in ("person", "owner"):
        return pair.texts(item for word, item in _phrases(clause) if _is_somebody_new(word, item, pair))
    if find := FINDERS.get(query.wants):
        return find(clause, parsed)
    if query.wants == "count":
        return counts(clause, query.noun, parsed) if query.noun else ()
    if query.wants == "amount":
        kind = "measure" if query.noun else "cost"
        phrases = [(word, item) for word, item in _phrases(clause) if not is_time(item, word, parsed)]
        measured = [item for _, item in phrases if is_measure(item, kind, parsed)]
        return pair.texts(measured or [item for _, item in phrases if not query.noun and is_number(item.head_text)])
    if query.wants == "age":
        return measures(clause, "age", parsed)
    noun = query.noun or (query.clause.subject if query.wants == "thing" and query.clause.verb == BE else None)
    if noun is not None and query.wants in ("thing", "chosen", "kind"):
        named = (item for _, item in _phrases(clause) if noun.head in item.senses)
        return pair.texts(
            item for item in named if any(map(str.isdigit, parsed.tokens[item.end]))
        )  # "size 43", "Ward 4"
    return measures(clause, query.wants, parsed, query.measure) if query.wants in UNITS else ()


def _phrases(clause: Clause) -> list[tuple[str, Phrase]]:
    named = [*(("", item) for item in (clause.subject.members if clause.subject else ())), *phrases_of(clause)]
    return [*named, *((word, alias) for word, item in named for alias in item.aliases)]


def _is_somebody_new(word: str, phrase: Phrase, pair: Pair) -> bool:
    """Return whether a phrase names a person that the question does not name."""
    if phrase.pronoun or not phrase.is_person or word in PLACE_PREPOSITIONS - {"by"}:
        return False
    if phrase.head in pair.query.words or phrase.senses <= pair.query.words.keys():
        return False
    is_dated = names_time(phrase.head_text) or phrase.head_text in CALENDAR
    return not is_dated and not has_number(pair.parsed.tokens_of(phrase))
