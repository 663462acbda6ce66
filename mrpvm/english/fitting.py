"""Clauses of the evidence that fill the gap of a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mrpvm.english.asking import Asked
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.equating import LOCATED, equated, named
from mrpvm.english.lexicon import HAVE_FORMS
from mrpvm.english.naming import same
from mrpvm.english.reading import sense
from mrpvm.english.roles import (
    is_stated,
    same_agent,
    same_modifiers,
    same_patients,
    same_verb,
)
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.tagging import PRONOUNS
from mrpvm.english.times import limits, starts_later
from mrpvm.english.units import UNITS
from mrpvm.english.values import (
    colours,
    counts,
    frequencies,
    is_measure,
    is_span,
    is_time,
    measures,
    phrases_of,
    places,
    spans,
    times,
)

_CALL = sense("call")
_DO, _BE, _HAVE, _CONTAIN = sense("do"), sense("be"), sense("have"), sense("contain")
_HAPPEN, _COST, _MEAN = sense("happen"), sense("cost"), sense("mean")
_TIME_LINKS = ("when", "whenever", "after", "before", "until", "once", "while", "if", "unless")
_TIME_PREPOSITIONS = frozenset(("after", "before", "until", "during", "since", "from"))
_VAGUE = frozenset(("someone", "somebody", "anyone", "anybody", "something", "this", "that", "these", "those", "one"))


@dataclass(frozen=True, slots=True)
class Fit:
    """A clause that answers, with the values that fill the gap."""

    told: Told
    clause: Clause
    values: tuple[str, ...]


def fits(asked: Asked, discourse: Discourse) -> list[Fit]:
    """Return the clauses that fill the gap, in the order of the source."""
    return list(_found(asked, discourse))


def _found(asked: Asked, discourse: Discourse) -> Iterator[Fit]:
    for told in discourse.told:
        for clause in told.parsed.clauses:
            if not is_stated(clause, asked) or _is_ahead(asked, told):
                continue
            values = _values(asked, clause, told, discourse)
            if values:
                yield Fit(told, clause, tuple(values))
                break


def _is_ahead(asked: Asked, told: Told) -> bool:
    """Return whether what is asked of now will be so only later."""
    is_of_now = asked.wants != "time" and bool(asked.clause.auxiliaries & {"do", "does", "is", "are"})
    return is_of_now and not asked.clause.modifiers and starts_later(told.statement.plain)


def _values(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    question = asked.clause
    located = question.verb in LOCATED and question.is_passive and asked.wants == "place"
    if located or (question.verb == _BE and not question.is_passive):
        return equated(asked, clause, told, discourse)
    if question.verb == _CALL and asked.wants == "thing" and question.subject is not None:
        return named(question.subject, clause, told, discourse)
    means = question.verb == _MEAN and question.subject is not None and question.subject.pronoun == "it"
    if (question.verb == _HAPPEN and asked.gap == "subject") or (means and asked.conditions):
        return _happening(asked, clause, told, discourse)
    if clause.is_negated != question.is_negated:
        return ()
    is_deed = question.verb == _DO and asked.wants == "thing" and asked.gap == "object"
    if is_deed and clause.verb == _BE and not clause.is_negated and not question.modifiers and clause.subject:
        roles = [item for item in clause.objects if item.determiner in ("a", "an") and not item.is_name]
        does = question.subject is not None and same(question.subject, clause.subject, told, discourse)
        return [told.parsed.text_of(item) for item in roles] if does and "does" in question.auxiliaries else ()
    if not (same_verb(question, clause) or (is_deed and clause.verb not in (_BE, _HAVE))):
        return ()
    if not same_agent(question, clause, told, discourse) or not same_patients(question, clause, told, discourse):
        return ()
    if not same_modifiers(asked, clause, told, discourse):
        return ()
    if is_deed:
        return [clause.verb_text] if question.modifiers or asked.conditions else ()
    return _fillers(asked, clause, told, discourse)


def _happening(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return what a clause says is done, to who asks what happens at a time or place: "after five failed attempts"."""
    if asked.conditions:
        return [clause.verb_text] if not clause.link and same_modifiers(asked, clause, told, discourse) else ()
    is_done = clause.verb not in (_BE, _HAVE) and not clause.link and not clause.is_negated
    asked_where = bool(asked.clause.modifiers)
    return [clause.verb_text] if is_done and asked_where and same_modifiers(asked, clause, told, discourse) else ()


