"""Whether a statement answers a question: with yes or no, or with the values that fill the question's gap."""

from collections.abc import Iterable, Mapping, Sequence
from copy import replace
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from mrpvm.english.context.discourse import Discourse, Premise
from mrpvm.english.questions.asking import Query
from mrpvm.english.questions.matching import PARTNERS, ROLES, Pair, numbers_in
from mrpvm.english.sentences.parsing import LIMITS
from mrpvm.english.sentences.structure import Clause, Phrase
from mrpvm.english.sentences.values import (
    FINDERS,
    PLACE_PREPOSITIONS,
    UNITS,
    colours,
    counts,
    is_measure,
    is_span,
    is_time,
    limits,
    measures,
    phrases_of,
    places,
    spans,
    times,
)
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import BE, sense, sense_class
from mrpvm.english.words.tagging import PRONOUNS, bare_adverbs, is_number

_HAVE, _DO, _CALL, _CONTAIN = (sense(word) for word in ("have", "do", "call", "contain"))
_HAPPEN, _MEAN, _WEIGH, _WORK = (sense(word) for word in ("happen", "mean", "weigh", "work"))
_PERMITTING = sense_class("allow forbid")
_PERMISSION = frozenset(("may", "can"))
_POSSIBLE = frozenset(("can", "could", "may", "might"))
_UNDONE = lexicon.word_class("of about at from for against to without")
_EXEMPTING = lexicon.word_class("without except despite unlike of by")
_LIMITING = lexicon.word_class("more less fewer least most")
_HEDGES = lexicon.word_class("maybe perhaps possibly probably allegedly supposedly presumably")
_TALES = sense_class("legend rumour rumor myth folklore")
_PARTS = lexicon.word_class("some most many few several half")
_PART_SENSES = sense_class("most many few several")
_TIME_LINKS = ("when", "whenever", "after", "before", "until", "once", "while", "if", "unless")
_TIME_PREPOSITIONS = frozenset(("after", "before", "until", "during", "since", "from"))
_POINTING = lexicon.word_class("someone somebody anyone anybody something this that these those one") | PRONOUNS
_MOVING = lexicon.word_class("to from into onto through across off toward towards by over")
"""Prepositions of direction, not of place."""
_PROFESSIONS = frozenset(("profession", "occupation", "job", "trade"))
_MADE_UP = sense_class("contain include consist comprise")
_LOCATED = frozenset(map(sense, lexicon.listed("located_verbs")))
_EXTENT = sense_class("last measure weigh amount cost reach rise take limit have set fix number cover")
_TOLD_BY = {sense(verb): kinds for verb, kinds in lexicon.classes("told_by").items()}
"""Verbs that give only one kind of measure: what something costs is not how large it is."""
_PAYING = sense_class("cost pay owe earn")
_AHEAD = lexicon.pattern("entailment.ahead")
_ONLY_MEANT = frozenset(map(sense, lexicon.ATTITUDE_VERBS)) | sense_class("reject decline discuss request demand")
"""Verbs whose object need not exist, such as wanting and rejecting, so that it cannot be measured."""
LACKING = "refused: the closest sentence does not name"
"""The beginning of the reason for a statement that lacks words of the question."""
_HAPPENS = sense_class("hold happen occur start open begin arrive leave take") | {BE}


Verdict = Literal["yes", "no", "depends"]


class Match(Struct, frozen=True):
    """A statement that answers: with a verdict, with the values that fill the gap, or as a whole."""

    premise: Premise
    values: tuple[str, ...] = ()
    verdict: Verdict | None = None


class Refusal(Struct, frozen=True):
    """Why a statement does not answer a question, and how many of the question's words it contains."""

    reason: str
    shared: int = 0


