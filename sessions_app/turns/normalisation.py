"""A source's chunks normalised by a seed detector, a few at once, each within its time [IN-4, IN-10, IN-11]."""

import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

from django.conf import settings

from mrpvm.contracts import CallContext, ChunkInput, Normalisation, SeedDetector
from mrpvm.errors import MODEL_ERROR_CODES, EngineTimeout, MRPError, TurnFailed
from mrpvm.kernel.admission import unit_of
from mrpvm.knowledge.chunking import Chunk
from mrpvm.knowledge.ingest import chunk_id_of
from mrpvm.lang import ControlLanguageError, admit
from mrpvm.llm.port import CallScope, ModelSource
from mrpvm.llm.recorder import Recorder
from mrpvm.values import KnowledgeUnit
from sessions_app.turns import shutdown
from sessions_app.turns.machine import workers

CHUNKS_AT_ONCE = 4
_PATIENCE_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWork:
    """What is the same for all chunks of a source."""

    detector: SeedDetector
    context: CallContext
    models: ModelSource
    source_id: str
    source_name: str


def normalise_chunks(work: ChunkWork, chunks: Sequence[Chunk]) -> list[tuple[KnowledgeUnit, ...]]:
    """Give the admitted units of each chunk, in chunk order; all or nothing.

    Raises:
        TurnFailed: NORMALIZER_VALIDATION_FAILED or a model's code, with the chunk's place [IN-11].
        EngineTimeout: KB_INGEST_TIMEOUT.
        TurnInterrupted: the server stops.
    """
    run = _Run(work, chunks)
    try:
        return run.all_units()
    finally:
        run.abandon()


class _Run:
    def __init__(self, work: ChunkWork, chunks: Sequence[Chunk]) -> None:
        self._work = work
        self._chunks = chunks
        self._deadline = time.monotonic() + settings.MRPVM_INGEST_TIMEOUT_MS / 1000
        self._returned: SimpleQueue[tuple[int, Future[Normalisation]]] = SimpleQueue()
        self._stopped = Event()
        self._running: dict[int, tuple[float, Callable[[], None]]] = {}

    def all_units(self) -> list[tuple[KnowledgeUnit, ...]]:
        """Give every chunk's units."""
        units: list[tuple[KnowledgeUnit, ...]] = [()] * len(self._chunks)
        waiting = iter(range(len(self._chunks)))
        for place in islice(waiting, CHUNKS_AT_ONCE):  # zip would take one more than it gives
            self._start(place)
        for _ in self._chunks:
            place, future = self._next()
            units[place] = self._admitted(place, future)
            following = next(waiting, None)
            if following is not None:
                self._start(following)
        return units

    def abandon(self) -> None:
        """Give up what still runs."""
        self._stopped.set()
        for _, give_up in self._running.values():
            give_up()

    def _start(self, place: int) -> None:
        chunk = ChunkInput(
            text=self._chunks[place].text,
            source_id=self._work.source_id,
            source_name=self._work.source_name,
            chunk_id=chunk_id_of(self._work.source_id, place),
            section_title=self._chunks[place].section_title,
        )
        scope = CallScope(
            timeout_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
            max_calls=self._work.detector.descriptor.max_llm_calls,
            stopped=self._stopped.is_set,
            recorder=Recorder(),
        )
        context = replace(self._work.context, model=self._work.models.bind(scope), stopped=self._stopped.is_set)
        call = functools.partial(self._work.detector.normalise, chunk, context)
        until = time.monotonic() + settings.MRPVM_PLUGIN_TIMEOUT_MS / 1000
        self._running[place] = (until, workers.submit(call, lambda future: self._returned.put((place, future))))

    def _next(self) -> tuple[int, "Future[Normalisation]"]:
        while True:
            try:
                place, future = self._returned.get(timeout=_PATIENCE_SECONDS)
            except Empty:
                self._look_at_the_clock()
                continue
            self._running.pop(place)
            return place, future

    def _look_at_the_clock(self) -> None:
        shutdown.interrupt_if_over()
        now = time.monotonic()
        if now >= self._deadline:
            limit = settings.MRPVM_INGEST_TIMEOUT_MS
            raise EngineTimeout(
                f"Reading the source took longer than {limit} ms.",
                code="KB_INGEST_TIMEOUT",
                details={"limit_ms": limit},
            )
        late = [place for place, (until, _) in self._running.items() if until <= now]
        if late:
            raise self._failure(late[0], "PLUGIN_TIMEOUT", "it did not answer in time")

    def _admitted(self, place: int, future: "Future[Normalisation]") -> tuple[KnowledgeUnit, ...]:
        error = future.exception()
        if isinstance(error, MRPError):
            raise self._failure(place, error.code, error.message)
        if error is not None:
            raise self._failure(place, "PLUGIN_EXCEPTION", type(error).__name__)
        normalised = future.result()
        if normalised.status != "success":
            cause = normalised.error
            raise self._failure(place, cause.code, cause.message) if cause else self._failure(place, normalised.status)
        if normalised.context_document is None:
            return ()
        try:
            document = admit(normalised.context_document, "context")
        except ControlLanguageError as refused:
            diagnostics = [str(item) for item in refused.diagnostics]
            raise self._failure(place, refused.code, refused.message, diagnostics=diagnostics) from None
        return tuple(unit_of(ku) for ku in document.kus.values())

    def _failure(self, place: int, code: str, message: str = "it gave no reason", **more: Any) -> TurnFailed:
        plugin_id = self._work.detector.descriptor.id
        return TurnFailed(
            f"{plugin_id} could not read part {place + 1} of {len(self._chunks)}: {message}.",
            code=code if code in MODEL_ERROR_CODES else "NORMALIZER_VALIDATION_FAILED",
            details={"plugin_id": plugin_id, "chunk_index": place, "plugin_code": code, **more},
        )
