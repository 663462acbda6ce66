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
    """Return the tests that carry each rule's mark, as `path::function`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if "mark.rule(" not in (text := path.read_text(encoding="utf-8")):
            continue
        for node in (each for top in ast.parse(text).body for each in (top, *getattr(top, "body", ()))):
            for call in getattr(node, "decorator_list", ()):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.rule":
                    for rule in call.args:
                        found[ast.literal_eval(rule)].append(f"{path.relative_to(ROOT)}::{node.name}")  # type: ignore[attr-defined]
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
    prefixes = {rule.rpartition("-")[0] for rule in rules()}
    pages = [
        *(ROOT / "docs").rglob("*.md"),
        *(path for name in ("mrpvm", "sessions_app") for path in (ROOT / name).rglob("*.py")),
    ]
    unknown = {
        f"{path.relative_to(ROOT)}: {rule}"
        for path in pages
        for rule in MENTION.findall(path.read_text(encoding="utf-8"))
        if rule.rpartition("-")[0] in prefixes and rule not in rules()
    }
    assert unknown == set()


def test_the_names_of_tests_are_at_most_60_characters() -> None:
    names = [
        f"{path.relative_to(ROOT)}::{name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if len(name) > 60
    ]
    assert names == []