def entails(query: Query, premise: Premise, discourse: Discourse) -> Match | Refusal:
    """Return the answer of a statement by its first clause that gives one, or the reason why no clause does."""
    pairs = [Pair(query, query.clause, clause, premise, discourse) for clause in premise.parsed.clauses]
    for pair in pairs:
        if query.wants == "verdict":
            verdict = _verdict(pair) if pair.is_stated() else None
            if verdict is not None:
                return Match(premise, verdict=verdict)
        elif query.wants == "reason":
            if is_cause(pair):
                return Match(premise)
        elif query.wants == "manner" and _is_purpose(pair):
            return Match(premise)
        elif pair.is_stated() and not _is_ahead(pair) and (values := _values(pair)):
            return Match(premise, tuple(values))
    return refused(query.words, premise.statement.reading.senses, (pair.differs() for pair in pairs))


def refused(words: Mapping[str, str], senses: frozenset[str], differing: Iterable[str] = ()) -> Refusal:
    """Return why no statement with these senses answers: the question's words it lacks, or the role that differs.

    Args:
        words: the words of the question, by their senses.
        differing: the first role of each clause that differs from the question's.
    """
    lacking = [text for sense_, text in words.items() if sense_ not in senses]
    shared = len(words) - len(lacking)
    if not shared:
        return Refusal("refused: no sentence names what is asked")
    if lacking:
        return Refusal(f"{LACKING} {', '.join(lacking[:3])}", shared)
    role = max(differing, key=(*ROLES, "").index, default="")
    reason = f"it has another {role}" if role else "no rule fits"
    return Refusal(f"refused: a sentence names all that is asked, {reason}", shared)


def _is_purpose(pair: Pair) -> bool:
    """Return whether a clause gives the purpose of an action: "To reset the router, hold the button"."""
    clause = pair.clause
    is_of_order = clause.link == "to" and clause.outer is not None and clause.outer.is_order
    return is_of_order and pair.same_verb() and pair.same_patients() and pair.same_modifiers()


def _is_ahead(pair: Pair) -> bool:
    """Return whether the question is about the present and the clause about the future."""
    is_of_now = pair.query.wants != "time" and bool(pair.question.auxiliaries & {"do", "does", "is", "are", "am"})
    return is_of_now and not pair.question.modifiers and _AHEAD.search(pair.premise.statement.plain) is not None


# Yes or no: the same clause means yes, its denial or its exception means no; it depends on a condition not asked about


def _verdict(pair: Pair) -> Verdict | None:
    holds = _holds(pair)
    if holds is None:
        return None
    is_open = not (pair.query.conditions or _is_settled(pair)) or _is_restricted(pair.question, pair.clause)
    return "depends" if is_open else "yes" if holds else "no"


def _holds(pair: Pair) -> bool | None:
    """Return whether the clause says what is asked (True) or its contrary (False), under whatever condition."""
    question, clause, tokens = pair.question, pair.clause, pair.parsed.tokens
    if not pair.query.bare <= bare_adverbs(tokens):
        return None
    if clause.link in _UNDONE or (clause.link == "ing" and tokens[clause.verb_place - 1] in _UNDONE):
        return None  # somebody who thinks of selling it has not sold it
    if _is_uncertain(pair) or _is_partial(question, clause) or _is_of_one(pair):
        return None
    agrees = clause.is_negated == question.is_negated
    if question.verb == BE and not question.is_passive:
        return _is_so(pair, agrees=agrees)
    if {question.verb, clause.verb} == _PERMITTING and question.is_passive == clause.is_passive:
        agrees = not agrees
    elif not pair.same_verb():
        return None
    if not pair.same_patients():
        other = agrees and _is_other_value(question, clause) and pair.same_agent()
        named = not question.is_passive or (
            question.subject is not None and pair.same(question.subject, clause.subject)
        )
        return False if other and named and pair.same_modifiers() else None
    return _in_circumstances(pair, agrees=agrees) if pair.same_agent() else None


def _is_settled(pair: Pair) -> bool:
    """Return whether a clause holds without a condition; "forbidden unless ..." counts as forbidden."""
    forbids = pair.clause.is_negated and pair.clause.auxiliaries & pair.question.auxiliaries & _PERMISSION
    return pair.open_conditions() <= ({"unless"} if forbids else set())


