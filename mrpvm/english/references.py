"""What pronouns stand for within one unit: read as if the name stood in their place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mrpvm.english.lexicon import (
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PERSON_WORDS,
    PREPOSITIONS,
    REFERRING_PRONOUNS,
    TIME_WORDS,
)
from mrpvm.english.reading import Reading, Word, is_past, read
from mrpvm.english.text import sentences

_PERSONAL = frozenset(("he", "she", "him", "her", "his", "hers"))
_HE, _SHE = frozenset(("he", "him", "his")), frozenset(("she", "her", "hers"))
_POSSESSIVE = frozenset(("his", "her", "its", "their", "hers", "theirs"))
_OWN = {"i": "my", "we": "our", "you": "your"}
_MEMORY = 2
"""How many sentences back a pronoun may point."""
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][a-z]+)?")


@dataclass(frozen=True, slots=True)
class _Mention:
    """Somebody or something a sentence is about; `rivals` are others a pronoun could as well mean."""

    phrase: str
    senses: frozenset[str]
    is_person: bool
    has_rivals: bool
    text: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """A sentence with its pronoun replaced; `before` is the sentence that names whom it means."""

    said: str
    before: str | None = None


class References:
    """Goes through the sentences of a unit in order."""

    def __init__(self, topic: str) -> None:
        names_nothing = topic.split(" ")[0].lower() in REFERRING_PRONOUNS
        self._topic = "" if names_nothing else topic
        self._mentions: list[_Mention] = []
        self._is_first = True

    def resolve(self, said: str, text: str) -> Resolved:
        """Return `said` with the pronoun it hangs on replaced, if it is clear whom that means.

        Args:
            text: the whole sentence, which later ones may need told with them.
        """
        found = self._resolved(said)
        self._remember(found, text)
        self._is_first = False
        return found

    def _resolved(self, said: str) -> Resolved:
        places = list(_WORD.finditer(said))
        if not places:
            return Resolved(said)
        leading = places[0].group().lower()
        if leading in REFERRING_PRONOUNS:
            return self._replaced(said, places[0], self._subject(leading))
        for place, match in enumerate(places):
            if match.group().lower() in _PERSONAL:
                return self._replaced(said, match, self._person(said, match, places[place + 1 : place + 2]))
        return Resolved(said)

    def _replaced(self, said: str, match: re.Match[str], mention: _Mention | None) -> Resolved:
        if mention is None:
            return Resolved(said)
        word = match.group().lower()
        following = _WORD.match(said, match.end() + 1)
        owns = word in _POSSESSIVE and (word != "her" or _takes_noun(following))
        phrase = f"{mention.phrase}'s" if owns else mention.phrase
        rest = said[match.end() :]
        if word in ("he", "she") and not any(item.is_name for item in read(f"x{rest}").words):
            rest = re.sub(rf"\b{word}\b", mention.phrase, rest)  # nobody else is named: the same one is meant
        return Resolved(said[: match.start()] + phrase + rest, mention.text or None)

    def _subject(self, pronoun: str) -> _Mention | None:
        """Return what the first word of a sentence means: the subject before it, a person for "he" and "she"."""
        if self._is_first and self._topic:
            topic = _mention_of(read(self._topic), "")
            return topic
        for mention in reversed(self._mentions[-_MEMORY:]):
            if pronoun not in _PERSONAL or mention.is_person or mention is self._mentions[-1]:
                return None if mention.has_rivals else mention
        return None

    def _person(self, said: str, match: re.Match[str], following: Sequence[re.Match[str]]) -> _Mention | None:
        """Return the only person a pronoun inside a sentence can mean, or None."""
        before = read(said[: match.start()])
        own = any(word.is_name or word.text in PERSON_WORDS for word in before.words)
        word = match.group().lower()
        is_object = word == "him" or (word == "her" and not _takes_noun(following[0] if following else None))
        if own and not is_object:
            return None
        people = {
            mention.phrase: mention
            for mention in self._mentions[-_MEMORY:]
            if mention.is_person and not mention.senses & before.senses
        }
        rivals = any(mention.has_rivals for mention in people.values())
        return next(iter(people.values())) if len(people) == 1 and not rivals else None

    def _remember(self, resolved: Resolved, text: str) -> None:
        mention = _mention_of(read(resolved.said), resolved.before or text)
        if mention:
            self._mentions.append(mention)


def with_meant(question: str, named_in: str) -> str:
    """Return a question with its first pronoun replaced by the subject of the words that name what it means."""
    mention = _mention_of(read(sentences(named_in)[-1]), "")
    places = list(_WORD.finditer(question))
    for match, following in zip(places, [*places[1:], None], strict=True):
        word = match.group().lower()
        if mention is None or word not in _PERSONAL | {"it", "its", "they", "them", "their"}:
            continue
        owns = word in _POSSESSIVE and (word != "her" or _takes_noun(following))
        phrase = f"{mention.phrase}'s" if owns else mention.phrase
        return f"{question[: match.start()]}{phrase}{question[match.end() :]}"
    return question


_EMPTY_IT = re.compile(r"it (?:mean\b|(?:(?:cost|take|possible|allowed|permitted|necessary|required|forbidden) )?to\b)")
"""What "it" begins that stands for the deed behind it."""


def has_open_pronoun(question: str) -> bool:
    """Return whether a pronoun has nothing before it in the question that it could stand for."""
    reading = read(question)
    content = {word.place for word in reading.words if not word.is_pronoun}
    for place, token in enumerate(reading.tokens):
        pointing = token in ("this", "that", "these", "those") and place + 1 in content
        pointing = pointing or _EMPTY_IT.match(" ".join(reading.tokens[place : place + 3])) is not None
        if token in REFERRING_PRONOUNS and not pointing and not any(before < place for before in content):
            return True
    return False


def _takes_noun(following: re.Match[str] | None) -> bool:
    if following is None:
        return False
    word = following.group().lower()
    return word not in DETERMINERS | PREPOSITIONS | CONJUNCTIONS and not is_past(word) and word not in AUXILIARIES


def _mention_of(reading: Reading, text: str) -> _Mention | None:
    phrase = leading_phrase(reading.words)
    if not phrase:
        return None
    named = any(word.is_name for word in phrase)
    senses = frozenset(word.sense for word in phrase)
    rivals = {word.sense for word in reading.words if _is_rival(word)} - senses
    surface = " ".join(reading.surfaces[word.place] for word in phrase)
    if not named and _equates(reading, phrase[-1].place):
        same = tuple(word for word in reading.words if word.place > phrase[-1].place and word.is_name and word.is_core)
        surface = " ".join([surface, *(reading.surfaces[word.place] for word in same)])
        senses |= {word.sense for word in same}
        rivals, phrase = rivals - senses, (*phrase, *same)
        named = bool(same)
    if not ((named and phrase[0].is_name) or phrase[0].is_pronoun):
        surface = f"{_OWN.get(phrase[0].owner or '', 'the')} {surface[:1].lower()}{surface[1:]}"
    return _Mention(
        phrase=surface,
        senses=senses,
        is_person=named or any(word.text in PERSON_WORDS for word in phrase),
        has_rivals=bool(rivals),
        text=text,
    )


def _equates(reading: Reading, end: int) -> bool:
    """Return whether a form of be, and no passive, stands right behind the subject: "the head nurse is Paula"."""
    verb, *following = [*reading.tokens[end + 1 : end + 3], ""]
    return verb in ("is", "was", "are", "were") and not is_past(following[0])


def _is_rival(word: Word) -> bool:
    return word.is_name and word.is_core and not word.is_owner and word.text not in TIME_WORDS


def leading_phrase(found: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words of the subject, as far as they can be told from a verb."""
    phrase: list[Word] = []
    for word in found:
        if not word.is_core or word.is_pronoun or word.is_owner or word.text in TIME_WORDS:
            if phrase:
                break
            continue
        follows = not phrase or (word.place == phrase[-1].place + 1 and not (phrase[-1].is_name and not word.is_name))
        if not follows or is_past(word.text) or (phrase and not word.is_name and word.text.endswith("s")):
            break
        phrase.append(word)
        if len(phrase) == 3:
            break
    return tuple(phrase)
