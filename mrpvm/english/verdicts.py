"""Yes or no by the roles of clauses: the same clause says yes, its denial or its exception no."""

from collections.abc import Iterator
from itertools import pairwise

from mrpvm.english.asking import Asked
from mrpvm.english.discourse import Discourse, Told
from mrpvm.english.lexicon import ANTONYMS, COLOURS, COMPLEMENTS, PARTIAL_ADVERBS, word_class
from mrpvm.english.lookahead import LIMITS
from mrpvm.english.naming import NUMBER_SENSES, same
from mrpvm.english.reading import sense
from mrpvm.english.roles import (
    has_open_condition,
    is_stated,
    same_agent,
    same_modifiers,
    same_patients,
    same_verb,
)
from mrpvm.english.structure import Clause, Phrase
from mrpvm.english.tagging import bare_adverbs, is_number

_BE, _HAVE, _CALL = sense("be"), sense("have"), sense("call")
_PERMITTING = {sense("allow"), sense("forbid")}
_PERMISSION = frozenset(("may", "can"))
_UNDONE = word_class("of about at from for against to without")
_EXEMPTING = word_class("without except despite unlike of by")
_HEDGES = word_class("maybe perhaps possibly probably allegedly supposedly presumably")
_TALES = frozenset(sense(word) for word in word_class("legend rumour rumor myth folklore"))
_PARTS = word_class("some most many few several half")
_PART_SENSES = frozenset(sense(word) for word in ("most", "many", "few", "several"))


def verdicts(asked: Asked, discourse: Discourse) -> Iterator[tuple[bool, Told]]:
    """Return what each statement that decides says, in the order of the source."""
    for told in discourse.told:
        for clause in told.parsed.clauses:
            said = _says(asked, clause, told, discourse)
            if said is not None:
                yield said, told
                break


def _says(asked: Asked, clause: Clause, told: Told, discourse: Discourse) -> bool | None:
    question = asked.clause
    if not is_stated(clause, asked) or not (asked.conditions or _is_settled(question, clause, told)):
        return None
    if not asked.bare <= bare_adverbs(told.parsed.tokens):
        return None
    if clause.link in _UNDONE or (clause.link == "ing" and told.parsed.tokens[clause.verb_place - 1] in _UNDONE):
        return None  # who thinks of selling it has not sold it
    if _is_uncertain(question, clause, told):
        return None
    partial = set(clause.adverbs) & PARTIAL_ADVERBS - set(question.adverbs)
    if partial == {"only"} and len(question.modifiers) == len(clause.modifiers) > 0:
        partial = set()  # "may only be used in the room": in the room they may
    if partial or _is_partial(clause) or _is_of_one(question, clause, told):
        return None
    agrees = clause.is_negated == question.is_negated
    if question.verb == _BE and not question.is_passive:
        return _is_so(asked, clause, told, discourse, agrees=agrees)
    forbids = {question.verb, clause.verb} == _PERMITTING and question.is_passive == clause.is_passive
    if forbids:
        agrees = not agrees
    if not (forbids or same_verb(question, clause)):
        return None
    if not same_patients(question, clause, told, discourse):
        other = agrees and _is_other_value(question, clause) and same_agent(question, clause, told, discourse)
        named = not question.is_passive or (
            question.subject is not None
            and clause.subject is not None
            and same(question.subject, clause.subject, told, discourse)
        )
        return False if other and named and same_modifiers(asked, clause, told, discourse) else None
    if same_agent(question, clause, told, discourse):
        return _in_circumstances(asked, clause, told, discourse, agrees=agrees)
    unlike = [phrase for word, phrase in clause.modifiers if word == "unlike"]
    contrasted = question.agent is not None and any(same(question.agent, item, told, discourse) for item in unlike)
    return not agrees if contrasted and same_modifiers(asked, clause, told, discourse) else None


def _is_uncertain(question: Clause, clause: Clause, told: Told) -> bool:
    """Return whether a clause says less than a yes or no needs: "maybe", a legend, "at least 50", "all but one"."""
    if set(clause.adverbs) & _HEDGES or told.statement.voiced.voice & _TALES:
        return True
    tokens = told.parsed.tokens
    numbered = any(is_number(word) for phrase in question.phrases for word in phrase.senses)
    if numbered and any(pair in LIMITS for pair in pairwise(tokens)):
        return True
    subject = question.subject
    whole = subject is not None and subject.determiner in ("all", "every", "each")
    return whole and any(word == "except" for word, _ in clause.modifiers)


def _is_other_value(question: Clause, clause: Clause) -> bool:
    """Return whether a clause gives the one thing asked about another number, name or colour."""
    if question.is_negated or len(question.objects) != 1 or len(clause.objects) != 1:
        return False
    wanted, said = question.objects[0], clause.objects[0]
    if wanted.others or said.others or wanted.head_text == said.head_text == "":
        return False
    if wanted.head_text in COLOURS and said.head_text in COLOURS:
        return wanted.head_text != said.head_text
    if question.verb == _CALL and wanted.is_name and said.is_name:
        return wanted.senses.isdisjoint(said.senses)
    left, right = _numbers(wanted), _numbers(said)
    return bool(left and right) and left != right and wanted.senses - left == said.senses - right


def _numbers(phrase: Phrase) -> frozenset[str]:
    return frozenset(word for word in phrase.senses if is_number(word) or word in NUMBER_SENSES)


