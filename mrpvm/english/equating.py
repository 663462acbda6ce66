"""Questions that only join a thing and what it is: who is it, what is it called, where and when is it, how long."""

from collections.abc import Sequence
from dataclasses import replace

from mrpvm.english.asking import Asked
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.lexicon import ATTITUDE_VERBS, COLOURS, word_class
from mrpvm.english.naming import PARTNERS, same
from mrpvm.english.reading import sense
from mrpvm.english.roles import same_modifiers
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.tagging import PRONOUNS
from mrpvm.english.units import UNITS
from mrpvm.english.values import (
    PLACE_PREPOSITIONS,
    colours,
    counts,
    is_measure,
    is_span,
    is_time,
    measures,
    phrases_of,
    places,
    spans,
    times,
)

MOVING = frozenset(("to", "from", "into", "onto", "through", "across", "off", "toward", "towards", "by", "over"))
"""Prepositions that tell the way, not the place."""
_POSSIBLE = frozenset(("can", "could", "may", "might"))
_PROFESSIONS = frozenset(("profession", "occupation", "job", "trade"))
_MADE_UP = frozenset(sense(word) for word in ("contain", "include", "consist", "comprise"))
_BE, _CALL, _CONTAIN, _HAVE = sense("be"), sense("call"), sense("contain"), sense("have")
LOCATED = frozenset(
    sense(word)
    for word in word_class(
        "lie hang stand sit put place keep store hide live locate stay remain park situate rest base install mount hold"
    )
)
_EXTENT = frozenset(
    sense(word) for word in word_class("last measure weigh amount cost reach rise take limit have set fix number cover")
)
_TOLD_BY = {
    sense("cost"): {"amount"}, sense("weigh"): {"weight", "amount"}, sense("last"): {"duration"},
    sense("take"): {"duration"}, sense("cover"): {"size"},
}  # fmt: skip
"""Verbs that tell one extent only: what something costs is not how large it is."""
_ONLY_MEANT = frozenset(sense(word) for word in ATTITUDE_VERBS | {"reject", "decline", "discuss", "request", "demand"})
"""What somebody wants or rejects is not there to be measured."""
_HAPPENS = frozenset(sense(word) for word in word_class("hold happen occur start open begin arrive leave take"))


