"""The words of a sentence: its tokens, and its content words with their prepositions and possessors."""

import re
from collections.abc import Iterator

from msgspec import Struct

from mrpvm.english.words import lexicon
from mrpvm.english.words.text import stem
from mrpvm.text_cache import TextCache

_TOKEN = lexicon.pattern("reading.token")
_SPEAKER = {"i": "i", "me": "i", "we": "we", "us": "we", "you": "you", "myself": "i"}
_RELATIVES = frozenset(("who", "which", "that", "whose", "whom", "where", "when"))
_NOT_PARTICIPLES = lexicon.word_class("red bed need seed speed shed sled hundred weed reed indeed")
_OWNING = frozenset(("own",))
"""Verbs unless a possessive precedes them: "did Anna own a boat", not "her own boat"."""
_SHORT_FORMS = re.compile(r"(?<=\w)['\u2019](ll|m|re|ve)\b", re.IGNORECASE)
_SHORT_HAS, _SHORT_IS = lexicon.pattern("reading.contracted_has"), lexicon.pattern("reading.contracted_is")
"""After a noun "'s" is a verb if no possession can follow."""
_LONG_FORMS = {"ll": " will", "m": " am", "re": " are", "ve": " have"}


@TextCache
def sense(word: str) -> str:
    """Return the stem by which a question and a statement are compared; synonyms of general English have the same."""
    base = lexicon.BASE_FORMS.get(word) or _S_FORMS.get(word, word)
    direct = lexicon.SYNONYMS.get(base)
    return stem(direct) if direct else _SYNONYM_STEMS.get(stem(base), stem(base))


_S_FORMS = {"goes": "go", "undergoes": "undergo"}
_SYNONYM_STEMS = {stem(word): stem(first) for word, first in lexicon.SYNONYMS.items()}


def sense_class(listing: str) -> frozenset[str]:
    """Return the senses of the words in a space-separated list."""
    return frozenset(map(sense, lexicon.word_class(listing)))


BE = sense("be")
MEANS = frozenset(map(sense, lexicon.listed("means")))
"""Nouns that give the manner after a bare "by": "made by phone" names no agent."""


ANYBODY = frozenset(map(sense, lexicon.AUDIENCE))
"""Words for the readers that a document addresses if it names nobody else, by their senses."""
TITLES = sense_class("mr mrs ms miss dr")
GIVEN = sense_class("sell give hand lend")
"""Verbs with a recipient: "sold to adults" names no place."""


def is_past(word: str) -> bool:
    """Return whether a word looks like a past form or participle."""
    return word in lexicon.PAST_FORMS or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PARTICIPLES)


class Word(Struct, frozen=True, kw_only=True):
    """A content word or a pronoun of the speaker, and the preposition that governs it."""

    text: str
    sense: str
    place: int
    preposition: str | None = None
    is_name: bool = False
    is_pronoun: bool = False

    @property
    def is_core(self) -> bool:
        """Return whether the word stands without a preposition: subject, verb or object."""
        return self.preposition is None


def in_full(text: str) -> str:
    """Return a text with forms such as "I'll", "you're" and "my brother's a vet" as two words."""
    if "'" not in text and "\u2019" not in text:
        return text
    long = _SHORT_FORMS.sub(lambda match: _LONG_FORMS[match[1].lower()], text)
    return _SHORT_IS.sub(r"\g<host> is", _SHORT_HAS.sub(r"\g<host> has", long))


def surfaces_of(text: str) -> tuple[str, ...]:
    """Return all words and punctuation marks of a text as written."""
    return tuple(match.group().replace("\u2019", "'") for match in _TOKEN.finditer(text))


def denies(text: str) -> bool:
    """Return whether a text has a negation."""
    return any(token in lexicon.NEGATIONS or token.endswith("n't") for token in map(str.lower, surfaces_of(text)))


def words_of(surfaces: tuple[str, ...]) -> Iterator[Word]:
    """Yield the content words of a sentence, and the pronouns of its speaker."""
    preposition: str | None = None
    tokens = [surface.lower() for surface in surfaces]
    for place, token in enumerate(tokens):
        if (
            not token[0].isalnum()
            or token in lexicon.CONJUNCTIONS
            or token in lexicon.AUXILIARIES
            or token in _RELATIVES
        ):
            preposition = None
        elif token in lexicon.PREPOSITIONS:
            preposition = token
        elif token in _SPEAKER:
            yield Word(text=token, sense=_SPEAKER[token], place=place, is_pronoun=True)
        elif _is_content(token, tokens[place - 1] if place else ""):
            bare = token.removesuffix("'s").rstrip("'")
            is_name = _is_name(surfaces[place], place, surfaces)
            yield Word(text=bare, sense=sense(bare), place=place, preposition=preposition, is_name=is_name)


def _is_content(word: str, before: str) -> bool:
    if word in _OWNING:
        return before != "" and before not in lexicon.POSSESSIVES
    return word not in lexicon.STOP_WORDS and word not in lexicon.NEGATIONS


def _is_name(surface: str, place: int, surfaces: tuple[str, ...]) -> bool:
    if not surface[0].isupper():
        return False
    return place > 0 or (surface.lower() not in lexicon.STOP_WORDS and len(surfaces) > 1 and not surface.isupper())
