"""Every rule of docs/spec is shown by a test, and every test names rules that exist."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from tests.server import ROOT

SPEC = ROOT / "docs/spec"
RULE = re.compile(r'^<a id="([a-z]+-\d+)"></a>\*\*([A-Z]+-\d+)\*\* \S', re.MULTILINE)
MENTION = re.compile(r"\b([A-Z]{3,}-\d+)\b")
CITATION = re.compile(r"\[([A-Z]{1,12}-\d+)\b")


@cache
def rules() -> dict[str, Path]:
    """Return the page of each rule by its id."""
    found: dict[str, Path] = {}
    for path in sorted(SPEC.glob("*.md")):
        for anchor, rule in RULE.findall(path.read_text(encoding="utf-8")):
            assert anchor == rule.lower()
            assert rule not in found, f"{rule} stands twice"
            found[rule] = path
    return found


@cache
def marks() -> dict[str, list[str]]:
    """Return where each rule is marked, as `path:line`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if "mark.rule(" not in (text := path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.rule":
                for rule in node.args:
                    found[ast.literal_eval(rule)].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_every_rule_has_a_test() -> None:
    assert len(rules()) > 600
    assert sorted(rules().keys() - marks().keys()) == []


def test_every_mark_names_a_rule() -> None:
    assert {rule: tests for rule, tests in marks().items() if rule not in rules()} == {}


def test_each_page_has_one_prefix() -> None:
    prefixes: dict[Path, set[str]] = defaultdict(set)
    for rule, path in rules().items():
        prefixes[path].add(rule.rpartition("-")[0])
    assert {path.name: names for path, names in prefixes.items() if len(names) > 1} == {}
    together = [name for names in prefixes.values() for name in names]
    assert len(together) == len(set(together))


def test_rules_that_are_mentioned_exist() -> None:
    """An id in brackets is a citation, whatever its prefix."""
    prefixes = {rule.rpartition("-")[0] for rule in rules()}
    sources = [path for name in ("mrpvm", "sessions_app", "bench", "tests") for path in (ROOT / name).rglob("*.py")]
    unknown: set[str] = set()
    for path in (*(ROOT / "docs").rglob("*.md"), *sources):
        text = path.read_text(encoding="utf-8")
        cited = CITATION.findall(text) if path in sources else []
        named = [rule for rule in MENTION.findall(text) if rule.rpartition("-")[0] in prefixes]
        unknown |= {f"{path.relative_to(ROOT)}: {rule}" for rule in (*named, *cited) if rule not in rules()}
    assert unknown == set()


def test_the_names_of_tests_are_at_most_60_characters() -> None:
    names = [
        f"{path.relative_to(ROOT)}::{name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if len(name) > 60
    ]
    assert names == []