def _is_settled(question: Clause, clause: Clause, told: Told) -> bool:
    """Return whether a clause holds as it stands; what is forbidden "unless ..." is told as forbidden, with that."""
    if not has_open_condition(clause, told):
        return True
    forbids = clause.is_negated and bool(clause.auxiliaries & question.auxiliaries & _PERMISSION)
    return forbids and all(other.link != "if" for other in told.parsed.clauses)


def _in_circumstances(asked: Asked, clause: Clause, told: Told, discourse: Discourse, *, agrees: bool) -> bool | None:
    excepted = [phrase for word, phrase in clause.modifiers if word == "except"]
    for _, wanted in asked.clause.modifiers:
        if any(same(wanted, phrase, told, discourse) for phrase in excepted):
            return not agrees
    if not agrees and _denies_only_part(asked, clause, told):
        return None
    return agrees if same_modifiers(asked, clause, told, discourse) else None


def _denies_only_part(asked: Asked, clause: Clause, told: Told) -> bool:
    """Return whether a denial is of narrower circumstances than asked: "may not be taken in the chapel"."""
    question = asked.clause
    if question.is_negated:
        return False
    known = frozenset().union(
        *(phrase.senses | phrase.owner for part in (question, *asked.conditions) for phrase in part.phrases)
    )
    said = [clause, *(inner for inner in told.parsed.clauses if inner.link == "to" and inner.outer is clause)]
    narrower = any(
        word not in _EXEMPTING and phrase.senses and not phrase.senses & known
        for part in said
        for word, phrase in part.modifiers
    )
    heads = {phrase.head for phrase in question.patient}
    of_a_kind = any(phrase.head in heads and phrase.senses - known for phrase in clause.patient)
    has_object = clause.verb != _BE and bool(clause.patient) and not question.patient
    return narrower or of_a_kind or has_object or not bare_adverbs(told.parsed.tokens) <= asked.bare


def _is_partial(clause: Clause) -> bool:
    subject = clause.subject
    if subject is not None and clause.is_negated and subject.determiner in ("all", "every"):
        return True
    return subject is not None and (subject.determiner in _PARTS or bool(subject.senses & _PART_SENSES))


def _is_so(asked: Asked, clause: Clause, told: Told, discourse: Discourse, *, agrees: bool) -> bool | None:
    question = asked.clause
    subject = question.subject
    if subject is None and clause.subject is None and "there" in clause.adverbs:
        return _exists(asked, clause, told, discourse, agrees=agrees)
    if subject is None or clause.subject is None or not (clause.verb == _BE or clause.is_passive):
        return None
    if clause.subject.owner and not (subject.owner or subject.determiner or subject.is_name):
        return None  # what is so of Tom's dogs is not so of dogs
    if not same(subject, clause.subject, told, discourse) or not same_modifiers(asked, clause, told, discourse):
        return None
    if clause.is_negated and _denies_only_part(asked, clause, told):
        return None
    if not question.objects:
        if clause.is_passive:
            return None
        return agrees if question.modifiers else _is_on(asked, clause, agrees=agrees)
    if clause.is_passive:
        [*others, wanted] = question.objects
        contrary = clause.verb_text in ANTONYMS.get(wanted.head_text, ())
        narrower = bool(clause.modifiers) and not question.modifiers  # closed on Sundays
        return not agrees if contrary and not (others or narrower or clause.is_negated) else None
    for wanted in question.objects:
        met = any(same(wanted, item, told, discourse) for item in clause.objects)
        contraries = COMPLEMENTS if clause.is_negated else ANTONYMS  # what is not hot may be warm
        opposed = any(item.head_text in contraries.get(wanted.head_text, ()) for item in clause.objects)
        if opposed and len(question.objects) == 1:
            return not agrees
        if not met and agrees and _is_other_value(question, clause):
            return False
        if not met:
            return None
    return agrees


def _is_of_one(question: Clause, clause: Clause, told: Told) -> bool:
    """Return whether a clause speaks of one of several that are asked about: of room 4 and not of the rooms."""
    asked, said = question.subject, clause.subject
    if asked is None or said is None or not asked.is_plural or asked.pronoun:
        return False
    named = frozenset().union(*(member.senses for member in asked.members))
    last = (told.parsed.tokens[member.end] for member in said.members)
    return not named.issuperset(word for word in last if word.isdigit())


def _is_on(asked: Asked, clause: Clause, *, agrees: bool) -> bool | None:
    """Return whether something is on, off, away or back, as a clause without other predicate says."""
    if clause.objects or clause.modifiers:
        return None
    for adverb in (*asked.clause.adverbs, *asked.bare, *asked.manners):
        if adverb in clause.adverbs:
            return agrees
        if COMPLEMENTS.get(adverb, frozenset()) & set(clause.adverbs):
            return not agrees
    return None


def _exists(asked: Asked, clause: Clause, told: Told, discourse: Discourse, *, agrees: bool) -> bool | None:
    """Return whether there is what a clause says there is, in the same place."""
    met = bool(asked.clause.objects) and all(
        any(same(thing, item, told, discourse) for item in clause.objects) for thing in asked.clause.objects
    )
    if not met or not same_modifiers(asked, clause, told, discourse):
        return None
    return None if not agrees and _denies_only_part(asked, clause, told) else agrees
