"""The words of a sentence: its tokens, and its content words with what governs and owns them."""

import re
from dataclasses import dataclass

from mrpvm.english.lexicon import (
    AUDIENCE,
    AUXILIARIES,
    BASE_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    NEGATIONS,
    NUMBER_WORDS,
    PAST_FORMS,
    POSSESSIVES,
    PREPOSITIONS,
    STOP_WORDS,
    SYNONYMS,
    word_class,
)
from mrpvm.english.text import stem
from mrpvm.text_cache import TextCache

_TOKEN = re.compile(
    r"[^\W_]+(?:[-'\u2019.,:/][^\W_]+)*(?:['\u2019](?=\s|$))?|[,;:()\u2014]|\.{3}|%|[$\u20ac\u00a3\u00a5]"
)
_SPEAKER = {"i": "i", "me": "i", "we": "we", "us": "we", "you": "you", "myself": "i"}
_RELATIVES = frozenset(("who", "which", "that", "whose", "whom", "where", "when"))
_NOT_PARTICIPLES = word_class("red bed need seed speed shed sled hundred weed reed indeed")
_SHORT_FORMS = re.compile(r"(?<=\w)['\u2019](ll|m|re|ve)\b", re.IGNORECASE)
_LONG_FORMS = {"ll": " will", "m": " am", "re": " are", "ve": " have"}


@TextCache
def sense(word: str) -> str:
    """Return the stem under which a question and a statement meet: synonyms of general English share one."""
    base = BASE_FORMS.get(word) or _S_FORMS.get(word, word)
    direct = SYNONYMS.get(base)
    return stem(direct) if direct else _SYNONYM_STEMS.get(stem(base), stem(base))


_S_FORMS = {"goes": "go", "undergoes": "undergo"}
_SYNONYM_STEMS = {stem(word): stem(first) for word, first in SYNONYMS.items()}


def sense_class(listing: str) -> frozenset[str]:
    """Return the senses of the words of a listing."""
    return frozenset(map(sense, word_class(listing)))


MEANS = sense_class(
    "phone email post mail card cheque transfer bus train car bicycle boat ship plane ferry taxi hand foot fax "
    "letter courier"
)
"""Behind a bare "by" they say how: "made by phone" names nobody who makes it."""


ANYBODY = frozenset(map(sense, AUDIENCE))
"""Whom a document speaks to when it names nobody else."""
GIVEN = sense_class("sell give hand lend")
"""Deeds that are done to somebody: "sold to adults" names no place."""


def is_past(word: str) -> bool:
    """Return whether a word looks like a past form or participle."""
    return word in PAST_FORMS or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PARTICIPLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A content word (or a speaker's pronoun) in its sentence, and the preposition that governs it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One sentence; `tokens` are all words and marks, lower-cased."""

    text: str
    tokens: tuple[str, ...]
    surfaces: tuple[str, ...]
    words: tuple[Word, ...]

    @property
    def is_negated(self) -> bool:
        """Return whether a word denies."""
        return any(token in NEGATIONS or token.endswith("n't") for token in self.tokens)

    @property
    def senses(self) -> frozenset[str]:
        """Return the senses of the content words."""
        return frozenset(word.sense for word in self.words)


def _split(text: str) -> tuple[str, ...]:
    return tuple(match.group().replace("\u2019", "'") for match in _TOKEN.finditer(text))


class _Reader:
    """Goes once over the tokens of a sentence."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.surfaces = _split(text)
        self.tokens = tuple(token.lower() for token in self.surfaces)
        self._preposition: str | None = None
        self._fresh_phrase = True
        self._words: list[Word] = []

    def read(self) -> Reading:
        for place, token in enumerate(self.tokens):
            self._step(place, token)
        return Reading(text=self.text, tokens=self.tokens, surfaces=self.surfaces, words=tuple(self._words))

    def _step(self, place: int, token: str) -> None:
        if (token, self._preposition) == ("and", "between"):
            self._fresh_phrase = True
        elif not token[0].isalnum() or token in CONJUNCTIONS or token in AUXILIARIES or token in _RELATIVES:
            self._preposition, self._fresh_phrase = None, True
        elif self._is_limit(place):
            self._reset_after_phrase()
        elif token in ("about", "around") and _counts(self.tokens[place + 1 : place + 2]):
            return  # "about 2,000": how exact a number is
        elif token in PREPOSITIONS:
            self._preposition, self._fresh_phrase = token, True
        elif token in POSSESSIVES or token in DETERMINERS:
            self._reset_after_phrase()
        elif token in _SPEAKER:
            self._add(place, token, _SPEAKER[token], is_pronoun=True)
        elif (
            (token not in STOP_WORDS or self._is_verb_own(place))
            and token not in NEGATIONS
            and not self._negates(place)
        ):
            self._add_content(place, token)

    def _is_verb_own(self, place: int) -> bool:
        """Return whether "own" is the verb: "did Anna own a boat", not "her own boat"."""
        return self.tokens[place] == "own" and self.tokens[place - 1] not in POSSESSIVES and place > 0

    def _is_limit(self, place: int) -> bool:
        """Return whether "to" belongs to "up to twelve", which governs nothing."""
        return self.tokens[place - 1 : place + 1] == ("up", "to") and _counts(self.tokens[place + 1 : place + 2])

    def _negates(self, place: int) -> bool:
        return self.tokens[place - 1 : place + 1] == ("no", "longer")

    def _reset_after_phrase(self) -> None:
        """A determiner after a noun opens a new phrase, which the preposition no longer governs."""
        if not self._fresh_phrase:
            self._preposition = None
        self._fresh_phrase = True

    def _add_content(self, place: int, token: str) -> None:
        surface = self.surfaces[place]
        if not self._fresh_phrase and is_past(token):
            self._preposition = None
        bare = token.removesuffix("'s").rstrip("'")
        self._add(place, bare, sense(bare), is_name=_is_name(surface, place, self.surfaces))
        self._fresh_phrase = token.endswith(("'s", "s'"))

    def _add(self, place: int, text: str, sense_: str, **marks: bool) -> None:
        self._words.append(Word(text=text, sense=sense_, place=place, preposition=self._preposition, **marks))
        self._fresh_phrase = False


def _counts(following: tuple[str, ...]) -> bool:
    return bool(following) and (following[0][0].isdigit() or following[0] in NUMBER_WORDS)


def _is_name(surface: str, place: int, surfaces: tuple[str, ...]) -> bool:
    if not surface[0].isupper():
        return False
    return place > 0 or (surface.lower() not in STOP_WORDS and len(surfaces) > 1 and not surface.isupper())


def in_full(text: str) -> str:
    """Return a text with "I'll", "you're" and their kind as two words."""
    return _SHORT_FORMS.sub(lambda match: _LONG_FORMS[match[1].lower()], text)


@TextCache
def read(text: str) -> Reading:
    """Return the reading of one sentence, "I'm" and its kind as two words."""
    return _Reader(in_full(text)).read()
