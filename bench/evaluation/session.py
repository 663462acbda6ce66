"""A session of the machine with the built-in plugins and its memory in this process.

A story is split, normalised and built into a unit tree as a context load does it. Each question is one turn of the
machine, and what the turn learns is kept for the next one.
"""

import time
from datetime import UTC, datetime
from types import TracebackType

from mrpvm.contracts import ChunkInput, SeedDetector
from mrpvm.kernel.admission import unit_of
from mrpvm.kernel.machine import Machine
from mrpvm.kernel.workers import Workers
from mrpvm.knowledge.units import promotable
from mrpvm.lang import admit
from mrpvm.llm.absent import AbsentModel
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.registry import Registry
from mrpvm.sources.chunking import Chunk, chunk_source
from mrpvm.sources.units import build_unit_tree, chunk_id_of, describe_source
from mrpvm.testing import InMemoryKnowledge, call_context
from mrpvm.values import HistoryMessage, KnowledgeUnit, SessionState, TurnOutcome, TurnRequest


class Clock:
    """The machine's time."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def monotonic_ms(self) -> float:
        """Return milliseconds that never go back."""
        return time.monotonic() * 1000


def units_of_text(detector: SeedDetector, text: str, name: str, source_id: str = "story") -> tuple[KnowledgeUnit, ...]:
    """Return the unit tree of a text, as a context load builds it."""
    source = describe_source(source_id, name, text)
    chunks = chunk_source(text, is_markdown=source.source_type == "markdown")
    units = [_units_of_chunk(detector, chunk, chunk_id_of(source_id, place)) for place, chunk in enumerate(chunks)]
    return build_unit_tree(source, chunks, units)


def _units_of_chunk(detector: SeedDetector, chunk: Chunk, chunk_id: str) -> tuple[KnowledgeUnit, ...]:
    given = ChunkInput(
        text=chunk.text,
        source_id="story",
        source_name="story",
        chunk_id=chunk_id,
        section_title=chunk.section_title,
    )
    normalised = detector.normalise(given, call_context())
    assert normalised.status == "success", normalised.error
    if normalised.context_document is None:
        return ()
    return tuple(unit_of(ku) for ku in admit(normalised.context_document, "context").kus.values())


class EvaluatedSession:
    """One session. As a context manager it ends the machine's threads."""

    def __init__(self) -> None:
        registry = Registry(BUILTIN_PLUGINS)
        self._workers = Workers()
        self._machine = Machine(registry, self._workers, Clock(), AbsentModel())
        self._detector = registry.seed_detector("sd-symbolic")
        self._knowledge = InMemoryKnowledge()
        self._hashes: set[str] = set()
        self._turn_count = 0
        self._history: tuple[HistoryMessage, ...] = ()

    def __enter__(self) -> "EvaluatedSession":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._workers.close()

    def load(self, story: str, name: str) -> None:
        """Make a story part of the session's memory."""
        self._keep(units_of_text(self._detector, story, name))

    def say(self, message: str, level: int = 0) -> TurnOutcome:
        """Return the outcome of one turn and keep what it learned, as a commit does."""
        self._turn_count += 1
        request = TurnRequest(
            request_id=f"req-{self._turn_count}",
            message=message,
            session=SessionState(
                session_id="sess-evaluation",
                mounted_kb_id="kb-evaluation",
                mounted_kb_name="Evaluation",
                message_count=2 * (self._turn_count - 1),
                session_context_unit_count=len(self._hashes),
                deliberation_level=level,
            ),
            deliberation_level=level,
            history=self._history,
        )
        outcome = self._machine.run_turn(request, self._knowledge, lambda event: None)
        if outcome.status == "succeeded":
            kept, _ = promotable(outcome.staged_units, message, known_hashes=self._hashes)
            self._keep(kept)
            answered = "\n\n".join(group.answer_markdown for group in outcome.answer.groups) if outcome.answer else ""
            said = (("user", message), ("assistant", answered))
            self._history += tuple(HistoryMessage(role=role, content=content) for role, content in said)
        return outcome

    def _keep(self, units: tuple[KnowledgeUnit, ...]) -> None:
        for unit in units:
            self._knowledge.add(unit)
            self._hashes.add(unit.hash)
