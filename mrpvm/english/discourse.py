"""Statements in the order of their source: what a pronoun can stand for, and which phrases name the same thing."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from mrpvm.english.asking import asked_by
from mrpvm.english.lexicon import ALTERING, TIME_WORDS, word_class
from mrpvm.english.parsing import parse
from mrpvm.english.reading import sense
from mrpvm.english.statements import Statement
from mrpvm.english.structure import Clause, Parsed, Phrase
from mrpvm.english.tagging import is_number

_SHE = word_class("she her hers herself")
_HE = word_class("he him his himself")
_IT = word_class("it its itself")
_THEY = word_class("they them their theirs themselves")
_FEMALE = word_class("woman girl mother sister daughter wife aunt queen princess mrs ms miss niece grandmother lady")
_MALE = word_class("man boy father brother son husband uncle king prince mr nephew grandfather gentleman")
_REACH = 3
"""How many sentences back a pronoun may point."""
_ALTERING = frozenset(sense(word) for word in ALTERING)


@dataclass(slots=True, kw_only=True)
class Told:
    """A statement with its clauses, what its pronouns mean (by place), and the senses of what stands around it."""

    statement: Statement
    parsed: Parsed
    meant: dict[int, Phrase] = field(default_factory=dict)
    around: frozenset[str] = frozenset()

    def resolved(self, phrase: Phrase) -> Phrase:
        """Return what a phrase names: a pronoun's antecedent where it is known, else the phrase."""
        return self.meant.get(phrase.start, phrase) if phrase.pronoun else phrase

    def owner_of(self, phrase: Phrase) -> frozenset[str]:
        """Return the senses of the possessor of a phrase."""
        if phrase.owner_pronoun and phrase.start in self.meant:
            meant = self.meant[phrase.start]
            return phrase.owner | meant.senses
        return phrase.owner


