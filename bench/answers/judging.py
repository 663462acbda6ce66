"""Judge whether the shown text contains the answer, and count by basis."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from bench.answers.asking import Reply
from bench.answers.collections import ConditionQuestion, Question

_ARTICLES = frozenset(("a", "an", "the"))
_WORD = re.compile(r"\w+")
_VERDICTS = frozenset(("yes", "no"))


def holds(text: str, wordings: Iterable[str]) -> bool:
    """Return whether the text contains one of the wordings as whole words, ignoring case, articles and punctuation."""
    said = f" {_plain(text)} "
    return any(f" {_plain(wording)} " in said for wording in wordings)


def answers(text: str, question: Question) -> bool:
    """Return whether the text contains an accepted answer, or begins with it if that is yes or no."""
    verdicts = _VERDICTS.intersection(map(str.lower, question.answers))
    others = (wording for wording in question.answers if wording.lower() not in verdicts)
    return _plain(text).partition(" ")[0] in verdicts or holds(text, others)


def _plain(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


@dataclass(slots=True)
class Tally:
    """Counts of replies by whether the text has the answer, by basis, and by whether the shown text contains it."""

    counts: Counter[tuple[bool, str, bool]] = field(default_factory=Counter)

    def add(self, question: Question, reply: Reply) -> None:
        """Count one reply."""
        self.counts[bool(question.answers), reply.basis, answers(reply.shown, question)] += 1

    def count(self, *, answerable: bool, bases: Iterable[str] | None = None, right: bool | None = None) -> int:
        """Return how many replies there are of a kind."""
        wanted = None if bases is None else frozenset(bases)
        return sum(
            number
            for (can, basis, is_right), number in self.counts.items()
            if can == answerable and (wanted is None or basis in wanted) and right in (None, is_right)
        )

    def share(self, *, answerable: bool, bases: Iterable[str], right: bool | None = None) -> float:
        """Return the share of the answerable or unanswerable questions with such a reply."""
        total = self.count(answerable=answerable)
        return self.count(answerable=answerable, bases=bases, right=right) / total if total else 0.0


def outcome_of(question: Question, reply: Reply) -> str:
    """Return `right`, `wrong`, `refused`, or `lost`: nothing shown holds the answer."""
    is_right = answers(reply.shown, question)
    if reply.basis in ("stated", "composed"):
        return "right" if is_right else "wrong"
    return "lost" if question.answers and not is_right else "refused"


def outcome_of_condition(question: ConditionQuestion, reply: Reply) -> str:
    """Return `right`, `wrong`, `refused`, or `lost`: nothing shown holds what decides.

    A yes or no is wrong if another or none follows, and as an answer to a question that names no condition of its
    rule. Without a yes or no, what is stated is right if it contains what decides.
    """
    holds_all = all(holds(reply.shown, [piece]) for piece in question.pieces)
    if reply.basis not in ("stated", "composed"):
        return "refused" if holds_all else "lost"
    said = _plain(reply.shown).partition(" ")[0]
    if said in _VERDICTS:
        return "right" if said == question.verdict else "wrong"
    return "right" if holds_all else "wrong"
