"""Unrelated questions: how often the one asked before changes what a question that stands alone gets.

Each question is asked by itself in a new session, and in another one after a question of another matter, as a person
does over the API: by real turns over one base that holds the texts of all matters.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.evaluation.suites import FURTHER, load_suites

PAIRS = 500
MOST_CHANGED = 0.05
_SEED = 4


@dataclass(frozen=True, slots=True)
class Matter:
    """A text, and questions about it."""

    name: str
    text: str
    questions: Sequence[str]


@dataclass(frozen=True, slots=True)
class Got:
    """What a question got: the answer, and the units that were its evidence in order."""

    answer: str
    evidence: tuple[str, ...]


def matters(directory: Path) -> list[Matter]:
    """Return the articles of SQuAD in the directory, or our own stories where it holds none."""
    path = directory / "qa" / "squad2_public.json"
    if not path.exists():
        return [
            Matter(suite.suite_id, suite.story, [question.input for question in suite.questions])
            for suite in load_suites(FURTHER)
        ]
    return [
        Matter(
            article["title"],
            "\n\n".join(paragraph["text"] for paragraph in article["paragraphs"]),
            [question["q"].strip() for paragraph in article["paragraphs"] for question in paragraph["questions"]],
        )
        for article in json.loads(path.read_text())
    ]


def pairs(found: Sequence[Matter], count: int) -> Iterator[tuple[str, str]]:
    """Return `(the question before, the question)`, of two matters each, always the same ones."""
    chance = random.Random(_SEED)
    for _ in range(count):
        before, asked = chance.sample(found, 2)
        yield chance.choice(before.questions), chance.choice(asked.questions)


def report(directory: Path, count: int = PAIRS) -> Iterator[str]:
    """Return the lines of the report."""
    from sessions_app.actions.knowledge.bases import create_base
    from sessions_app.actions.sessions.session import Choices, create_session
    from sessions_app.actions.settings.projects import ensure_default_project
    from sessions_app.ingest.load import Upload, load_source
    from sessions_app.turns.call import TurnCall
    from sessions_app.turns.pipeline import run_turn

    found, project = matters(directory), ensure_default_project()
    base = create_base(project, "unrelated questions")
    for matter in found:
        load_source(base, Upload(name=f"{matter.name}.txt", data=matter.text.encode()))
        base.refresh_from_db()

    def got(*messages: str) -> Got:
        session = create_session(project, Choices(kb="kb-balanced"), base=base)
        outcome = [run_turn(session, TurnCall(message=message)).outcome for message in messages][-1]
        groups = outcome.answer.groups if outcome.answer else ()
        return Got(outcome.answer_text, tuple(entry.unit.id for group in groups for entry in group.evidence))

    changed = [
        (alone.evidence != after.evidence, alone.answer != after.answer)
        for before, asked in pairs(found, count)
        for alone, after in [(got(asked), got(before, asked))]
    ]
    evidence, answer = (sum(column) / count for column in zip(*changed, strict=True))
    either = sum(any(pair) for pair in changed) / count
    yield f"{count} questions after one of another matter, against the same questions alone"
    yield f"  {'evidence changed':34}{evidence:10.3f}"
    yield f"  {'answer changed':34}{answer:10.3f}"
    yield f"  {'either':34}{either:10.3f}   {'<=' if either <= MOST_CHANGED else '>'} {MOST_CHANGED:.2f}"
