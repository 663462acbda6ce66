"""Running a program in its own process group, with limits of time and output; no process outlives the call.

There is no sandbox here: what else a program may do is up to whoever starts it.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from msgspec import Struct

_LOOK_SECONDS = 0.05
"""How often a silent process is looked at: whether it ended, whether its time is over."""
_PIECE_BYTES = 65_536


class ProcessLimits(Struct, frozen=True, kw_only=True):
    """Wall-clock time of the whole run, bytes of standard output; what exceeds `error_bytes` of errors is dropped."""

    timeout_ms: int
    output_bytes: int
    error_bytes: int = 65_536


class Finished(Struct, frozen=True, kw_only=True):
    """How a process ended; `exit_code` is negative for a signal, None when it was killed here."""

    outcome: Literal["exited", "timed-out", "flooded", "stopped"]
    exit_code: int | None
    output: bytes
    errors: bytes


def run_process(
    command: Sequence[str],
    standard_input: bytes,
    limits: ProcessLimits,
    *,
    directory: Path,
    environment: Mapping[str, str],
    take: Callable[[bytes], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Finished:
    """Run a program with `standard_input` until it exits or a limit is reached.

    The program leads a process group of its own; when it has ended, for whatever reason, what is left of the group is
    killed. Output is read while the process runs, never more than the limit.

    Args:
        environment: the whole environment of the program; nothing of the server's is added.
        take: gets each piece of standard output as it comes; then `Finished.output` stays empty.
        stopped: looked at every 50 ms; once true the group is killed.

    Raises:
        OSError: the program cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603  (the caller says what may run)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=directory,
        env=dict(environment),
        start_new_session=True,
    )
    run = _RunningProcess(process, standard_input, limits, take)
    try:
        outcome = run.until_over(stopped)
    finally:
        run.kill_group()
    exit_code = process.returncode if outcome == "exited" else None
    return Finished(outcome=outcome, exit_code=exit_code, output=bytes(run.output), errors=bytes(run.errors))


class _RunningProcess:
    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        standard_input: bytes,
        limits: ProcessLimits,
        take: Callable[[bytes], None] | None,
    ) -> None:
        self._process = process
        self._unsent = memoryview(standard_input)
        self._limits = limits
        self._take = take
        self._deadline = time.monotonic() + limits.timeout_ms / 1000
        self._taken_bytes = 0
        self.output, self.errors = bytearray(), bytearray()
        self._selector = selectors.DefaultSelector()
        pipes = ((process.stdin, self._write), (process.stdout, self._read_output), (process.stderr, self._read_errors))
        for pipe, move in pipes:
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                event = selectors.EVENT_WRITE if pipe is process.stdin else selectors.EVENT_READ
                self._selector.register(pipe, event, move)

    def until_over(self, stopped: Callable[[], bool]) -> Literal["exited", "timed-out", "flooded", "stopped"]:
        """Move bytes until the process has exited or must not continue."""
        while True:
            has_exited = self._has_exited()
            moved = self._move(0 if has_exited else _LOOK_SECONDS)
            if self._taken_bytes > self._limits.output_bytes:
                return "flooded"
            if has_exited and not moved:  # a grandchild may hold the pipes open for ever
                return "exited"
            if stopped():
                return "stopped"
            if time.monotonic() >= self._deadline:
                return "timed-out"

    def kill_group(self) -> None:
        """Kill what is left of the group. The leader is not reaped before, so its number cannot be another's by now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _has_exited(self) -> bool:
        if not self._selector.get_map():
            time.sleep(_LOOK_SECONDS / 10)
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, options) is not None

    def _move(self, patience_seconds: float) -> bool:
        """Move what can be moved at once; return whether a byte was read."""
        if not self._selector.get_map():
            return False
        moved = [key.data(key.fileobj) for key, _ in self._selector.select(patience_seconds)]
        return any(moved)

    def _write(self, pipe: IO[bytes]) -> bool:
        try:
            written = os.write(pipe.fileno(), self._unsent[:_PIECE_BYTES]) if self._unsent else 0
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self._unsent = self._unsent[:0]
            written = 0
        self._unsent = self._unsent[written:]
        if not self._unsent:
            self._close(pipe)
        return False

    def _read_output(self, pipe: IO[bytes]) -> bool:
        piece = self._read(pipe)
        self._taken_bytes += len(piece)
        if self._taken_bytes > self._limits.output_bytes:
            return bool(piece)
        if self._take is not None and piece:
            self._take(piece)
        elif piece:
            self.output += piece
        return bool(piece)

    def _read_errors(self, pipe: IO[bytes]) -> bool:
        piece = self._read(pipe)
        self.errors += piece[: self._limits.error_bytes - len(self.errors)]
        return bool(piece)

    def _read(self, pipe: IO[bytes]) -> bytes:
        try:
            piece = os.read(pipe.fileno(), _PIECE_BYTES)
        except BlockingIOError:
            return b""
        if not piece:
            self._close(pipe)
        return piece

    def _close(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
