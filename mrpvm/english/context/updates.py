"""Finds later messages that may have changed a fact."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from mrpvm.english.context.corrections import CORRECTED_REACH, VALUE_SHAPES, of_same_voice
from mrpvm.english.questions.matching import PARTNERS, numbers_in
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.statements import Statement
from mrpvm.english.sentences.structure import Clause, Phrase, Sentence
from mrpvm.english.words.lexicon import COLOURS, REFERRING_PRONOUNS
from mrpvm.english.words.text import words

_MESSAGES_MAX = 2


def later_of(earlier: Statement, question: str, statements: Sequence[Statement]) -> list[Statement]:
    """Return the later statements of the same person that may have changed the fact, in order.

    Such a statement gives the same thing another value of the same kind (a number, a time, a colour), or names the fact
    again. Whether it really is a change is not decided: both statements are shown.
    """
    if earlier.is_of_document or earlier.speaker:
        return []
    ordered = sorted(statements, key=lambda item: item.order)
    behind = [
        item
        for item in ordered[ordered.index(earlier) + 1 :][:CORRECTED_REACH]
        if _told_at(item) != _told_at(earlier) and not item.is_of_document and of_same_voice(item, earlier)
    ]
    parsed_question, before = read(question), read(earlier.plain)
    about = _About.of(parsed_question, before)
    messages: list[list[Statement]] = []
    is_on_it = True  # the next statement may refer to the thing by a pronoun
    for before_it, item in pairwise((earlier, *behind)):
        if messages and messages[-1] == [before_it] and _told_at(before_it) == _told_at(item):
            messages[-1].append(item)  # a later part of the same message
            continue
        said = read(item.plain)
        is_on_it = about.is_named_in(said) or (is_on_it and _refers_back(said))
        if not is_on_it or _is_of_other_case(parsed_question, said):
            continue
        goes_on = bool(messages) and messages[-1][-1] is before_it and _refers_back(said)
        names_answer = any(_names(said, phrase) for phrase in about.answers)
        if goes_on or names_answer or _has_other_value(earlier.plain, item.plain):
            messages.append([item])
    return [item for message in messages[-_MESSAGES_MAX:] for item in message]


def _told_at(item: Statement) -> str:
    """Return the time of its message."""
    return item.entry.unit.created_at or ""


class _About(Struct, frozen=True):
    """The topic of a statement and its question: the things, what is counted, and the possible answers."""

    subjects: Sequence[Phrase]
    things: Sequence[Phrase]
    counted: Sequence[Phrase]
    answers: Sequence[Phrase]

    @classmethod
    def of(cls, question: Sentence, earlier: Sentence) -> "_About":
        clauses = [clause for clause in earlier.clauses if question.senses & _senses(clause)] or earlier.clauses
        said = [phrase for phrase in _named(clauses) if not _is_value(phrase)]
        counted = [phrase for phrase in said if numbers_in(phrase)]
        no_things = {clause.verb for clause in earlier.clauses} | {phrase.head for phrase in counted}
        named = (phrase for phrase in (*said, *_named(question.clauses)) if not _is_value(phrase))
        subjects = [clause.subject for clause in clauses if clause.subject]
        return cls(
            subjects=subjects,
            things=[phrase for phrase in named if phrase.head not in no_things],
            counted=counted,
            answers=[
                phrase
                for phrase in said
                if not (numbers_in(phrase) or phrase.senses <= question.senses)
                and (phrase.is_name or phrase not in subjects)
            ],
        )

    def is_named_in(self, said: Sentence) -> bool:
        """Return whether a sentence names one of the things, or what is counted and no other possible owner."""
        if any(_names(said, thing) for thing in self.things):
            return True
        others = [clause.subject for clause in said.clauses if clause.subject and not clause.subject.pronoun]
        is_of_others = any(not any(_may_be_same(own, other) for own in self.subjects) for other in others)
        return not is_of_others and any(_names(said, phrase) for phrase in self.counted)


def _is_of_other_case(question: Sentence, said: Sentence) -> bool:
    """Return whether a question is about other circumstances than a sentence: "on weekdays" and "on Sundays"."""
    wanted, given = ([item for clause in each.clauses for item in clause.modifiers] for each in (question, said))
    return any(
        word == other and not numbers_in(stated) and phrase.senses.isdisjoint(stated.senses)
        for word, phrase in wanted
        for other, stated in given
    )


def _senses(clause: Clause) -> frozenset[str]:
    return frozenset().union(*(phrase.senses for phrase in clause.phrases))


def _named(clauses: Iterable[Clause]) -> list[Phrase]:
    """Return the phrases that name something, with members and complements of "of" separated."""
    phrases = (part for clause in clauses for phrase in clause.phrases for part in _parts(phrase))
    return [item for item in phrases if item.senses and not item.pronoun]


def _parts(phrase: Phrase) -> Iterable[Phrase]:
    return (part for member in phrase.members for part in (member, *member.aliases, *member.owned_by))


def _refers_back(said: Sentence) -> bool:
    return any(phrase.pronoun in REFERRING_PRONOUNS for clause in said.clauses for phrase in clause.phrases)


def _is_value(phrase: Phrase) -> bool:
    return phrase.head_text in COLOURS or any(shape.search(phrase.head_text) for shape in VALUE_SHAPES)


def _names(said: Sentence, topic: Phrase) -> bool:
    """Return whether a sentence names a thing by its word, and not one of another owner or kind."""
    named = _named(said.clauses)
    alike = [phrase for phrase in named if topic.head in phrase.senses or phrase.head in topic.senses]
    return any(_may_be_same(topic, phrase) for phrase in alike) if alike else topic.head in said.senses


def _may_be_same(one: Phrase, other: Phrase) -> bool:
    are_partners = one.owner_pronoun in PARTNERS and other.owner_pronoun in PARTNERS
    if one.owner and other.owner and one.owner.isdisjoint(other.owner) and not are_partners:
        return False
    left, right = (phrase.senses - numbers_in(phrase) for phrase in (one, other))
    return left <= right or right <= left


def _has_other_value(earlier: str, later: str) -> bool:
    """Return whether the later sentence has another value of the same kind than the earlier one."""
    for shape in VALUE_SHAPES:  # the number in a date is not another number
        before, after = ({match[0].lower() for match in shape.finditer(text)} for text in (earlier, later))
        if before and after:
            return bool(after - before)
        earlier, later = (shape.sub("", text) for text in (earlier, later))
    one, other = (COLOURS & set(words(text.lower())) for text in (earlier, later))
    return bool(one and other - one)
