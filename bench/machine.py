"""The machine alone, in this process and without a database: CPU of a turn, cost of each level, admission rate."""

import random
import time
from dataclasses import dataclass, field
from itertools import islice
from statistics import median

from bench.conversation import facts
from bench.evaluation.session import EvaluatedSession
from mrpvm.lang import ControlWriter, admit

SESSION_UNITS = 12
LEVELS = (0, 1, 2, 3)
_DOCUMENT_UNITS = 100


@dataclass(slots=True)
class LevelCost:
    """The turns of one deliberation level: CPU of all threads, and plugin calls."""

    cpu_ms: list[float] = field(default_factory=list)
    call_counts: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineCost:
    """The figures of the machine."""

    levels: dict[int, LevelCost]
    statements_a_second: float


def machine_cost(rounds: int) -> MachineCost:
    """Ask for each of 12 facts at every level, in this many sessions, and measure the admission of documents.

    The first session warms up and does not count.
    """
    levels = {level: LevelCost() for level in LEVELS}
    _ask_at_every_level(0, {level: LevelCost() for level in LEVELS})
    for number in range(1, rounds + 1):
        _ask_at_every_level(number, levels)
    return MachineCost(levels=levels, statements_a_second=_admission_rate(rounds))


def _ask_at_every_level(seed: int, levels: dict[int, LevelCost]) -> None:
    session_facts = list(islice(facts(random.Random(seed)), SESSION_UNITS))
    with EvaluatedSession() as session:
        for statement, _, _ in session_facts:
            session.say(statement)
        for _, question, _ in session_facts:
            for level, cost in levels.items():
                began = time.process_time()
                outcome = session.say(question, level)
                cost.cpu_ms.append((time.process_time() - began) * 1000)
                cost.call_counts.append(len(outcome.stages))


def _admission_rate(rounds: int) -> float:
    """Return how many statements of a document of units are admitted in a second of CPU."""
    writer = ControlWriter()
    for number, (statement, _, _) in enumerate(islice(facts(random.Random(0)), _DOCUMENT_UNITS)):
        writer.ku(
            "atomic", f"src-0::chunk-000::unit-{number:03d}", source_id="src-0", chunk_id="src-0::chunk-000",
            role="Description", topic=statement, claim=statement, utility_acts=("describe",),
        )  # fmt: skip
    document = writer.text()
    seconds = []
    for _ in range(rounds + 1):
        began = time.process_time()
        admit(document, "context")
        seconds.append(time.process_time() - began)
    return len(document.splitlines()) / median(seconds)