def _is_uncertain(pair: Pair) -> bool:
    """Return whether a clause is too uncertain for a yes or no: "maybe", a legend, "at least 50", "all but one".

    So is a number for a question about a limit: 40 is more than 30, which the words do not tell.
    """
    if set(pair.clause.adverbs) & _HEDGES or pair.premise.statement.voiced.voice & _TALES:
        return True
    numbered = any(is_number(word) for phrase in pair.question.phrases for word in phrase.senses)
    is_limit = any(two in LIMITS for two in pairwise(pair.parsed.tokens))
    if numbered and (is_limit or not _LIMITING.isdisjoint(pair.query.words.values())):
        return True
    subject = pair.question.subject
    whole = subject is not None and subject.determiner in ("all", "every", "each")
    return whole and any(word == "except" for word, _ in pair.clause.modifiers)


def _is_partial(question: Clause, clause: Clause) -> bool:
    """Return whether a clause holds only in part: "almost", "most guests", "not all"."""
    partial = set(clause.adverbs) & lexicon.PARTIAL_ADVERBS - {"only", *question.adverbs}
    subject = clause.subject
    if partial or subject is None:
        return bool(partial)
    is_not_all = clause.is_negated and subject.determiner in ("all", "every")
    return is_not_all or subject.determiner in _PARTS or bool(subject.senses & _PART_SENSES)


def _is_restricted(question: Clause, clause: Clause) -> bool:
    """Return whether "only" or an exception restricts a clause to what the question does not name.

    What "may only be used in the room" may be used in the room.
    """
    unexcepted = [word for word, _ in clause.modifiers if word != "except"]
    if len(question.modifiers) <= len(unexcepted) < len(clause.modifiers):
        return True
    is_named = len(question.modifiers) == len(clause.modifiers) > 0
    return "only" in clause.adverbs and "only" not in question.adverbs and not is_named


def _is_of_one(pair: Pair) -> bool:
    """Return whether a question is about several things and the clause about one: the rooms and room 4."""
    wanted, said = pair.question.subject, pair.clause.subject
    if wanted is None or said is None or not wanted.is_plural or wanted.pronoun:
        return False
    named = frozenset().union(*(member.senses for member in wanted.members))
    last = (pair.parsed.tokens[member.end] for member in said.members)
    return not named.issuperset(word for word in last if word.isdigit())


def _is_other_value(question: Clause, clause: Clause) -> bool:
    """Return whether a clause gives the thing asked about another number, name or colour."""
    if question.is_negated or len(question.objects) != 1 or len(clause.objects) != 1:
        return False
    wanted, said = question.objects[0], clause.objects[0]
    if wanted.others or said.others:
        return False
    if wanted.head_text in lexicon.COLOURS and said.head_text in lexicon.COLOURS:
        return wanted.head_text != said.head_text
    if question.verb == _CALL and wanted.is_name and said.is_name:
        return wanted.senses.isdisjoint(said.senses)
    left, right = numbers_in(wanted), numbers_in(said)
    return bool(left and right) and left != right and wanted.senses - left == said.senses - right


def _in_circumstances(pair: Pair, *, agrees: bool) -> bool | None:
    excepted = [phrase for word, phrase in pair.clause.modifiers if word == "except"]
    if any(pair.among(wanted, excepted) for _, wanted in pair.question.modifiers):
        return not agrees
    if not agrees and _denies_only_part(pair):
        return None
    return agrees if pair.same_modifiers() else None


def _denies_only_part(pair: Pair) -> bool:
    """Return whether a denial is for narrower circumstances than asked: "may not be taken in the chapel"."""
    question, clause = pair.question, pair.clause
    if question.is_negated:
        return False
    parts = (question, *pair.query.conditions)
    known = frozenset().union(*(phrase.senses | phrase.owner for part in parts for phrase in part.phrases))
    said = [clause, *(inner for inner in pair.parsed.clauses if inner.link == "to" and inner.outer is clause)]
    narrower = any(
        word not in _EXEMPTING and phrase.senses and not phrase.senses & known
        for part in said
        for word, phrase in part.modifiers
    )
    heads = {phrase.head for phrase in question.patient}
    of_a_kind = any(phrase.head in heads and phrase.senses - known for phrase in clause.patient)
    has_object = clause.verb != BE and bool(clause.patient) and not question.patient
    return narrower or of_a_kind or has_object or not bare_adverbs(pair.parsed.tokens) <= pair.query.bare


