"""A source's chunks normalised by a plugin on the server's threads, a few at once, each in its time."""

import functools
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event

from django.conf import settings

from mrpvm.contracts import Normalisation, SeedDetector
from mrpvm.llm.port import CallScope, ModelSource
from mrpvm.llm.recorder import Recorder
from mrpvm.sources.limits import IngestLimits
from mrpvm.sources.normalising import admitted_units, check_results, chunk_context, chunk_input, failure, raised
from mrpvm.sources.process import OnProgress
from mrpvm.sources.source import ChunkUnits, ReadSource
from mrpvm.sources.units import check_unit_count
from sessions_app.plugin_threads import workers

CHUNKS_AT_ONCE = 4
_PATIENCE_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """A detector with its models, and the callbacks of the ingest that it works for.

    `watch` raises when the ingest must not continue; `progress` hears how many chunks are done.
    """

    detector: SeedDetector
    models: ModelSource
    watch: Callable[[], object]
    progress: OnProgress


def normalise_chunks(work: Normaliser, read: ReadSource, limits: IngestLimits) -> list[ChunkUnits]:
    """Return the result of each chunk, in chunk order; all or nothing but for rejections.

    Raises:
        TooLarge: KB_VALIDATION_MAX_UNITS_PER_SOURCE, once the chunks that are done have too many.
        TurnFailed: NORMALIZER_VALIDATION_FAILED or a model's code, with the chunk's place.
        MRPError: what `watch` raises.
    """
    run = _Normalising(work, read)
    try:
        results = run.all_results(limits)
    finally:
        run.abandon()
    check_results(read, work.detector.descriptor.id, results)
    return results


class _Normalising:
    def __init__(self, work: Normaliser, read: ReadSource) -> None:
        self._work = work
        self._read = read
        self._plugin_id = work.detector.descriptor.id
        self._returned: SimpleQueue[tuple[int, Future[Normalisation]]] = SimpleQueue()
        self._stopped = Event()
        self._running: dict[int, tuple[float, Callable[[], None]]] = {}

    def all_results(self, limits: IngestLimits) -> list[ChunkUnits]:
        """Return every chunk's result."""
        count, unit_count = len(self._read.chunks), 0
        results = [ChunkUnits()] * count
        waiting = iter(range(count))
        for place in islice(waiting, CHUNKS_AT_ONCE):  # zip would take one more than it gives
            self._start(place)
        for done in range(count):
            self._work.progress(done, count)
            place, future = self._next()
            results[place] = self._result(place, future)
            unit_count += len(results[place].units)
            check_unit_count(unit_count, limits)
            following = next(waiting, None)
            if following is not None:
                self._start(following)
        return results

    def abandon(self) -> None:
        """Cancel what still runs."""
        self._stopped.set()
        for _, give_up in self._running.values():
            give_up()

    def _start(self, place: int) -> None:
        scope = CallScope(
            timeout_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
            max_calls=self._work.detector.descriptor.max_llm_calls,
            stopped=self._stopped.is_set,
            recorder=Recorder(),
        )
        context = chunk_context(
            self._read.info.source_id,
            self._work.models.bind(scope),
            remaining_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
            remaining_llm_calls=settings.MRPVM_MAX_LLM_CALLS,
            stopped=self._stopped.is_set,
        )
        call = functools.partial(self._work.detector.normalise, chunk_input(self._read, place), context)
        until = time.monotonic() + settings.MRPVM_PLUGIN_TIMEOUT_MS / 1000
        self._running[place] = (until, workers.submit(call, lambda future: self._returned.put((place, future))))

    def _next(self) -> tuple[int, "Future[Normalisation]"]:
        while True:
            self._work.watch()  # also while chunks return faster than anybody could wait for them
            if self._returned.empty():
                self._give_up_if_late()
            with suppress(Empty):
                place, future = self._returned.get(timeout=_PATIENCE_SECONDS)
                self._running.pop(place)
                return place, future

    def _give_up_if_late(self) -> None:
        now = time.monotonic()
        late = [place for place, (until, _) in self._running.items() if until <= now]
        if late:
            raise failure(self._read, late[0], self._plugin_id, "PLUGIN_TIMEOUT", "it did not answer in time")

    def _result(self, place: int, future: "Future[Normalisation]") -> ChunkUnits:
        error = future.exception()
        if error is not None:
            raise raised(self._read, place, self._plugin_id, error)
        return admitted_units(self._read, place, self._plugin_id, future.result())