def equated(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return what a clause says the thing asked about is; nothing if it speaks of something else."""
    question = asked.clause
    if clause.is_negated != question.is_negated:
        return ()
    if asked.gap == "subject":
        return _what_is_so(asked, clause, told, discourse)
    thing = question.subject
    if thing is None:
        return ()
    if question.objects:
        return _lasting(asked, thing, clause, told, discourse)
    if thing.head_text in _PROFESSIONS and thing.owned_by and asked.wants == "thing":
        return _profession(thing, clause, told, discourse)
    if thing.head_text == "name" and thing.owner and asked.wants in ("thing", "name"):
        return named(_owner_of_name(thing), clause, told, discourse)
    if asked.wants in ("thing", "person", "chosen", "kind"):
        return _named(asked, thing, clause, told, discourse)
    if asked.wants == "place":
        return _placed(asked, thing, clause, told, discourse)
    if asked.wants == "colour":
        return _coloured(asked, thing, clause, told, discourse)
    within = _sized(asked, thing, clause, told, discourse)
    if within:
        return within
    if not _is_about(asked, thing, clause, told, discourse):
        return ()
    if asked.wants == "time":
        if not set(question.adverbs) <= set(clause.adverbs):
            return ()
        limit = asked.preposition if asked.is_time_limit else ""
        return times(clause, told.parsed, limit) if clause.verb in _HAPPENS | {_BE} else ()
    return _extent(asked, clause, told)


def _is_about(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> bool:
    about = clause.subject is not None and same(thing, clause.subject, told, discourse)
    return about and same_modifiers(asked, clause, told, discourse)


def _sized(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return the measure a phrase has with "of": "a password of at least twelve characters"."""
    if clause.verb in _ONLY_MEANT:
        return ()
    kinds = {"duration": ("duration", "length"), "amount": ("cost", "measure")}.get(asked.wants, (asked.wants,))
    for _, phrase in _all(clause):
        for item in phrase.members:
            sized = any(kind in UNITS and is_measure(item, kind, told.parsed) for kind in kinds)
            has_of = "of" in told.parsed.tokens[item.start : item.end + 1]
            if sized and has_of and same(thing, item, told, discourse):
                return [told.parsed.text_of(item)]
    return ()


def _lasting(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return how much, or to or with what, the thing is what the question says of it: "valid for 30 minutes", "worth
    90 francs", "allergic to nuts", "afraid of dogs".
    """
    said = [item.head for item in clause.objects]
    is_so = clause.verb == _BE and all(item.head in said for item in asked.clause.objects)
    if not is_so or not _is_about(asked, thing, clause, told, discourse):
        return ()
    if asked.preposition and asked.wants in ("thing", "person", "chosen", "kind"):
        held = [part for item in clause.objects for part in item.owned_by] if asked.preposition == "of" else []
        governed = [phrase for word, phrase in clause.modifiers if word == asked.preposition]
        return [told.parsed.text_of(phrase) for phrase in (*governed, *held)]
    return spans(clause, told.parsed) if asked.wants == "duration" else _extent(asked, clause, told)


def _coloured(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return the colours of the thing: behind its verb, or before its noun as in "two blue huts"."""
    parsed = told.parsed
    if _is_about(asked, thing, clause, told, discourse) and (clause.verb == _BE or clause.is_passive):
        behind = colours(clause, parsed)
        if behind:
            return behind
    if asked.clause.modifiers:
        return ()
    before = [
        item.end - 1
        for _, phrase in _all(clause)
        for item in phrase.members
        if item.start < item.end and parsed.tokens[item.end] in (item.head_text, thing.head_text)
        and same(thing, item, told, discourse)
    ]  # fmt: skip
    return [parsed.surfaces[place] for place in before if parsed.tokens[place] in COLOURS]


def _extent(asked: Asked, clause: Clause, told: Told) -> Sequence[str]:
    if clause.verb not in _EXTENT | {_BE} or asked.wants not in _TOLD_BY.get(clause.verb, {asked.wants}):
        return ()
    parsed, measure = told.parsed, asked.measure
    if asked.wants == "duration":
        return spans(clause, parsed, measure) or measures(clause, "length", parsed, measure)
    if asked.wants == "amount":
        return measures(clause, "cost", parsed)
    return measures(clause, asked.wants, parsed, measure) if asked.wants in UNITS else ()


def _what_is_so(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return the subject of a clause that says what the question says of its gap: "who is ill", "what is in the
    box".
    """
    question, subject = asked.clause, clause.subject
    inside = [phrase for word, phrase in question.modifiers if word in ("in", "inside")]
    if clause.verb == _CONTAIN and asked.wants == "thing" and inside and not question.objects and subject:
        return (
            [told.parsed.text_of(item) for item in clause.objects] if same(inside[0], subject, told, discourse) else ()
        )
    made_up = clause.verb in _MADE_UP and asked.wants == "count" and inside and not question.objects
    if made_up and asked.noun and subject and same(inside[0], subject, told, discourse):
        return counts(clause, asked.noun, told.parsed)
    if clause.verb != _BE or clause.is_passive or subject is None:
        return ()
    if not (question.objects or question.modifiers) or not same_modifiers(asked, clause, told, discourse):
        return ()
    for wanted in question.objects:
        if not any(same(wanted, item, told, discourse) for item in clause.objects):
            return ()
    if asked.wants == "count" and asked.noun and clause.verb == _BE:
        return counts(clause, asked.noun, told.parsed)
    meant = told.resolved(subject)
    return [] if meant.pronoun in PRONOUNS else [told.parsed.text_of(subject)]


def _profession(thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    subject = clause.subject
    if clause.verb != _BE or subject is None or not same(thing.owned_by[0], subject, told, discourse):
        return ()
    return [told.parsed.text_of(item) for item in clause.objects if item.determiner in ("a", "an")]


def _owner_of_name(name: Phrase) -> Phrase:
    """Return the thing whose name is asked for: of "the name of Anna's boat" the boat."""
    if not name.owned_by:
        return name
    head, *owners = name.owned_by
    return replace(head, owner=frozenset().union(head.owner, *(item.senses for item in owners)))


def named(thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return the names that a clause gives a thing: "the boat, the Argo", "her daughter Ida", "it is called Argo"."""
    parsed = told.parsed
    for phrase in (clause.subject, *clause.objects, *(item for _, item in clause.modifiers)):
        if phrase is None:
            continue
        for item in phrase.members:
            names = [alias for alias in item.aliases if alias.is_name]
            if names and same(thing, item, told, discourse):
                return [parsed.text_of(names[0])]
            beside = _name_beside(thing, item, told)
            if beside:
                return [beside]
    subject = clause.subject
    if subject is None or not clause.objects or not same(thing, subject, told, discourse):
        return ()
    naming = clause.verb == _BE or (clause.verb == _CALL and clause.is_passive)
    return [parsed.text_of(item) for item in clause.objects if item.is_name][:1] if naming else ()


def _name_beside(thing: Phrase, phrase: Phrase, told: Told) -> str:
    """Return the name that stands behind its noun in one phrase: "his daughter Ida"; the possessor must agree."""
    if not phrase.is_name or thing.head not in phrase.senses or thing.head == phrase.head:
        return ""
    if thing.owner_pronoun in PARTNERS and thing.owner_pronoun != phrase.owner_pronoun:
        return ""
    if thing.owner and not thing.owner & (told.owner_of(phrase) | phrase.owner):
        return ""
    surfaces = told.parsed.surfaces[phrase.start : phrase.end + 1]
    return " ".join(word for word in surfaces if word[0].isupper() and sense(word.lower()) not in thing.senses)


def _named(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    """Return the other side of "X is Y" or "X, the Y"; of "who is ill" the subject of whom it is said."""
    parsed = told.parsed
    for phrase in (clause.subject, *clause.objects, *(item for _, item in clause.modifiers)):
        if phrase is None:
            continue
        for item in (phrase, *phrase.aliases):
            others = [other for other in (phrase, *phrase.aliases) if other is not item]
            if others and same(thing, item, told, discourse) and not asked.clause.modifiers:
                return [parsed.text_of(other) for other in others]
    subject = clause.subject
    if asked.wants == "person" and not thing.determiner and len(thing.senses) == 1 and not asked.clause.modifiers:
        described = [item for _, item in _all(clause) if item.is_person and thing.head in item.senses - {item.head}]
        if described:
            return [parsed.text_of(described[0])]
    if clause.verb != _BE or clause.is_passive or subject is None:
        return ()
    if not same_modifiers(asked, clause, told, discourse):
        return ()
    for item in clause.objects:
        if same(thing, item, told, discourse) and not told.resolved(subject).pronoun:
            return [parsed.text_of(subject)]
    if not same(thing, subject, told, discourse):
        return ()
    return [parsed.text_of(item) for item in clause.objects if asked.wants != "person" or item.is_name]


def _all(clause: Clause) -> Sequence[tuple[str, Phrase]]:
    subject = [("", clause.subject)] if clause.subject else []
    return [*subject, *phrases_of(clause)]


def _placed(asked: Asked, thing: Phrase, clause: Clause, told: Told, discourse: Discourse) -> Sequence[str]:
    parsed = told.parsed
    if clause.verb in LOCATED and clause.auxiliaries & _POSSIBLE and not clause.is_passive:
        return ()  # where one can park is not where the car is
    for phrase in (*([clause.subject] if clause.subject else []), *clause.objects, *(i for _, i in clause.modifiers)):
        if same(thing, phrase, told, discourse):
            beside = [
                parsed.text_of(place)
                for word, place in clause.modifiers
                if word in PLACE_PREPOSITIONS - MOVING and place.start == phrase.end + 2
                and not is_time(place, word, parsed)
                and not is_span(place, parsed) and not is_measure(place, "cost", parsed) and word not in ("to", "by")
            ]  # fmt: skip
            if beside:
                return beside
    if not _is_about(asked, thing, clause, told, discourse):
        return ()
    return places(clause, parsed) if clause.verb in LOCATED | {_BE} else ()
