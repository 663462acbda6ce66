"""A record of the outermost transactions, for tests of their size."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection, transaction


@dataclass
class Written:
    """The number of statements of one transaction, and of parameters in those that write."""

    statement_count: int = 0
    value_count: int = 0


@contextmanager
def recorded(monkeypatch: pytest.MonkeyPatch, after: Callable[[], Any] = lambda: None) -> Iterator[list[Written]]:
    """Return the outermost transactions of the block in order; call `after` when one has ended."""
    enter, leave = transaction.Atomic.__enter__, transaction.Atomic.__exit__
    transactions: list[Written] = []
    depth = 0

    def begin(self: transaction.Atomic) -> None:
        nonlocal depth
        enter(self)
        depth += 1
        if depth == 1:
            transactions.append(Written())

    def end(self: transaction.Atomic, *raised: Any) -> None:
        nonlocal depth
        leave(self, *raised)
        depth -= 1
        if depth == 0:
            after()

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if depth and transactions:
            written = transactions[-1]
            written.statement_count += 1
            if not sql.startswith("SELECT"):
                rows = list(params) if many else [params or ()]
                written.value_count += sum(len(row) for row in rows)
                params = rows if many else params
        return execute(sql, params, many, context)

    with monkeypatch.context() as patched, connection.execute_wrapper(count):
        patched.setattr(transaction.Atomic, "__enter__", begin)
        patched.setattr(transaction.Atomic, "__exit__", end)
        yield transactions
