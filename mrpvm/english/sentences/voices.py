"""Who says a sentence: reported speech, corrections, and what a correction denies."""

import re

from msgspec import Struct

from mrpvm.english.sentences.parsing import read
from mrpvm.english.words.lexicon import pattern
from mrpvm.text_cache import TextCache

_ACCORDING = pattern("voices.according")
_QUOTING = pattern("voices.quoting")
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|we|our|us)\b", re.IGNORECASE)
_THAT = pattern("voices.that")
_TAIL = pattern("voices.tail")

_MARKED = pattern("voices.marked")
_NOT_BUT = re.compile(r"^not (?P<denied>[^,.]{1,40}), (?:but )?(?P<said>[^,.]{1,40})[.!]?$", re.IGNORECASE)

_CHANGING = pattern("voices.changing")


class Correction(Struct, frozen=True):
    """The text of a sentence that corrects another, and what it denies explicitly."""

    said: str
    denied: str = ""


def correction_in(text: str) -> Correction | None:
    """Return the text of a marked correction without its marker; None for other sentences."""
    if match := _MARKED.match(text):
        return correction_in(match["said"]) or Correction(match["said"])
    if match := _NOT_BUT.match(text):
        return Correction(match["said"], match["denied"])
    return None


def tells_change(text: str) -> bool:
    """Return whether a sentence is a correction, or says that something has changed."""
    return correction_in(text) is not None or _CHANGING.search(text) is not None


class Voiced(Struct, frozen=True, kw_only=True):
    """The content of a sentence, separated from its attribution.

    `voice` names the source. `is_claim` marks "Anna says that ...", which is not asserted as a fact.
    `is_marked` is true for a marked correction, `denied` holds what it denies.
    `is_attributed` is true for "According to ...".
    """

    said: str
    voice: frozenset[str] = frozenset()
    is_claim: bool = False
    is_marked: bool = False
    denied: frozenset[str] = frozenset()
    is_attributed: bool = False

    @property
    def is_correction(self) -> bool:
        return self.is_marked or bool(self.denied)


@TextCache
def voiced(text: str) -> Voiced:
    """Return the content of a sentence and its source."""
    voice: frozenset[str] = frozenset()
    is_claim = is_marked = False
    said, denied = text, frozenset[str]()
    for form in (_ACCORDING, None, _QUOTING, None, _THAT):
        if form is None:
            if correction := correction_in(said):
                said, is_marked, denied = correction.said, True, denied | read(correction.denied).senses
        elif match := form.match(said):
            said = match["said"]
            voice = voice or frozenset(word.sense for word in read(match["voice"]).words if word.is_core)
            is_claim = form is _THAT or _FIRST_PERSON.search(said) is not None
    said, taken_back = _without_denial(said)
    return Voiced(
        said=said[:1].upper() + said[1:] if voice or is_marked else said,
        voice=voice,
        is_claim=is_claim,
        is_marked=is_marked,
        is_attributed=_ACCORDING.match(text) is not None,
        denied=denied | taken_back,
    )


def _without_denial(text: str) -> tuple[str, frozenset[str]]:
    """Return `text` without a final ", not eight", and what that denies."""
    tail = _TAIL.search(text)
    if tail is None or (" not " in tail.group().lower() and "," not in tail.group()):
        return text, frozenset()
    return text[: tail.start()] + text[tail.end() :], read(tail["denied"]).senses