def _is_so(pair: Pair, *, agrees: bool) -> bool | None:
    question, clause, subject = pair.question, pair.clause, pair.question.subject
    is_there = subject is None and clause.subject is None and "there" in clause.adverbs
    if not is_there:
        if subject is None or clause.subject is None or not (clause.verb == BE or clause.is_passive):
            return None
        if clause.subject.owner and not (subject.owner or subject.determiner or subject.is_name):
            return None  # what holds for Tom's dogs need not hold for dogs
        if not pair.same(subject, clause.subject):
            return None
    if not pair.same_modifiers():
        return None
    if clause.is_negated and _denies_only_part(pair):
        return None
    if not question.objects:
        if clause.is_passive:
            return None
        return agrees if question.modifiers else _is_on(pair, agrees=agrees)
    [*others, wanted] = question.objects
    if clause.is_passive:
        contrary = clause.verb_text in lexicon.ANTONYMS.get(wanted.head_text, ())
        narrower = bool(clause.modifiers) and not question.modifiers  # closed on Sundays
        return not agrees if contrary and not (others or narrower or clause.is_negated) else None
    contraries = lexicon.COMPLEMENTS if clause.is_negated else lexicon.ANTONYMS  # what is not hot may be warm
    opposed = any(item.head_text in contraries.get(wanted.head_text, ()) for item in clause.objects)
    if opposed and not others:
        return not agrees
    if all(pair.among(item, clause.objects) for item in question.objects):
        return agrees
    return False if agrees and _is_other_value(question, clause) else None


def _is_on(pair: Pair, *, agrees: bool) -> bool | None:
    """Return whether a clause without another predicate says that something is on, off, away or back."""
    said = set(pair.clause.adverbs)
    if pair.clause.objects or pair.clause.modifiers:
        return None
    for adverb in (*pair.question.adverbs, *pair.query.bare, *pair.query.manners):
        if adverb in said:
            return agrees
        if lexicon.COMPLEMENTS.get(adverb, frozenset()) & said:
            return not agrees
    return None


# Values of deeds


def _values(pair: Pair) -> Sequence[str]:
    query, question, clause = pair.query, pair.question, pair.clause
    subject, is_negated_alike = question.subject, clause.is_negated == question.is_negated
    located = question.verb in _LOCATED and question.is_passive and query.wants == "place"
    if located or (question.verb == BE and not question.is_passive):
        return _equated(pair) if is_negated_alike else ()
    if question.verb == _CALL and query.wants == "thing" and subject is not None:
        return _names(pair, subject)
    means = question.verb == _MEAN and subject is not None and subject.pronoun == "it"
    if (question.verb == _HAPPEN and query.gap == "subject") or (means and query.conditions):
        return _happening(pair)
    if not is_negated_alike:
        return ()
    is_deed = question.verb == _DO and query.wants == "thing" and query.gap == "object"
    if is_deed and (roles := _roles(clause)) and not clause.is_negated and not question.modifiers and clause.subject:
        does = subject is not None and "does" in question.auxiliaries and pair.same(subject, clause.subject)
        return pair.texts(roles) if does else ()
    if not (pair.same_verb() or (is_deed and clause.verb not in (BE, _HAVE))):
        return ()
    if not (pair.same_agent() and pair.same_patients() and pair.same_modifiers()):
        return ()
    if is_deed:
        return [clause.verb_text] if question.modifiers or query.conditions else ()
    return _fillers(pair)


def _roles(clause: Clause) -> list[Phrase]:
    """Return the role or occupation that a clause gives its subject: "is a baker", "works as a baker"."""
    if clause.verb == _WORK:
        return [phrase for word, phrase in clause.modifiers if word == "as"]
    return [
        item for item in clause.objects if clause.verb == BE and item.determiner in ("a", "an") and not item.is_name
    ]


