"""Measure how often an unrelated earlier question changes the answer to a self-contained question.

Each question is asked twice, in real turns over one base that holds the texts of all matters: first in a new session,
then in another session after a question about another matter. What plugins derive from the base
is computed before the first question, and no planner learns from the turns.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.test import override_settings

from bench.answers.asking import loaded
from bench.answers.collections import read_articles
from bench.evaluation.suites import FURTHER, load_suites
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.models import KnowledgeBase
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn

_SEED = 4


@dataclass(frozen=True, slots=True)
class Matter:
    """A text and questions about it."""

    name: str
    text: str
    questions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Got:
    """The answer to a question, and its evidence units in order."""

    answer: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """The shares of pairs in which the earlier question changed something."""

    evidence: float
    answer: float
    either: float


def matters(directory: Path) -> list[Matter]:
    """Return the SQuAD articles in the directory, or our own stories if it holds fewer than two."""
    articles = [
        Matter(
            article[0].title,
            "\n\n".join(passage.text for passage in article),
            [question.text for passage in article for question in passage.questions],
        )
        for article in read_articles(directory)
    ]
    if len(articles) > 1:
        return articles
    return [
        Matter(suite.suite_id, suite.story, [question.input for question in suite.questions])
        for suite in load_suites(FURTHER)
    ]


def pairs(all_matters: Sequence[Matter], count: int) -> Iterator[tuple[str, str]]:
    """Return pairs of an earlier question and a question about another matter. The pairs are always the same."""
    chance = random.Random(_SEED)
    for _ in range(count):
        before, other = chance.sample(all_matters, 2)
        yield chance.choice(before.questions), chance.choice(other.questions)


def mounted_matters(all_matters: Sequence[Matter]) -> KnowledgeBase:
    """Return a new base that holds the texts of all matters."""
    return loaded("unrelated questions", {f"{matter.name}.txt": matter.text for matter in all_matters})


def changes(all_matters: Sequence[Matter], base: KnowledgeBase, count: int, kb: str | None) -> Changes:
    """Return what the earlier questions changed.

    Args:
        kb: the KB plugin of every turn. None leaves the choice to planner and session.
    """

    def got(*messages: str) -> Got:
        session = create_session(base.project, Choices(), base=base)
        call = [TurnCall(message=message, choices=Choices(kb=kb)) for message in messages]
        outcome = [run_turn(session, item).outcome for item in call][-1]
        groups = outcome.answer.groups if outcome.answer else ()
        return Got(outcome.answer_text, tuple(entry.unit.id for group in groups for entry in group.evidence))

    with override_settings(MRPVM_LEARN=False):
        both = [(got(question), got(before, question)) for before, question in pairs(all_matters, count)]
    return Changes(
        sum(alone.evidence != after.evidence for alone, after in both) / count,
        sum(alone.answer != after.answer for alone, after in both) / count,
        sum(alone != after for alone, after in both) / count,
    )
