"""Whether an answer is right, wrong or an honest refusal, and its recall and precision."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.evaluation.suites import SENTENCES_MAX, Expected, Question
from mrpvm.english.words.text import sentences
from mrpvm.values import Answer, TurnOutcome

_MARK = re.compile(r"\s*\[\d{1,3}\]")
_VERDICT = re.compile(r"^(yes|no)\b[.,]?\s*", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*]|\d{1,3}\.)\s+\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How one question went.

    Refusing an answerable question is neither right nor wrong. `passed` is stricter than right: it also
    checks intents and context.
    """

    question: Question
    text: str
    outcome: Literal["right", "wrong", "refused"]
    reasons: tuple[str, ...]
    passed: bool
    recall: float
    precision: float

    @property
    def f1(self) -> float:
        """Return the harmonic mean of recall and precision."""
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0


def mentions(text: str, phrase: str) -> bool:
    """Return whether `text` contains `phrase` as whole words, ignoring case."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) is not None


def judge(question: Question, outcome: TurnOutcome) -> Judgement:
    """Return the judgement of one answered message."""
    if outcome.status != "succeeded" or outcome.answer is None:
        reason = str(outcome.error or outcome.status)
        return Judgement(
            question=question, text="", outcome="wrong", reasons=(reason,), passed=False, recall=0.0, precision=0.0
        )
    expected, answer = question.expected, outcome.answer
    text = " ".join(group.answer_markdown for group in answer.groups)
    answered = outcome.answer_status == "answered"
    said = text if answered else ""
    context = _context_of(answer)
    required = [
        *((phrase, said) for phrase in expected.answer_must_mention),
        *((phrase, context) for phrase in expected.context_must_mention),
    ]
    forbidden = [
        *((phrase, said) for phrase in expected.answer_must_not_contain),
        *((phrase, context) for phrase in expected.context_must_not_mention),
    ]
    reasons = tuple(_faults(expected, text)) if answered else ()
    result: Literal["right", "wrong", "refused"]
    result = "refused" if not answered and expected.answerable == "yes" else "wrong" if reasons else "right"
    right = result == "right"
    context_holds = expected.answerable != "yes" or _context_holds(expected, context)
    return Judgement(
        question=question,
        text=outcome.answer_text,
        outcome=result,
        reasons=reasons,
        passed=right and context_holds and _intents_match(expected, answer),
        recall=1 - _share([not mentions(where, phrase) for phrase, where in required]) if answered else float(right),
        # Any answer to a question that the story does not answer is wrong.
        precision=0.0
        if answered and expected.answerable == "no"
        else 1 - _share([mentions(where, phrase) for phrase, where in forbidden]),
    )


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits) if hits else 0.0


def _faults(expected: Expected, text: str) -> Iterable[str]:
    """Return what is wrong with a given answer."""
    if expected.answerable == "no":
        yield "the story does not tell this"
        return
    for phrase in expected.answer_must_mention:
        if not mentions(text, phrase):
            yield f"does not mention {phrase}"
    for phrase in expected.answer_must_not_contain:
        if mentions(text, phrase):
            yield f"mentions {phrase}"
    verdict = _VERDICT.match(text)
    if expected.verdict and (verdict is None or verdict[1].lower() != expected.verdict):
        yield f"does not say {expected.verdict}"
    yield from _faults_of_form(expected.form, text)


def _faults_of_form(form: str, text: str) -> Iterable[str]:
    plain = _MARK.sub("", text).strip()
    lines = [line for line in plain.splitlines() if line.strip()]
    if form == "one-word" and len(plain.split()) != 1:
        yield "is not one word"
    if form in ("list", "steps") and not all(_ITEM.match(line) for line in lines):
        yield "is no list"
    most = SENTENCES_MAX.get(form)
    if most is not None:
        count = sum(len(sentences(_VERDICT.sub("", line))) for line in lines)
        if count > most:
            yield f"has {count} sentences"


def _context_of(answer: Answer) -> str:
    units = [entry.unit for group in answer.groups for entry in group.evidence]
    return "\n".join(part for unit in units for part in (unit.claim, unit.procedure, unit.topic, unit.id) if part)


def _context_holds(expected: Expected, context: str) -> bool:
    return all(mentions(context, phrase) for phrase in expected.context_must_mention) and not any(
        mentions(context, phrase) for phrase in expected.context_must_not_mention
    )


def _intents_match(expected: Expected, answer: Answer) -> bool:
    return all(
        any(all(mentions(group.intent, term) for term in terms) for group in answer.groups)
        for terms in expected.intents
    )
