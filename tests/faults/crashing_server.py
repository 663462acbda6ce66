"""`python -m tests.faults.crashing_server N serve ...`: the server, killed at the Nth edge of a turn's transactions.

An edge is the moment before an outermost transaction of a turn begins, or after it ended. So is the moment before or
after several writes that PostgreSQL carries out as one statement outside of a transaction. Edges are counted from 0
over all turns of the process.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

import django
from django.core.management import execute_from_command_line
from django.db import transaction


class Edges:
    """Counts the edges on threads that run a turn, and kills the process at the chosen one."""

    def __init__(self, fatal: int) -> None:
        self._fatal = fatal
        self._passed = 0
        self.of_thread = threading.local()

    def pass_one(self) -> None:
        """Count one edge."""
        if self._passed == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self._passed += 1


def install(fatal: int) -> None:
    """Wrap transactions and turns so that the process dies at edge `fatal`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    django.setup()
    edges = Edges(fatal)
    count_edges(edges)
    _mark_turns(edges)


def count_edges(edges: Edges) -> None:
    """Wrap transactions so that `edges` counts those of its threads."""
    from sessions_app.models.named_sql import writing

    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__
    write_together = writing._write_together

    def counting_enter(self: transaction.Atomic) -> None:
        if getattr(edges.of_thread, "in_turn", False):
            if edges.of_thread.depth == 0:
                edges.pass_one()
            edges.of_thread.depth += 1
        enter(self)

    def counting_leave(self: transaction.Atomic, *raised: Any) -> None:
        leave(self, *raised)
        if getattr(edges.of_thread, "in_turn", False):
            edges.of_thread.depth -= 1
            if edges.of_thread.depth == 0:
                edges.pass_one()

    def counting_write(writes: Sequence[writing.Write]) -> Any:
        is_alone = getattr(edges.of_thread, "in_turn", False) and edges.of_thread.depth == 0
        if is_alone:
            edges.pass_one()
        written = write_together(writes)
        if is_alone:
            edges.pass_one()
        return written

    writing._write_together = counting_write
    transaction.Atomic.__enter__ = counting_enter  # type: ignore[method-assign]
    transaction.Atomic.__exit__ = counting_leave  # type: ignore[method-assign]


def _mark_turns(edges: Edges) -> None:
    from sessions_app.turns import pipeline

    run_turn = pipeline.run_turn

    def marked(*given: Any, **named: Any) -> Any:
        edges.of_thread.in_turn, edges.of_thread.depth = True, 0
        try:
            return run_turn(*given, **named)
        finally:
            edges.of_thread.in_turn = False

    pipeline.run_turn = marked


if __name__ == "__main__":
    install(int(sys.argv[1]))
    execute_from_command_line(["manage.py", *sys.argv[2:]])
