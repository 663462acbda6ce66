"""Questions that only join a thing and what it is: who is it, what is it called, where and when is it, how long."""

from collections.abc import Sequence

from mrpvm.knowledge.lexicon import word_class
from mrpvm.plugins.goal_solvers.symbolic.frames.asking import Asked
from mrpvm.plugins.goal_solvers.symbolic.frames.discourse import Discourse, Told
from mrpvm.plugins.goal_solvers.symbolic.frames.naming import same
from mrpvm.plugins.goal_solvers.symbolic.frames.roles import same_modifiers
from mrpvm.plugins.goal_solvers.symbolic.frames.structure import Clause, Phrase
from mrpvm.plugins.goal_solvers.symbolic.frames.tagging import PRONOUNS
from mrpvm.plugins.goal_solvers.symbolic.frames.values import (
    PLACE_PREPOSITIONS,
    UNITS,
    counts,
    is_measure,
    is_span,
    is_time,
    measures,
    places,
    spans,
    times,
)
from mrpvm.plugins.goal_solvers.symbolic.reading import sense

_BE, _CONTAIN, _HAVE = sense("be"), sense("contain"), sense("have")
_LOCATED = frozenset(
    sense(word)
    for word in word_class(
        "lie hang stand sit put place keep store hide live locate stay remain park situate rest base install mount hold"
    )
)
_EXTENT = frozenset(
    sense(word) for word in word_class("last measure weigh amount cost reach rise take limit have set fix number")
)
_HAPPENS = frozenset(sense(word) for word in word_class("hold happen occur start open begin arrive leave take"))


def equated(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Give what a clause says the thing asked about is; nothing if it speaks of something else."""
    question = asked.clause
    if clause.is_negated != question.is_negated:
        return ()
    if asked.gap == "subject":
        return _what_is_so(asked, clause, told, discourse)
    thing = question.subject
    if thing is None or question.objects:
        return ()
    if asked.wants in ("thing", "person", "chosen", "kind"):
        return _named(asked, thing, clause, told, discourse)
    if asked.wants == "place":
        return _placed(asked, thing, clause, told, discourse)
    if not _is_about(asked, thing, clause, told, discourse):
        return ()
    if asked.wants == "time":
        return times(clause, told.parsed) if clause.verb in _HAPPENS | {_BE} else ()
    return _extent(asked, clause, told)


def _is_about(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> bool:
    about = clause.subject is not None and same(thing, clause.subject, told, discourse)
    return about and same_modifiers(asked, clause, told, discourse)


def _extent(asked: Asked, clause: Clause, told: Told) -> Sequence[str]:
    if clause.verb not in _EXTENT | {_BE}:
        return ()
    parsed = told.parsed
    if asked.wants == "duration":
        return spans(clause, parsed) or measures(clause, "length", parsed)
    if asked.wants == "amount":
        return measures(clause, "cost", parsed)
    return measures(clause, asked.wants, parsed) if asked.wants in UNITS else ()


def _what_is_so(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Give the subject of a clause that says what the question says of its gap: "who is ill", "what is in the box"."""
    question, subject = asked.clause, clause.subject
    inside = [phrase for word, phrase in question.modifiers if word in ("in", "inside")]
    if clause.verb == _CONTAIN and asked.wants == "thing" and inside and not question.objects and subject:
        return [told.parsed.text_of(item) for item in clause.objects] if same(inside[0], subject, told, discourse) else ()
    if clause.verb != _BE or clause.is_passive or subject is None:
        return ()
    if not (question.objects or question.modifiers) or not same_modifiers(asked, clause, told, discourse):
        return ()
    for wanted in question.objects:
        if not any(same(wanted, item, told, discourse) for item in clause.objects):
            return ()
    if asked.wants == "count" and asked.noun:
        return counts(clause, asked.noun, told.parsed)
    meant = told.resolved(subject)
    if asked.noun is not None and asked.noun.head not in meant.senses:
        return ()
    return [] if meant.pronoun in PRONOUNS else [told.parsed.text_of(subject)]


def _named(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Give the other side of "X is Y" or "X, the Y"; of "who is ill" the subject of whom it is said."""
    parsed = told.parsed
    for phrase in (clause.subject, *clause.objects, *(item for _, item in clause.modifiers)):
        if phrase is None:
            continue
        for item in (phrase, *phrase.aliases):
            others = [other for other in (phrase, *phrase.aliases) if other is not item]
            if others and same(thing, item, told, discourse) and not asked.clause.modifiers:
                return [parsed.text_of(other) for other in others]
    subject = clause.subject
    if clause.verb != _BE or clause.is_passive or subject is None:
        return ()
    if not same_modifiers(asked, clause, told, discourse):
        return ()
    for item in clause.objects:
        if same(thing, item, told, discourse) and not told.resolved(subject).pronoun:
            return [parsed.text_of(subject)]
    if asked.wants == "person" or not same(thing, subject, told, discourse):
        return ()
    return [parsed.text_of(item) for item in clause.objects]


def _placed(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    parsed = told.parsed
    for phrase in (*([clause.subject] if clause.subject else []), *clause.objects, *(i for _, i in clause.modifiers)):
        if same(thing, phrase, told, discourse):
            beside = [
                parsed.text_of(place)
                for word, place in clause.modifiers
                if word in PLACE_PREPOSITIONS and place.start == phrase.end + 2 and not is_time(place, word, parsed)
                and not is_span(place, parsed) and not is_measure(place, "cost", parsed) and word not in ("to", "by")
            ]  # fmt: skip
            if beside:
                return beside
    if not _is_about(asked, thing, clause, told, discourse):
        return ()
    return places(clause, parsed) if clause.verb in _LOCATED | {_BE} else ()
