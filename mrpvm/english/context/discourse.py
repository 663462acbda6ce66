"""Statements in the order of their source: what pronouns refer to, and which phrases name the same thing."""

from collections.abc import Sequence
from copy import copy, replace
from dataclasses import dataclass, field

from mrpvm.english.context.coreference import Antecedents, asked_mentions, senses_of, topic_mentions
from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.statements import Statement
from mrpvm.english.sentences.structure import Phrase, Sentence
from mrpvm.english.sentences.values import is_measure
from mrpvm.english.words.lexicon import listed
from mrpvm.english.words.reading import TITLES, sense
from mrpvm.english.words.tagging import is_number

ALTERING = frozenset(map(sense, listed("altering")))
"""Words before a noun that change what it names: a deputy manager is not a manager."""


@dataclass(slots=True, kw_only=True)
class Premise:
    """A statement with its clauses, the meanings of its pronouns (by place), and the senses of the text around it.

    `before` has the senses of each of the sentences before it.
    """

    statement: Statement
    parsed: Sentence
    meant: dict[int, Phrase] = field(default_factory=dict)
    around: frozenset[str] = frozenset()
    before: tuple[frozenset[str], ...] = ()

    def resolved(self, phrase: Phrase) -> Phrase:
        """Return the antecedent of a pronoun if it is known, else the phrase."""
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
        self.premises: list[Premise] = []
        self.aliases: dict[str, list[tuple[Phrase, Phrase]]] = {}
        antecedents = Antecedents()
        before: Premise | None = None
        for statement in sorted(statements, key=lambda item: item.order):
            premise = Premise(statement=statement, parsed=read(statement.plain))
            if before is None or not _follows(before.statement, statement):
                antecedents.begin(topic_mentions(statement.entry.unit.topic))
            if statement.question and (before is None or before.statement.unit_id != statement.unit_id):
                antecedents.add(asked_mentions(statement.question))
            deeds = (clause.verb for clause in before.parsed.clauses if antecedents.has_several) if before else ()
            premise.before = tuple(senses_of([named]) for named in antecedents.recent)
            if not statement.is_labelled:  # the values of a table are told side by side
                premise.around = frozenset().union(*premise.before, deeds)
            premise.meant = {place: item.phrase for place, item in antecedents.resolve(premise.parsed).items()}
            self._name(premise)
            self.premises.append(premise)
            before = premise

    def _name(self, premise: Premise) -> None:
        """Remember the phrases that name the same thing according to the statement."""
        for clause in premise.parsed.clauses:
            for phrase in clause.phrases:
                for alias in phrase.aliases:
                    self._same(premise, phrase, alias)
            subject = clause.subject
            if clause.verb == "be" and subject and clause.objects and not clause.is_negated and not clause.link:
                other = clause.objects[0]
                is_thing = other.determiner in ("a", "an", "the") or other.is_name or other.owner_pronoun
                if is_thing and not is_measure(other, "measure", premise.parsed):  # "89 EUR" is no name
                    self._same(premise, premise.resolved(subject), other)

    def _same(self, premise: Premise, left: Phrase, right: Phrase) -> None:
        if not left.senses or not right.senses or is_number(right.head_text):
            return
        first, second = (replace(item, owner=premise.owner_of(item)) for item in (left, right))
        for one, other in ((first, second), (second, first)):
            self.aliases.setdefault(one.head, []).append((one, other))

    def restricted(self, words: frozenset[str]) -> "Discourse":
        """Return the discourse with only the statements that have all of some words."""
        if not words:
            return self
        narrowed = copy(self)
        narrowed.premises = [premise for premise in self.premises if words <= set(premise.parsed.tokens)]
        return narrowed

    def same_thing(self, left: Phrase, right: Phrase) -> bool:
        """Return whether two phrases name the same thing according to some statement."""
        for one, other in ((left, right), (right, left)):
            for alias, named in self.aliases.get(one.head, ()):
                owned_alike = all(
                    not wanted.owner or not said.owner or (wanted.owner & said.owner and not of_another(wanted, said))
                    for wanted, said in ((one, alias), (other, named))
                )
                senses = named.senses | {named.head}
                alike = other.head in senses and other.senses <= senses | other.owner
                if alike and owned_alike and _described_alike(one, alias) and _described_alike(other, named):
                    return True
        return False


def of_another(wanted: Phrase, said: Phrase) -> bool:
    """Return whether two things belong to different things of one kind: to the first and to the second edition."""
    if not wanted.owned_by or not said.owned_by:
        return False
    left, right = wanted.owned_by[0], said.owned_by[0]
    if left.is_name != right.is_name and left.senses.isdisjoint(right.senses):
        return False  # "Borealis" may be "the lamp", but not "the Aurora lamp"
    differ = bool(left.senses - right.senses - TITLES and right.senses - left.senses - TITLES)
    return differ or (left.head != right.head and not (left.is_name or right.is_name))


def _described_alike(wanted: Phrase, said: Phrase) -> bool:
    """Return whether two phrases have compatible modifiers: a "new head" or a "deputy head" is not "the old head"."""
    if said.is_name:
        return True
    if wanted.owner and not said.owner and not wanted.owner <= said.senses and said.senses - wanted.senses:
        return False  # "the harbour manager" may not be the manager of the town
    if wanted.owner_pronoun and said.owner_pronoun and wanted.owner_pronoun != said.owner_pronoun:
        return False
    return wanted.senses <= said.senses | said.owner | wanted.owner and not ALTERING & (said.senses - wanted.senses)


def _follows(before: Statement, after: Statement) -> bool:
    left, right = before.entry.unit, after.entry.unit
    if left.id == right.id:
        return True
    if left.source_id != right.source_id or left.chunk_id != right.chunk_id:
        return False
    return left.unit_index is not None and right.unit_index is not None and right.unit_index - left.unit_index <= 1