def _happening(pair: Pair) -> Sequence[str]:
    """Return the event of a clause, for questions about what happens at a time or place: "after five attempts"."""
    clause = pair.clause
    is_done = clause.verb not in (BE, _HAVE) and not clause.is_negated and bool(pair.question.modifiers)
    is_asked = not clause.link and (bool(pair.query.conditions) or is_done)
    return [clause.verb_text] if is_asked and pair.same_modifiers() else ()


def _fillers(pair: Pair) -> Sequence[str]:
    query, clause, parsed, wants = pair.query, pair.clause, pair.parsed, pair.query.wants
    if wants == "count" and query.noun:
        return counts(clause, query.noun, parsed)
    if wants == "time":
        return times(clause, parsed, query.limit) or _time_clauses(pair)
    if wants == "duration":
        since = pair.texts(item for word, item in clause.modifiers if word == "since")
        if since and query.clause.auxiliaries & lexicon.HAVE_FORMS:
            return since
        lengths = measures(clause, "length", parsed, query.measure) if query.measure == "long" else ()
        return spans(clause, parsed) or lengths
    if find := FINDERS.get(wants):
        return find(clause, parsed)
    if wants == "amount":
        return _amounts(pair)
    if wants in UNITS:
        return measures(clause, wants, parsed, query.measure)
    if wants == "manner":
        return _manners(pair)
    texts = [_text_of(phrase, pair) for phrase in _gap_phrases(pair)]
    if texts or query.gap != "object" or wants != "thing" or query.preposition:
        return texts
    said = (item for item in parsed.clauses if item.link == "that" and item.outer is clause)
    return [" ".join(parsed.surfaces[item.start + 1 : item.end]) for item in said]


def _text_of(phrase: Phrase, pair: Pair) -> str:
    """Return a phrase as written, or the antecedent of a pronoun."""
    meant = pair.premise.resolved(phrase)
    if meant is phrase:
        return pair.parsed.text_of(phrase)
    return meant.head_text.capitalize() if meant.is_name else meant.head_text


def _amounts(pair: Pair) -> Sequence[str]:
    clause, noun, verb = pair.clause, pair.query.noun, pair.question.verb
    if noun is None:
        return measures(clause, "cost" if verb in _PAYING else "weight" if verb == _WEIGH else "measure", pair.parsed)
    is_one = len(clause.objects) == 1 and not clause.objects[0].others
    measured = [
        item
        for _, item in phrases_of(clause)
        if is_one and is_measure(item, "measure", pair.parsed) and not item.owned_by
    ]
    return counts(clause, noun, pair.parsed) or pair.texts(measured)


def _time_clauses(pair: Pair) -> Sequence[str]:
    """Return the clauses that give a time, and times after prepositions such as "from" and "until"."""
    limit = pair.query.limit
    links = limits(limit) if limit else _TIME_LINKS
    inner = [item.link for item in pair.parsed.clauses if item.link in links and item.outer is pair.clause]
    return inner or pair.texts(
        phrase
        for word, phrase in pair.clause.modifiers
        if word in _TIME_PREPOSITIONS and (not limit or word in links) and phrase.senses
        and not is_span(phrase, pair.parsed)
    )  # fmt: skip


def _manners(pair: Pair) -> Sequence[str]:
    means = [item.link for item in pair.parsed.clauses if item.link == "by" and item.outer is pair.clause]
    return means + pair.texts(phrase for word, phrase in pair.clause.modifiers if word in ("by", "with", "via"))


def _gap_phrases(pair: Pair) -> list[Phrase]:
    """Return the phrases that have the role of the gap and are of the kind asked for."""
    query, question, clause = pair.query, pair.question, pair.clause
    patient = [phrase for phrase in clause.patient if phrase is not clause.subject]
    phrases: Iterable[Phrase]
    if query.preposition:
        phrases = [phrase for word, phrase in clause.modifiers if word == query.preposition]
        if not phrases and query.preposition in clause.adverbs:  # a particle: "what did he turn off?"
            phrases = patient
    elif query.gap != "subject":
        phrases = clause.patient if clause.is_passive else patient
        phrases = [phrase for phrase in phrases if not any(pair.same(item, phrase) for item in question.patient)]
    elif question.is_passive:
        phrases = clause.patient[:1]
    elif clause.is_passive and clause.agent is None and query.noun is not None:
        phrases = [phrase for word, phrase in clause.modifiers if word == "with"]
    else:
        phrases = [clause.agent] if clause.agent else []
    return [phrase for phrase in phrases if _is_of_kind(phrase, pair)]


