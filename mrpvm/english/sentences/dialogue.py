"""Dialogues: lines that begin with a speaker's name, and utterances converted to the third person."""

import re
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from mrpvm.english.words.lexicon import PAST_FORMS, pattern, section
from mrpvm.english.words.tagging import S_FORM_OF

UTTERANCE = "utterance"
"""The unit type of an utterance together with the question that it answers."""

_LINE = pattern("dialogue.line")
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|we|our)\b", re.IGNORECASE)
_SPOKEN = pattern("dialogue.spoken")
_SELF = section("dialogue.self")
_OTHERS = section("dialogue.others")
_WORD = re.compile(r"[A-Za-z]+(?:['\u2019](?:m|ve|ll|d|re)\b)?")
_I_DO = re.compile(r"\bI (?P<verb>[a-z]+)\b")


class Utterance(Struct, frozen=True):
    """A speaker and what was said."""

    speaker: str
    said: str


def speakers_of(lines: Iterable[str]) -> frozenset[str]:
    """Return the speakers of a dialogue, none if the lines are not a dialogue.

    A dialogue has two different labels, and a repeated label or a line with "I": "Warning: hot" alone is not one.
    Labels of data are repeated too, but most of their texts are not sentences ("Phone: 555 12").
    """
    matches = [match for line in lines if (match := _LINE.match(line))]
    counts = Counter(match["speaker"] for match in matches)
    spoken = sum(_SPOKEN.search(match["said"]) is not None for match in matches)
    comes_back = any(count > 1 for count in counts.values()) and 2 * spoken >= len(matches)
    if len(counts) < 2 or not (comes_back or any(_FIRST_PERSON.search(match["said"]) for match in matches)):
        return frozenset()
    return frozenset(counts)


def utterance_of(line: str, speakers: frozenset[str] | None = None) -> Utterance | None:
    """Return the utterance of a line; if speakers are given, the line must begin with one of them."""
    match = _LINE.match(line)
    is_one = match is not None and (speakers is None or match["speaker"] in speakers)
    return Utterance(match["speaker"], match["said"]) if match and is_one else None


def in_third_person(text: str, speaker: str) -> str:
    """Return the words of `speaker` in the third person: "I have my key" becomes "Anna has Anna's key".

    "You" and "we" become "they", because it is unknown who is meant.
    """

    def reported(match: re.Match[str]) -> str:
        word = match.group().lower().replace("\u2019", "'")
        if word in _SELF:
            return _SELF[word].format(speaker)
        return _OTHERS.get(word, match.group())

    def conjugated(match: re.Match[str]) -> str:
        form = S_FORM_OF.get(match["verb"])
        return f"I {form}" if form and match["verb"] not in PAST_FORMS else match[0]

    return _WORD.sub(reported, _I_DO.sub(conjugated, text))
