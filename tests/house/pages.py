"""The pages of the documentation, and functions that read them."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def relative(path: Path) -> str:
    """Return the path relative to the repository."""
    return str(path.relative_to(ROOT))


@cache
def syntax_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all nodes in the syntax tree of a source file."""
    return below(syntax_tree(path))


@cache
def below(root: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, without contexts and operators, which hold nothing."""
    found = [root]
    for node in found:
        for value in vars(node).values():
            if isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                found.append(value)
    return found


def page(name: str) -> str:
    """Return a page of the documentation."""
    return (ROOT / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """Return the text under a second-level heading."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", page(name), re.MULTILINE | re.DOTALL)
    assert found, f"{name} has no section '{heading}'"
    return found[1]


def rows(text: str, *columns: str) -> list[list[str]]:
    """Return the cells of every table whose header begins with these columns."""
    found: list[list[str]] = []
    is_wanted = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells[: len(columns)] == list(columns):
            is_wanted = True
        elif not cells:
            is_wanted = False
        elif is_wanted and not set(cells[0]) <= {"-"}:
            found.append(cells)
    return found


def bare(cell: str) -> str:
    """Return the first code span of a cell, or its text if it has none."""
    code = re.search(r"`([^`]+)`", cell)
    return code[1] if code else cell


def blocks(name: str, language: str) -> list[str]:
    """Return a page's examples in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)