def _is_of_kind(phrase: Phrase, pair: Pair) -> bool:
    query, meant = pair.query, pair.premise.resolved(phrase)
    if meant.pronoun in _POINTING - {"nobody", "nothing", "none"}:
        return False
    if query.noun is not None and query.wants in ("chosen", "kind", "owner"):
        is_named = any(query.noun.head in item.senses | {item.head} for item in meant.members)
        return is_named or pair.discourse.same_thing(query.noun, meant)
    if query.wants not in ("person", "thing"):
        return True
    word = next((word for word, item in phrases_of(pair.clause) if item is phrase), "")
    return (query.wants == "person" and meant is not phrase) or not is_time(phrase, word, pair.parsed)


# Values of states: who somebody is, what it is called, where, when and how large it is


def _equated(pair: Pair) -> Sequence[str]:
    """Return what a clause says that the thing asked about is; nothing if it is about something else."""
    query, question, clause = pair.query, pair.question, pair.clause
    thing, wants = question.subject, query.wants
    if query.gap == "subject":
        return _what_is_so(pair)
    if thing is None:
        return ()
    if question.objects:
        return _lasting(pair, thing)
    if thing.head_text in _PROFESSIONS and thing.owned_by and wants == "thing":
        return pair.texts(_roles(clause)) if pair.same(thing.owned_by[0], clause.subject) else ()
    if thing.head_text == "name" and thing.owner and wants in ("thing", "name"):
        return _names(pair, _owner_of_name(thing))
    if wants in ("thing", "person", "chosen", "kind"):
        return _other_side(pair, thing)
    if wants == "place":
        return _placed(pair, thing)
    if wants == "colour":
        return _coloured(pair, thing)
    if within := _sized(pair, thing):
        return within
    if not _is_about(pair, thing):
        return ()
    if wants == "time":
        is_said = set(question.adverbs) <= set(clause.adverbs) and clause.verb in _HAPPENS
        return times(clause, pair.parsed, query.limit) if is_said else ()
    return _extent(pair)


def _is_about(pair: Pair, thing: Phrase) -> bool:
    return pair.same(thing, pair.clause.subject) and pair.same_modifiers()


def _sized(pair: Pair, thing: Phrase) -> Sequence[str]:
    """Return the measure that "of" adds to a phrase: "a password of at least twelve characters"."""
    if pair.clause.verb in _ONLY_MEANT:
        return ()
    wants, parsed = pair.query.wants, pair.parsed
    kinds = {"duration": ("duration", "length"), "amount": ("cost", "measure")}.get(wants, (wants,))
    for item in _all(pair.clause):
        sized = any(kind in UNITS and is_measure(item, kind, parsed) for kind in kinds)
        if sized and "of" in parsed.tokens[item.start : item.end + 1] and pair.same(thing, item):
            return pair.texts([item])
    return ()


def _all(clause: Clause) -> list[Phrase]:
    """Return the subject and the phrases after the verb, with the members of enumerations separated."""
    return [*(clause.subject.members if clause.subject else ()), *(phrase for _, phrase in phrases_of(clause))]


def _lasting(pair: Pair, thing: Phrase) -> Sequence[str]:
    """Return the complement of the question's adjective: "valid for 30 minutes", "worth 90 francs"."""
    query, clause = pair.query, pair.clause
    said = [item.head for item in clause.objects]
    is_so = clause.verb == BE and all(item.head in said for item in pair.question.objects)
    if not is_so or not _is_about(pair, thing):
        return ()
    if query.preposition and query.wants in ("thing", "person", "chosen", "kind"):
        held = [part for item in clause.objects for part in item.owned_by] if query.preposition == "of" else []
        return pair.texts([*(phrase for word, phrase in clause.modifiers if word == query.preposition), *held])
    if query.wants == "time":
        return times(clause, pair.parsed, query.limit)
    return spans(clause, pair.parsed) if query.wants == "duration" else _extent(pair)


