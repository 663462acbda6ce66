"""English word lists are only in `mrpvm.english`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrpvm.english.words.lexicon import STOP_WORDS
from tests.house.pages import ROOT, nodes

# One process parses the sources.
pytestmark = pytest.mark.xdist_group("sources")

_FEWEST = 3
"""Function words that make strings beside each other, or the branches of a pattern, a word list."""
_SECRETS = "mrpvm/llm/redaction.py"
"""The forms of secrets are patterns of their own, in which such words stand between a name and its value."""


def test_no_other_module_holds_a_word_list() -> None:
    sources = [path for room in ("mrpvm", "sessions_app") for path in (ROOT / room).rglob("*.py")]
    names = {str(path.relative_to(ROOT)) for path in sources if any(_word_lists(path))}
    assert {name for name in names if not name.startswith("mrpvm/english/")} == {_SECRETS}


def _word_lists(path: Path) -> Iterator[list[str]]:
    for node in nodes(path):
        found: list[str] = []
        match node:
            case ast.Call(func=ast.Name(id="word_class"), args=[ast.Constant(value=str(text))]):
                yield text.split()
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
                found = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            case ast.Constant(value=str(text)) if "|" in text:
                found = re.findall(r"(?<![\\\w])[a-z']+(?=[|)])", text)
        if sum(word in STOP_WORDS for word in found) >= _FEWEST:
            yield found
