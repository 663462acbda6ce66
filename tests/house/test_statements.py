"""Every numbered statement stands in docs/statements.md once, with tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

from tests.server import ROOT

COUNTS = {
    "O": 53,
    "SOP": 37,
    "I": 12,
    "PL": 46,
    "BP": 53,
    "K": 57,
    "R": 12,
    "G": 18,
    "UI": 16,
    "KB": 19,
    "KU": 17,
    "IN": 17,
    "S": 36,
    "T": 42,
    "API": 20,
    "L": 8,
}
SOURCES = {
    "E": (5, 6, 10, 11, 12, 15),
    "LV": (
        1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27, 28, 30, 31, 33, 34, 36, 37, 39, 40, 42,
        43, 45, 46, 48, 49, 52, 54,
    ),
    "HAL": (
        4, 5, 6, 7, 8, 10, 11, 13, 20, 21, 22, 24, 26, 30, 32, 33, 34, 35, 41, 44, 50, 51, 52, 60, 61, 62, 64, 72,
        73, 75,
    ),
    "HV": (
        1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27, 28, 30, 31, 33, 34, 36, 37, 39, 40, 42,
        43,
    ),
    "KTS": (
        2, 3, 4, 5, 10, 12, 14, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
        41, 42, 43, 44, 45, 46, 50, 51, 52,
    ),
    "KV": (
        1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22, 24, 25, 27, 28, 30, 31, 33, 34, 36, 37, 39, 40, 42,
        43, 45, 46,
    ),
}  # fmt: skip
"""Statements and vectors whose source leaves numbers out, or of which a test can show these alone."""
ROW = re.compile(r"^\| ([A-Z]+-\d+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
LINK = re.compile(r"\[(test_\w+)\]\(\.\./(tests/[\w/]+\.py)\)")


def table() -> list[tuple[str, str]]:
    """Return each row's number and the cell with its tests."""
    return [(row[1], row[3]) for row in ROW.finditer((ROOT / "docs/statements.md").read_text(encoding="utf-8"))]


@cache
def functions(path: Path) -> frozenset[str]:
    """Return the names of all functions and methods of a module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, kinds)
    )


def test_every_statement_stands_in_the_table_once_and_in_order() -> None:
    expected = [f"{kind}-{number}" for kind, count in COUNTS.items() for number in range(1, count + 1)]
    assert [number for number, _ in table()] == expected + [
        f"{kind}-{number}" for kind, numbers in SOURCES.items() for number in numbers
    ]


def test_every_statement_has_a_test_that_exists() -> None:
    named = {number: LINK.findall(cell) for number, cell in table()}
    assert [number for number, tests in named.items() if not tests] == []
    gone = [
        f"{number}: {path}::{name}"
        for number, tests in named.items()
        for name, path in tests
        if not (ROOT / path).exists() or name not in functions(ROOT / path)
    ]
    assert gone == []