class Discourse:
    """All statements of the evidence, parsed once, with their references."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.told: list[Told] = []
        self.aliases: dict[str, list[tuple[Phrase, Phrase]]] = {}
        self._recent: list[list[_Mention]] = []
        self._genders: dict[str, str] = {}
        before: Told | None = None
        for statement in sorted(statements, key=lambda item: item.order):
            told = Told(statement=statement, parsed=parse(statement.plain))
            if before is None or not _follows(before.statement, statement):
                self._recent = [[_Mention("subject", phrase) for phrase in _topic(statement)]]
            if statement.asked and (before is None or before.statement.unit_id != statement.unit_id):
                self._recent.append(_asked_mentions(statement.asked))
            told.around = frozenset().union(
                *(phrase.senses for phrase in self._all_recent()),
                (clause.verb for clause in before.parsed.clauses if self._recent[1:]) if before else (),
            )
            self._resolve(told)
            self._name(told)
            self.told.append(told)
            before = told

    def _all_recent(self) -> Iterable[Phrase]:
        return (mention.phrase for mentions in self._recent[-2:] for mention in mentions)

    def _resolve(self, told: Told) -> None:
        here: list[_Mention] = []
        for clause in sorted(told.parsed.clauses, key=lambda item: item.verb_place):
            for phrase in clause.phrases:
                word = phrase.owner_pronoun or phrase.pronoun
                if word in _SHE | _HE | _IT | _THEY:
                    own = clause.subject if phrase is not clause.subject and not phrase.owner_pronoun else None
                    found = self._antecedent(word, here, own)
                    if found:
                        told.meant[phrase.start] = found
                        self._learn(found, _gender(word))
            here += [_Mention(role, told.resolved(phrase)) for role, phrase in _roles_of(clause)
                     if not phrase.pronoun or phrase.start in told.meant]  # fmt: skip
        self._recent = [*self._recent[-_REACH:], here]

    def _antecedent(self, word: str, here: "Sequence[_Mention]", own_subject: Phrase | None) -> Phrase | None:
        levels = [here, *reversed(self._recent)]
        barred = own_subject.senses if own_subject else frozenset()
        if word in _SHE | _HE:
            return self._person(word, levels, barred)
        for level in levels:  # within a sentence its subjects are meant rather than its objects
            mentions = sorted(level, key=lambda item: item.role != "subject")
            fitting = [item.phrase for item in mentions if item.phrase.senses and item.phrase.senses != barred]
            for is_likely in (True, False):
                for phrase in fitting:
                    if _agrees(word, phrase, is_likely=is_likely):
                        return phrase
        return None

    def _person(self, word: str, levels: "Sequence[Sequence[_Mention]]", barred: frozenset[str]) -> Phrase | None:
        """Return whom "he" or "she" means: a named subject, or the person its sentence is about, before anybody
        else.
        """
        for level in levels:
            subjects = [item.phrase for item in level if item.role == "subject" and item.phrase.senses != barred]
            for place, phrase in enumerate(subjects):
                leads = place == 0 and phrase.determiner not in ("a", "an")
                if (phrase.is_name or leads) and self._can_be(word, phrase, is_likely=phrase.is_person):
                    return phrase
        return None

    def _can_be(self, word: str, phrase: Phrase, *, is_likely: bool) -> bool:
        """Return whether "he" or "she" can stand for a phrase, and was not said to be the other."""
        return self._genders.get(phrase.head, _gender(word)) == _gender(word) and _agrees(
            word, phrase, is_likely=is_likely
        )

    def _learn(self, phrase: Phrase, gender: str) -> None:
        if phrase.is_name and gender:
            self._genders.setdefault(phrase.head, gender)

    def _name(self, told: Told) -> None:
        """Remember which phrases the statement says name the same thing."""
        for clause in told.parsed.clauses:
            for phrase in clause.phrases:
                for alias in phrase.aliases:
                    self._same(told, phrase, alias)
            subject = clause.subject
            if clause.verb == "be" and subject and clause.objects and not clause.is_negated and not clause.link:
                other = clause.objects[0]
                if other.determiner in ("a", "an", "the") or other.is_name or other.owner_pronoun:
                    self._same(told, told.resolved(subject), other)

    def _same(self, told: Told, left: Phrase, right: Phrase) -> None:
        if not left.senses or not right.senses or is_number(right.head_text):
            return
        first, second = (replace(item, owner=told.owner_of(item)) for item in (left, right))
        for one, other in ((first, second), (second, first)):
            self.aliases.setdefault(one.head, []).append((one, other))

    def restricted(self, words: frozenset[str]) -> "Discourse":
        """Return the discourse with only the statements that have all of some words."""
        if not words:
            return self
        narrowed = copy(self)
        narrowed.told = [told for told in self.told if words <= set(told.parsed.tokens)]
        return narrowed

    def same_thing(self, left: Phrase, right: Phrase) -> bool:
        """Return whether two phrases were said to name the same thing."""
        for one, other in ((left, right), (right, left)):
            for told, named in self.aliases.get(one.head, ()):
                owned_alike = all(
                    not asked.owner or not said.owner or (asked.owner & said.owner and not of_another(asked, said))
                    for asked, said in ((one, told), (other, named))
                )
                senses = named.senses | {named.head}
                alike = other.head in senses and other.senses <= senses | other.owner
                if alike and owned_alike and _described_alike(one, told) and _described_alike(other, named):
                    return True
        return False


def of_another(asked: Phrase, said: Phrase) -> bool:
    """Return whether two things are of different ones of a kind: of the first edition and of the second."""
    if not asked.owned_by or not said.owned_by or asked.owned_by[0].is_name or said.owned_by[0].is_name:
        return False
    left, right = asked.owned_by[0], said.owned_by[0]
    return left.head != right.head or bool(left.senses - right.senses and right.senses - left.senses)


def _described_alike(asked: Phrase, told: Phrase) -> bool:
    """Return whether a phrase is asked for as it was told: who is "the old head" is no "new head", a deputy no head."""
    if told.is_name:
        return True
    if asked.owner and not told.owner and not asked.owner <= told.senses and told.senses - asked.senses:
        return False  # "the harbour manager" is not known to be the manager of the town
    if asked.owner_pronoun and told.owner_pronoun and asked.owner_pronoun != told.owner_pronoun:
        return False
    return asked.senses <= told.senses | told.owner | asked.owner and not _ALTERING & (told.senses - asked.senses)


def _asked_mentions(question: str) -> "list[_Mention]":
    asked = asked_by(question)
    return [_Mention(role, phrase) for role, phrase in _roles_of(asked.clause) if not phrase.pronoun] if asked else []


def _topic(statement: Statement) -> list[Phrase]:
    clauses = parse(f"{statement.entry.unit.topic} is").clauses
    subject = clauses[0].subject if clauses else None
    return [subject] if subject is not None and not subject.pronoun else []


def _follows(before: Statement, after: Statement) -> bool:
    left, right = before.entry.unit, after.entry.unit
    if left.id == right.id:
        return True
    if left.source_id != right.source_id or left.chunk_id != right.chunk_id:
        return False
    return left.unit_index is not None and right.unit_index is not None and right.unit_index - left.unit_index <= 1


@dataclass(frozen=True, slots=True)
class _Mention:
    """A phrase with the role it was told in: subject, object or the preposition before it."""

    role: str
    phrase: Phrase


def _roles_of(clause: Clause) -> list[tuple[str, Phrase]]:
    subject = [("subject", clause.subject)] if clause.subject else []
    return [*subject, *(("object", phrase) for phrase in clause.objects), *clause.modifiers]


def _agrees(word: str, phrase: Phrase, *, is_likely: bool) -> bool:
    """Return whether a pronoun can stand for a phrase; `is_likely` asks for more than that nothing speaks against
    it.
    """
    if phrase.head_text in TIME_WORDS or is_number(phrase.head_text):
        return False
    if word in _THEY:
        return _many(phrase)
    female = phrase.head_text in _FEMALE or bool(phrase.senses & _FEMALE_SENSES)
    male = phrase.head_text in _MALE or bool(phrase.senses & _MALE_SENSES)
    if _many(phrase):
        return False
    if word in _IT:
        named = phrase.is_name and not phrase.determiner
        return not (female or male) and not (is_likely and (named or (phrase.is_person and not phrase.is_name)))
    wrong = male if word in _SHE else female
    agent = (
        phrase.head_text.endswith(_AGENT_ENDINGS) and not phrase.head_text.endswith("ment") and bool(phrase.determiner)
    )
    return not wrong and (phrase.is_person or (agent and not is_likely))


_AGENT_ENDINGS = ("er", "or", "ist", "ian", "man", "ant", "ent", "ee", "eon", "ess")


def _gender(word: str) -> str:
    return "female" if word in _SHE else "male" if word in _HE else ""


_FEMALE_SENSES = frozenset(sense(word) for word in _FEMALE)
_MALE_SENSES = frozenset(sense(word) for word in _MALE)


def _many(phrase: Phrase) -> bool:
    return phrase.is_plural and (not phrase.is_name or bool(phrase.others) or phrase.start == 0)