def _fillers(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    parsed = told.parsed
    wants = asked.wants
    if wants == "count" and asked.noun:
        within = counts(clause, asked.noun, parsed)
        return within
    if wants == "reason":
        return ()
    if wants == "place":
        return places(clause, parsed)
    if wants == "time":
        limit = asked.preposition if asked.is_time_limit else ""
        return times(clause, parsed, limit) or _time_clauses(clause, told, limit)
    if wants == "duration":
        since = [parsed.text_of(item) for word, item in clause.modifiers if word == "since"]
        if since and asked.clause.auxiliaries & HAVE_FORMS:
            return since
        lengths = measures(clause, "length", parsed, asked.measure) if asked.measure == "long" else ()
        return spans(clause, parsed) or lengths
    if wants == "colour":
        return colours(clause, parsed)
    if wants == "frequency":
        return frequencies(clause, parsed)
    if wants == "amount":
        return _amounts(asked, clause, told, discourse)
    if wants in UNITS:
        return measures(clause, wants, parsed, asked.measure)
    if wants == "manner":
        return _manners(clause, told)
    found = [_text_of(phrase, told) for phrase in _gap_phrases(asked, clause, told, discourse)]
    if found or asked.gap != "object" or wants != "thing" or asked.preposition:
        return found
    said = (item for item in parsed.clauses if item.link == "that" and item.outer is clause)
    return [" ".join(parsed.surfaces[item.start + 1 : item.end]) for item in said]


def _text_of(phrase: Phrase, told: Told) -> str:
    """Return a phrase as it is written, of a pronoun the name or noun that it means."""
    meant = told.resolved(phrase)
    if meant is phrase:
        return told.parsed.text_of(phrase)
    return meant.head_text.capitalize() if meant.is_name else meant.head_text


def _amounts(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    if asked.noun is not None:
        measured = [item for _, item in phrases_of(clause) if is_measure(item, "measure", told.parsed)
                    and not item.owned_by and len(clause.objects) == 1 and not clause.objects[0].others]  # fmt: skip
        return counts(clause, asked.noun, told.parsed) or [told.parsed.text_of(item) for item in measured]
    kind = "weight" if asked.clause.verb == sense("weigh") else "measure"
    if asked.clause.verb in (sense("cost"), sense("pay"), sense("owe"), sense("earn")):
        kind = "cost"
    return measures(clause, kind, told.parsed)


def _time_clauses(clause: Clause, told: Told, limit: str) -> Sequence[str]:
    """Return the clauses that say when, and times behind "from", "until" and their kind."""
    links = limits(limit) if limit else _TIME_LINKS
    inner = [item.link for item in told.parsed.clauses if item.link in links and item.outer is clause]
    if inner:
        return inner
    return [
        told.parsed.text_of(phrase)
        for word, phrase in clause.modifiers
        if word in _TIME_PREPOSITIONS and (not limit or word in links) and phrase.senses
        and not is_span(phrase, told.parsed)
    ]  # fmt: skip


def _manners(clause: Clause, told: Told) -> Sequence[str]:
    means = [item.link for item in told.parsed.clauses if item.link == "by" and item.outer is clause]
    return means + [told.parsed.text_of(phrase) for word, phrase in clause.modifiers if word in ("by", "with", "via")]


def _gap_phrases(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> list[Phrase]:
    """Return the phrases in the role of the gap that are of the kind asked for."""
    question = asked.clause
    if asked.preposition:
        found = [phrase for word, phrase in clause.modifiers if word == asked.preposition]
        if not found and asked.preposition in clause.adverbs:  # a particle: "what did he turn off?"
            found = [phrase for phrase in clause.patient if phrase is not clause.subject]
    elif asked.gap == "subject":
        found = list(clause.patient if question.is_passive else [clause.agent] if clause.agent else [])
        if question.is_passive:
            found = found[:1]
        elif clause.is_passive and clause.agent is None and asked.noun is not None:
            found = [phrase for word, phrase in clause.modifiers if word == "with"]
    else:
        found = [phrase for phrase in clause.patient if phrase is not clause.subject or clause.is_passive]
        found = [phrase for phrase in found if not _is_named(phrase, asked, told, discourse)]
    return [phrase for phrase in found if _is_of_kind(phrase, asked, clause, told, discourse)]


def _is_named(phrase: Phrase, asked: Asked, told: Told, discourse: Discourse) -> bool:
    return any(same(item, phrase, told, discourse) for item in asked.clause.patient)


def _is_of_kind(phrase: Phrase, asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> bool:
    meant = told.resolved(phrase)
    is_pointing = meant.pronoun in _VAGUE or meant.pronoun in PRONOUNS - {"nobody", "nothing", "none"}
    if is_pointing:
        return False
    word = next((word for word, item in phrases_of(clause) if item is phrase), "")
    if asked.noun is not None and asked.wants in ("chosen", "kind", "owner"):
        return any(asked.noun.head in item.senses | {item.head} for item in meant.members) or discourse.same_thing(
            asked.noun, meant
        )
    if asked.wants == "person":
        return not is_time(meant, word, told.parsed) if meant is phrase else True
    return not is_time(phrase, word, told.parsed) or asked.wants != "thing"
