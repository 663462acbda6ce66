"""The reading process: one file on standard input, its text or its units on standard output, within hard limits.

`python -m mrpvm.sources` is started by `mrpvm.sources.process` with an environment that holds no secret.
"""

import os
import resource
import sys

from mrpvm.errors import MRPError, Unreadable
from mrpvm.llm.absent import AbsentModel
from mrpvm.sources import protocol
from mrpvm.sources.limits import IngestLimits
from mrpvm.sources.normalisers import NORMALISERS
from mrpvm.sources.normalising import admitted_units, check_results, chunk_context, chunk_input
from mrpvm.sources.process_limits import MEMORY_BYTES, NICENESS, READING_CPU_SECONDS
from mrpvm.sources.source import ChunkUnits, IngestedSource, ReadSource, finish_source, read_source
from mrpvm.sources.units import check_unit_count


def main() -> None:
    """Read the request, answer it line by line."""
    os.nice(NICENESS)
    raw = sys.stdin.buffer.read()
    _limit(READING_CPU_SECONDS)
    try:
        file, detector = protocol.parse_request(raw)
        del raw
        read = read_source(file)
        _limit(None)
        if detector is None:
            _write(*protocol.read_lines(read))
        else:
            _write(*protocol.ingested_lines(_ingested(read, detector, file.limits)))
    except MRPError as error:
        _write(protocol.refusal(error))
    except MemoryError:
        _write(protocol.refusal(Unreadable("Reading the file takes more memory than a file may take.")))


def _ingested(read: ReadSource, detector: str, limits: IngestLimits) -> IngestedSource:
    normaliser = NORMALISERS[detector]
    context = chunk_context(
        read.info.source_id, AbsentModel(), remaining_ms=30_000, remaining_llm_calls=0, stopped=lambda: False
    )
    results: list[ChunkUnits] = []
    count = 0
    for place in range(len(read.chunks)):
        _write(protocol.line("progress", done=place, of=len(read.chunks)))
        reply = normaliser.normalise(chunk_input(read, place), context)
        results.append(admitted_units(read, place, detector, reply))
        count += len(results[-1].units)
        check_unit_count(count, limits)
    check_results(read, detector, results)
    return finish_source(read, results, limits)


def _limit(cpu_seconds: int | None) -> None:
    """Bound this process: memory, no files of its own, no core dump, and CPU time, which only a signal ends."""
    never = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (never if cpu_seconds is None else cpu_seconds, never))


def _write(*lines: bytes) -> None:
    for line in lines:
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
