"""Runs a turn's programs: the only module that deals with threads, timeouts and parallelism.

Calls of quick plugins run on the turn's own thread, all others on worker threads. Parallel programs only switch at
calls on workers; between these each program runs as far as it can.
"""

import functools
import logging
import time
from collections import deque
from collections.abc import Callable
from copy import replace
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from msgspec import Struct

from mrpvm.contracts import PluginError
from mrpvm.errors import EngineTimeout, MRPError, StorageUnavailable
from mrpvm.kernel.calls import CallReturn, Fork, PluginCall, Program, Replies, unknown_reply
from mrpvm.kernel.run import Tick, TurnRun
from mrpvm.kernel.workers import Workers
from mrpvm.llm.redaction import redacted, without_secrets
from mrpvm.trace.events import AnswerDelta

TICK_MS = 100

logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Task:
    program: Program[Any]
    parent: "_Task | None" = None
    index: int = 0
    waiting: deque["_Task"] = field(default_factory=deque)
    results: list[Any] = field(default_factory=list)
    open_count: int = 0


@dataclass(eq=False, slots=True)
class _Pending:
    task: _Task
    call: PluginCall
    deadline: float
    abandon: Callable[[], None]


class Scheduler:
    """Runs one program and its forks; all programs advance on the calling thread."""

    def __init__(self, run: TurnRun, workers: Workers, tick: Tick, replies: Replies = unknown_reply) -> None:
        self._run = run
        self._workers = workers
        self._tick = tick
        self._replies = replies
        self._ready: deque[tuple[_Task, Any]] = deque()
        self._pending: dict[str, _Pending] = {}
        self._returned: SimpleQueue[tuple[str, CallReturn | StorageUnavailable | str]] = SimpleQueue()

    def run(self, program: Program[Any]) -> Any:
        """Return the program's result.

        Raises:
            MRPError: the error that ended the program.
            EngineTimeout: the turn's time limit passed.
            StorageUnavailable: a plugin could not read the database, so no other plugin could either.
        """
        root = _Task(program)
        self._ready.append((root, None))
        try:
            while True:
                while self._ready:
                    task, value = self._ready.popleft()
                    ended, result = self._advance(task, value)
                    if ended and task is root:
                        if isinstance(result, MRPError):
                            raise result
                        return result
                self._wait()
        finally:
            for pending in self._pending.values():
                pending.abandon()

    def _advance(self, task: _Task, value: Any) -> tuple[bool, Any]:
        """Resume a program until it has to wait; return whether it ended, and its result or error."""
        while True:
            try:
                request = task.program.send(value)
            except StopIteration as end:
                result = end.value
            except StorageUnavailable:
                raise
            except MRPError as error:
                result = error
            else:
                if isinstance(request, Fork):
                    self._fork(task, request)
                    return False, None
                value = self._call(task, request)
                if value is None:
                    return False, None
                continue
            if task.parent is not None:
                self._child_ended(task, task.parent, result)
            return True, result

    def _fork(self, task: _Task, fork: Fork) -> None:
        children = [_Task(program, task, index) for index, program in enumerate(fork.programs)]
        task.results = [None] * len(children)
        task.open_count = len(children)
        width = self._run.request.limits.max_parallel_seeds
        task.waiting = deque(children[width:])
        self._ready.extend((child, None) for child in children[:width])

    def _child_ended(self, child: _Task, parent: _Task, result: Any) -> None:
        parent.results[child.index] = result
        parent.open_count -= 1
        if parent.waiting:
            self._ready.append((parent.waiting.popleft(), None))
        elif parent.open_count == 0:
            self._ready.append((parent, parent.results))

    def _call(self, task: _Task, call: PluginCall) -> CallReturn | None:
        """Make a call; return its result, or None if it runs on a worker."""
        calls, needed = call.frame.calls, call.descriptor.max_llm_calls
        if not calls.reserve(needed):
            message = f"{needed} model calls may be needed, {calls.remaining} are left."
            return CallReturn(skipped=True, error=PluginError(code="ENGINE_BUDGET_EXCEEDED", message=message))
        reply = self._replies(call)
        if reply is not None:
            self._run.take_recorder(call.execution_id, reply.recorder)
            self._look()
        elif call.descriptor.is_quick:
            reply = self._call_here(call)
        else:
            self._start(task, call)
            return None
        calls.settle(needed, 0)
        return reply

    def _start(self, task: _Task, call: PluginCall) -> None:
        """Make a call on a worker; the task is resumed with its result."""
        timeout_ms, deadline = self._time_of(call)

        def write(text: str) -> None:
            if call.writes is not None and text:
                self._returned.put((call.execution_id, text))

        def returned(future: Any) -> None:
            error = future.exception()
            if isinstance(error, StorageUnavailable):
                self._returned.put((call.execution_id, error))
                return
            reply = (
                CallReturn(value=_reported(future.result()))
                if error is None
                else CallReturn(error=self._failure(call, error))
            )
            self._returned.put((call.execution_id, reply))

        context = self._run.context(
            call.execution_id, call.frame, call.descriptor, timeout_ms, self._run.stop.is_set, write
        )
        abandon = self._workers.submit(functools.partial(call.invoke, context), returned)
        self._pending[call.execution_id] = _Pending(task, call, deadline, abandon)

    def _time_of(self, call: PluginCall) -> tuple[int, float]:
        """Return a call's time limit in milliseconds, and when it ends if it begins now."""
        timeout_ms = self._run.budget.call_timeout_ms(call.descriptor.timeout_ms)
        return timeout_ms, time.monotonic() + timeout_ms / 1000

    def _call_here(self, call: PluginCall) -> CallReturn:
        """Make a call on this thread; as on a worker, a result after the deadline is discarded."""
        timeout_ms, deadline = self._time_of(call)

        def stopped() -> bool:
            return self._run.stop.is_set() or time.monotonic() >= deadline

        context = self._run.context(call.execution_id, call.frame, call.descriptor, timeout_ms, stopped)
        try:
            reply = CallReturn(value=_reported(call.invoke(context)))
        except StorageUnavailable:
            raise
        except (Exception, SystemExit) as error:
            reply = CallReturn(error=self._failure(call, error))
        if time.monotonic() >= deadline:
            reply = _too_late(call)
        self._look()
        return reply

    def _failure(self, call: PluginCall, error: BaseException) -> PluginError:
        """Return a plugin's exception without its stack, which is logged, and with secrets removed."""
        if isinstance(error, MRPError):
            return _cleaned(PluginError(code=error.code, message=error.message, details=error.details))
        logger.error(
            "plugin %s failed in turn %s: %s: %s",
            call.descriptor.id,
            self._run.request.request_id,
            type(error).__name__,
            error,
            exc_info=error,
        )
        return PluginError(code="PLUGIN_EXCEPTION", message=without_secrets(f"{type(error).__name__}: {error}"))

    def _wait(self) -> None:
        """Wait for the next call to return and tick meanwhile; calls over their time limit are abandoned."""
        try:
            execution_id, reply = self._returned.get(timeout=self._patience_seconds())
        except Empty:
            self._give_up_overdue()
        else:
            # The result of an abandoned call is ignored.
            if (pending := self._pending.get(execution_id)) is not None:
                if isinstance(reply, str):
                    self._pass_on(pending.call, reply)
                    self._give_up_overdue()
                elif isinstance(reply, StorageUnavailable):
                    raise reply
                else:
                    self._resume(self._pending.pop(execution_id), reply)
        self._look()

    def _look(self) -> None:
        """Tick, and end the turn if its time is over."""
        self._tick()
        if self._run.budget.remaining_ms <= 0:
            limit = self._run.request.limits.request_timeout_ms
            raise EngineTimeout(f"The turn took longer than {limit} ms.", details={"limit_ms": limit})

    def _pass_on(self, call: PluginCall, text: str) -> None:
        """Record a piece of an answer that a plugin is writing."""
        writes = call.writes
        if writes is None:
            return
        self._run.has_streamed |= not writes.is_draft
        self._run.emit(
            AnswerDelta(
                frame_id=call.frame.id,
                execution_id=call.execution_id,
                plugin_id=writes.plugin_id,
                delta=text,
                is_draft=writes.is_draft,
                used=writes.used,
            )
        )

    def _patience_seconds(self) -> float:
        first = min((pending.deadline for pending in self._pending.values()), default=0.0)
        return max(0.0, min(TICK_MS / 1000, first - time.monotonic()))

    def _give_up_overdue(self) -> None:
        now = time.monotonic()
        for execution_id in [key for key, pending in self._pending.items() if pending.deadline <= now]:
            pending = self._pending.pop(execution_id)
            pending.abandon()
            self._resume(pending, _too_late(pending.call))

    def _resume(self, pending: _Pending, reply: CallReturn) -> None:
        pending.call.frame.calls.settle(pending.call.descriptor.max_llm_calls, 0)
        self._ready.append((pending.task, reply))


def _too_late(call: PluginCall) -> CallReturn:
    message = f"{call.descriptor.name} did not answer in time."
    return CallReturn(error=PluginError(code="PLUGIN_TIMEOUT", message=message))


def _reported(value: Any) -> Any:
    """Return a plugin's result; secrets are removed from an error in it, as from a raised exception."""
    error = getattr(value, "error", None)
    if isinstance(value, Struct) and isinstance(error, PluginError):
        return replace(value, error=_cleaned(error))
    return value


def _cleaned(error: PluginError) -> PluginError:
    return replace(error, message=without_secrets(error.message), details=redacted(error.details))
