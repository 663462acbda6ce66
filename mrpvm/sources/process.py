"""The server's side of the reading process: started, listened to, and ended with its limits."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mrpvm.errors import EngineTimeout, MRPError, Unreadable
from mrpvm.knowledge.indexing import IndexEntry
from mrpvm.processes import Finished, ProcessLimits, run_process
from mrpvm.sources import protocol
from mrpvm.sources.process_limits import OUTPUT_BYTES
from mrpvm.sources.source import IngestedSource, ReadSource, SourceFile
from mrpvm.values import KnowledgeUnit

_ROOT = Path(__file__).resolve().parent.parent.parent
type OnProgress = Callable[[int, int], None]
"""Takes how many of a source's chunks are done, and of how many."""


class ReadingProcess:
    """One file, read in a process of its own with limits, so that it cannot block or crash the server.

    Args:
        stopped: looked at while it runs; true, or anything it raises, ends the process.
    """

    def __init__(
        self,
        *,
        timeout_ms: int,
        progress: OnProgress = lambda done, of: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._timeout_ms = timeout_ms
        self._progress = progress
        self._stopped = stopped
        self._unfinished: list[bytes] = []
        self._units: list[tuple[KnowledgeUnit, IndexEntry]] = []
        self._result: ReadSource | IngestedSource | MRPError | None = None

    def read(self, file: SourceFile) -> ReadSource:
        """Return the file's text in chunks.

        Raises:
            Unreadable, InvalidInput, TooLarge: as for `read_source`; also a file that takes too much memory or time.
            EngineTimeout: KB_INGEST_TIMEOUT.
        """
        return self._run(file, None, ReadSource)

    def ingest(self, file: SourceFile, detector: str) -> IngestedSource:
        """Return the file as a finished source, its chunks normalised by one of `NORMALISERS`.

        Raises:
            TurnFailed: a chunk could not be normalised.
            Unreadable, InvalidInput, TooLarge, EngineTimeout: as for `read`.
        """
        return self._run(file, detector, IngestedSource)

    def _run[Result: ReadSource | IngestedSource](
        self, file: SourceFile, detector: str | None, expected: type[Result]
    ) -> Result:
        try:
            finished = self._finished(protocol.request(file, detector))
        except (ValueError, TypeError, KeyError):  # not the program's protocol: the file has broken it
            raise _unreadable() from None
        if isinstance(self._result, MRPError):
            raise self._result
        if isinstance(self._result, expected) and finished.exit_code == 0:
            return self._result
        if finished.outcome == "timed-out":
            raise EngineTimeout(
                f"Reading the source took longer than {self._timeout_ms} ms.",
                code="KB_INGEST_TIMEOUT",
                details={"limit_ms": self._timeout_ms},
            )
        raise _unreadable()

    def _finished(self, document: bytes) -> Finished:
        return run_process(
            [sys.executable, "-m", "mrpvm.sources"],
            document,
            ProcessLimits(timeout_ms=self._timeout_ms, output_bytes=OUTPUT_BYTES),
            directory=_ROOT,
            environment={"PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1"},
            take=self._take,
            stopped=self._stopped,
        )

    def _take(self, piece: bytes) -> None:
        if b"\n" not in piece:
            self._unfinished.append(piece)
            return
        *lines, rest = b"".join([*self._unfinished, piece]).split(b"\n")
        self._unfinished = [rest]
        for line in lines:
            self._hear(json.loads(line))

    def _hear(self, message: dict[str, Any]) -> None:
        match message["kind"]:
            case "progress":
                self._progress(message["done"], message["of"])
            case "units":
                self._units += protocol.parse_units(message)
            case "read":
                self._result = protocol.parse_read(message)
            case "ingested":
                self._result = protocol.parse_ingested(message, self._units)
            case "refused":
                self._result = protocol.refused(message)


def _unreadable() -> Unreadable:
    return Unreadable("The file cannot be read: it takes more time or memory than a file may take.")