def _coloured(pair: Pair, thing: Phrase) -> Sequence[str]:
    """Return the colours of the thing: after its verb, or before its noun as in "two blue huts"."""
    parsed, clause = pair.parsed, pair.clause
    if (clause.verb == BE or clause.is_passive) and _is_about(pair, thing) and (behind := colours(clause, parsed)):
        return behind
    if pair.question.modifiers:
        return ()
    before = [
        item.end - 1
        for item in _all(clause)
        if item.start < item.end and parsed.tokens[item.end] in (item.head_text, thing.head_text)
        and pair.same(thing, item)
    ]  # fmt: skip
    return [parsed.surfaces[place] for place in before if parsed.tokens[place] in lexicon.COLOURS]


def _extent(pair: Pair) -> Sequence[str]:
    clause, wants, parsed, measure = pair.clause, pair.query.wants, pair.parsed, pair.query.measure
    if clause.verb not in _EXTENT | {BE} or wants not in _TOLD_BY.get(clause.verb, {wants}):
        return ()
    if wants == "duration":
        return spans(clause, parsed, measure) or measures(clause, "length", parsed, measure)
    if wants == "amount":
        return measures(clause, "cost", parsed)
    return measures(clause, wants, parsed, measure) if wants in UNITS else ()


def _what_is_so(pair: Pair) -> Sequence[str]:
    """Return the subject of a clause with the predicate of the question: "who is ill", "what is in it"."""
    query, question, clause, subject = pair.query, pair.question, pair.clause, pair.clause.subject
    inside = [phrase for word, phrase in question.modifiers if word in ("in", "inside")]
    is_whole = bool(inside) and not question.objects and subject is not None
    if is_whole and clause.verb == _CONTAIN and query.wants == "thing":
        return pair.texts(clause.objects) if pair.same(inside[0], subject) else ()
    made_up = is_whole and clause.verb in _MADE_UP and query.wants == "count"
    if made_up and query.noun and pair.same(inside[0], subject):
        return counts(clause, query.noun, pair.parsed)
    if clause.verb != BE or clause.is_passive or subject is None:
        return ()
    if not (question.objects or question.modifiers) or not pair.same_modifiers():
        return ()
    if not all(pair.among(wanted, clause.objects) for wanted in question.objects):
        return ()
    if query.wants == "count" and query.noun:
        return counts(clause, query.noun, pair.parsed)
    return [] if pair.premise.resolved(subject).pronoun in PRONOUNS else pair.texts([subject])


def _owner_of_name(name: Phrase) -> Phrase:
    """Return the thing whose name is asked for: the boat for "the name of Anna's boat"."""
    if not name.owned_by:
        return name
    head, *owners = name.owned_by
    return replace(head, owner=frozenset().union(head.owner, *(item.senses for item in owners)))


def _names(pair: Pair, thing: Phrase) -> Sequence[str]:
    """Return the names that a clause gives a thing: "the boat, the Argo", "her daughter Ida", "it is called Argo"."""
    clause = pair.clause
    for item in (member for phrase in clause.phrases for member in phrase.members):
        names = [alias for alias in item.aliases if alias.is_name]
        if names and pair.same(thing, item):
            return pair.texts(names[:1])
        if beside := _name_beside(pair, thing, item):
            return [beside]
    is_naming = clause.verb == BE or (clause.verb == _CALL and clause.is_passive)
    if not is_naming or not pair.same(thing, clause.subject):
        return ()
    return pair.texts(item for item in clause.objects if item.is_name)[:1]


def _name_beside(pair: Pair, thing: Phrase, phrase: Phrase) -> str:
    """Return the name that follows its noun in one phrase: "his daughter Ida"; the possessor must agree."""
    if not phrase.is_name or thing.head not in phrase.senses or thing.head == phrase.head:
        return ""
    if thing.owner_pronoun in PARTNERS and thing.owner_pronoun != phrase.owner_pronoun:
        return ""
    if thing.owner and not thing.owner & (pair.premise.owner_of(phrase) | phrase.owner):
        return ""
    surfaces = pair.parsed.surfaces[phrase.start : phrase.end + 1]
    return " ".join(word for word in surfaces if word[0].isupper() and sense(word.lower()) not in thing.senses)


