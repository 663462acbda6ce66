"""A planner's notes read back: what each candidate scored, part by part, and what was said beside that [BP-48]."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SCORE = re.compile(r"^(?P<id>\S+) (?P<score>-?\d+\.\d+) \((?P<parts>[^()]*)\)$")
_PART = re.compile(r"^(?P<name>[\w -]+?) (?P<value>[+-]\d+\.\d+)$")
_LEFT_OUT = re.compile(r"^left out as irrelevant: (?P<ids>.+)$")
PART_WORDS = {
    "history": "what was learned of it",
    "plan": "place in the base plan",
    "act": "supports what is asked",
    "topics": "speaks of the same things",
    "confidence": "its own confidence",
    "calls": "model calls it expects",
    "depth": "depth is wanted",
    "speed": "speed is wanted",
    "symbolic": "fits a symbolic task",
    "retrieval": "fits a search for relations",
    "evaluation": "fits guidance on evaluation",
    "procedure": "fits guidance on a procedure",
    "description": "its description shares words with the question",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePart:
    """One part of a score."""

    name: str
    words: str
    value: str

    @property
    def is_gain(self) -> bool:
        """Tell whether it speaks for the candidate."""
        return not self.value.startswith("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate's score with its parts."""

    score: str
    parts: tuple[ScorePart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """A plan's notes: scores by plugin, who was left out, and the other sentences as they are."""

    scores: dict[str, Scored]
    left_out: frozenset[str]
    sentences: tuple[str, ...]


def read_notes(notes: Iterable[str]) -> Notes:
    """Read the notes; what has another form, such as those of planners of other packages, stays a sentence."""
    scores: dict[str, Scored] = {}
    left_out: set[str] = set()
    sentences = []
    for note in notes:
        if (scored := _SCORE.match(note)) and (parts := _parts(scored["parts"])) is not None:
            scores[scored["id"]] = Scored(score=scored["score"], parts=parts)
        elif found := _LEFT_OUT.match(note):
            left_out.update(found["ids"].split(", "))
        else:
            sentences.append(note)
    return Notes(scores=scores, left_out=frozenset(left_out), sentences=tuple(sentences))


def _parts(text: str) -> tuple[ScorePart, ...] | None:
    """Give the parts of a score, None if the text in parentheses is something else."""
    found = [_PART.match(part) for part in text.split(", ")] if text else []
    if any(part is None for part in found):
        return None
    return tuple(
        ScorePart(name=part["name"], words=PART_WORDS.get(part["name"], part["name"]), value=part["value"])
        for part in found
        if part
    )
