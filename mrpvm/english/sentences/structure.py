"""The parts of a parsed sentence: phrases, and clauses that give them roles."""

from dataclasses import dataclass

from msgspec import Struct

from mrpvm.english.words.lexicon import PERSON_WORDS
from mrpvm.english.words.reading import MEANS, Word, sense
from mrpvm.english.words.tagging import PLURALS, names_time


class Phrase(Struct, frozen=True, kw_only=True):
    """A noun phrase: the places of its first and last token, its head and the words before the head.

    `owner` holds the senses of a possessor ("Anna's boat", "the boat of Anna"), or a possessive pronoun.
    `owned_by` are the phrases after "of". `others` are further members of an enumeration, `aliases` are appositions.
    """

    start: int
    end: int
    head: str
    head_text: str
    senses: frozenset[str]
    determiner: str = ""
    owner: frozenset[str] = frozenset()
    owned_by: tuple["Phrase", ...] = ()
    owner_pronoun: str = ""
    is_name: bool = False
    pronoun: str = ""
    others: tuple["Phrase", ...] = ()
    aliases: tuple["Phrase", ...] = ()

    @property
    def members(self) -> tuple["Phrase", ...]:
        """Return the members of the enumeration; the phrase itself if it is not one."""
        return (self, *self.others)

    @property
    def is_plural(self) -> bool:
        """Return whether the phrase names several things."""
        plural = self.head_text.endswith("s") and not self.head_text.endswith(("ss", "us", "is", "'s"))
        return bool(self.others) or plural or self.pronoun in ("they", "we", "you", "i") or self.head_text in PLURALS

    @property
    def is_person(self) -> bool:
        """Return whether the phrase may name a person."""
        return self.is_name or sense(self.head_text) in _PERSON_SENSES


_PERSON_SENSES = frozenset(map(sense, PERSON_WORDS))


@dataclass(slots=True, kw_only=True)
class Clause:
    """One verb with its subject, objects and modifiers.

    `link` is the word that connects the clause to its outer clause (`outer`): "because", "if", "rel", "to", "that",
    "ing" for a participle, "" for a main clause. `is_order` marks imperatives.
    """

    link: str = ""
    outer: "Clause | None" = None
    start: int = 0
    end: int = 0
    subject: Phrase | None = None
    verb: str = ""
    verb_text: str = ""
    verb_place: int = -1
    auxiliaries: frozenset[str] = frozenset()
    is_passive: bool = False
    is_negated: bool = False
    is_order: bool = False
    objects: tuple[Phrase, ...] = ()
    modifiers: tuple[tuple[str, Phrase], ...] = ()
    adverbs: tuple[str, ...] = ()

    @property
    def phrases(self) -> "list[Phrase]":
        """Return the subject, the objects and the phrases after prepositions."""
        modifiers = [phrase for _, phrase in self.modifiers]
        return [*([self.subject] if self.subject else []), *self.objects, *modifiers]

    @property
    def agent(self) -> Phrase | None:
        """Return the agent: the subject, or the phrase after "by" in a passive."""
        if not self.is_passive:
            return self.subject
        behind = (item for word, item in self.modifiers if word == "by" and not names_time(item.head_text))
        return next((item for item in behind if item.determiner or item.is_name or item.head not in MEANS), None)

    @property
    def patient(self) -> tuple[Phrase, ...]:
        """Return the object, or the subject of a passive."""
        if not self.is_passive:
            return self.objects
        return (self.subject, *self.objects) if self.subject else self.objects


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence: its tokens in lower case and as written, its content words and its clauses."""

    text: str
    tokens: tuple[str, ...]
    surfaces: tuple[str, ...]
    words: tuple[Word, ...] = ()
    clauses: tuple[Clause, ...] = ()

    @property
    def senses(self) -> frozenset[str]:
        """Return the senses of the content words."""
        return frozenset(word.sense for word in self.words)

    def tokens_of(self, phrase: Phrase) -> tuple[str, ...]:
        return self.tokens[phrase.start : phrase.end + 1]

    def text_of(self, phrase: Phrase) -> str:
        """Return a phrase as written."""
        return " ".join(self.surfaces[phrase.start : phrase.end + 1])