def _other_side(pair: Pair, thing: Phrase) -> Sequence[str]:
    """Return the other side of "X is Y" or "X, the Y"; for "who is ill" the subject of the statement."""
    clause, subject, is_person = pair.clause, pair.clause.subject, pair.query.wants == "person"
    is_bare = not pair.question.modifiers
    for phrase in clause.phrases if is_bare else ():
        for item in (phrase, *phrase.aliases):
            others = [other for other in (phrase, *phrase.aliases) if other is not item]
            if others and pair.same(thing, item):
                return pair.texts(others)
    if is_person and is_bare and not thing.determiner and len(thing.senses) == 1:
        described = [item for item in _all(clause) if item.is_person and thing.head in item.senses - {item.head}]
        if described:
            return pair.texts(described[:1])
    is_named = clause.verb == _CALL and clause.is_passive  # "my sister is called Ida"
    if not (is_named or (clause.verb == BE and not clause.is_passive)) or subject is None or not pair.same_modifiers():
        return ()
    if pair.among(thing, clause.objects) and not pair.premise.resolved(subject).pronoun:
        return pair.texts([subject])
    if not pair.same(thing, subject):
        return ()
    return pair.texts(item for item in clause.objects if not is_person or item.is_name)


def _placed(pair: Pair, thing: Phrase) -> Sequence[str]:
    clause, parsed = pair.clause, pair.parsed
    if clause.verb in _LOCATED and clause.auxiliaries & _POSSIBLE and not clause.is_passive:
        return ()  # the place where one can park is not the place where the car is
    for phrase in clause.phrases:
        beside = [
            place
            for word, place in clause.modifiers
            if word in PLACE_PREPOSITIONS - _MOVING and place.start == phrase.end + 2
            and not (is_time(place, word, parsed) or is_span(place, parsed) or is_measure(place, "cost", parsed))
        ]  # fmt: skip
        if beside and pair.same(thing, phrase):
            return pair.texts(beside)
    return places(clause, parsed) if clause.verb in _LOCATED | {BE} and _is_about(pair, thing) else ()


_CAUSAL = frozenset(("because", "since", "as"))
_PHRASES = frozenset(map(tuple, lexicon.groups("reasons")))
_CONTROL = frozenset(map(sense, lexicon.ATTITUDE_VERBS | lexicon.listed("control_verbs")))
_PLACED = sense_class("place put keep store stand leave set use")


def is_cause(pair: Pair) -> bool:
    """Return whether a clause states the fact asked about and its sentence gives the reason."""
    question, clause = pair.question, pair.clause
    if clause.link in _CAUSAL | {"if", "unless"} or clause.is_negated != question.is_negated:
        return False
    is_state = question.verb == BE and not question.is_passive
    says_same = _says_state(pair) and pair.same_modifiers() if is_state else not pair.differs()
    return says_same and _has_reason(pair)


def _says_state(pair: Pair) -> bool:
    """Return whether a clause gives the state asked for; "do not place it near the oven" gives "not near the oven"."""
    question, clause = pair.question, pair.clause
    if question.subject is None:
        return False
    if clause.verb in _PLACED and question.modifiers and not question.objects:
        return pair.among(question.subject, clause.patient)
    is_about = clause.verb == BE and pair.same(question.subject, clause.subject)
    return is_about and all(pair.among(wanted, clause.objects) for wanted in question.objects)


def _has_reason(pair: Pair) -> bool:
    clause = pair.clause
    for other in pair.parsed.clauses:
        if other.link in _CAUSAL and other.outer is clause:
            return True
        if clause.link == "so" and other is clause.outer:
            return True
        purpose = other.link == "to" and other.outer is clause and clause.verb not in _CONTROL
        if purpose and not (clause.is_negated or clause.verb == BE):
            return True
        if "otherwise" in other.adverbs and not other.link:
            return True
    return not _PHRASES.isdisjoint(pairwise(pair.parsed.tokens))
