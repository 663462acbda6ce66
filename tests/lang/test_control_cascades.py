"""Each error gives one diagnostic, without consequential ones."""

import pytest

from mrpvm.lang import ControlLanguageError, admit
from tests.lang.control_vectors import ACCEPTED, VECTORS, Vector

KNOWLEDGE = VECTORS["A6"].text
BRANCH = VECTORS["A13"].text.splitlines()[:10]


def findings(text: str, kind: str = "context", **refs: str) -> list[tuple[str, int, str | None]]:
    """Return the code, line and field of every diagnostic; the list is empty if the document is admitted."""
    try:
        admit(text, kind, refs)
    except ControlLanguageError as error:
        return [(item.code.value, item.line, item.field) for item in error.diagnostics]
    return []


def count_findings(vector: Vector, lines: list[str]) -> int:
    return len(findings("\n".join(lines), vector.kind, **dict.fromkeys(vector.frames, "frame")))


def damaged(line: str, damage: str) -> list[str]:
    """Return what stands in the place of `line`."""
    statement_id, command, tail = line.split(maxsplit=2)
    return {
        "misspelt": [f"{statement_id} {command}x {tail}"],
        "a word of no meaning": [f"{statement_id} constructor {tail}"],
        "twice": [line, line],
        "too long": [f"{line} more"],
        "too short": [f"{statement_id} {command} {tail.split()[0]}"],
        "no sigil": [f"{statement_id} {command} {tail.replace('$', '', 1)}"],
    }[damage]


@pytest.mark.rule("LANG-35")
@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector.name)
def test_a_lost_line_is_at_most_one_cause(vector: Vector) -> None:
    lines = vector.text.splitlines()
    for number in range(len(lines)):
        assert count_findings(vector, lines[:number] + lines[number + 1 :]) <= 1, lines[number]


@pytest.mark.rule("LANG-35")
@pytest.mark.parametrize("vector", ACCEPTED, ids=lambda vector: vector.name)
@pytest.mark.parametrize("damage", ["misspelt", "a word of no meaning", "twice", "too long", "too short", "no sigil"])
def test_a_damaged_line_is_one_cause(vector: Vector, damage: str) -> None:
    lines = [line for line in vector.text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        changed = damaged(line, damage)
        is_same = [item.split() for item in changed] == [line.split()]
        expected = 0 if is_same else 1
        if damage == "too short" and line.split()[1] == "result":
            expected = 2  # the record that it linked has no name any more, so the link cannot be resolved
        found = count_findings(vector, lines[:number] + changed + lines[number + 1 :])
        assert found == expected, changed


@pytest.mark.rule("LANG-26")
def test_independent_missing_fields_are_all_reported() -> None:
    lines = KNOWLEDGE.splitlines()
    assert findings(lines[0]) == [
        ("MISSING_REQUIRED_FIELD", 1, name) for name in ("sourceId", "chunkId", "role", "topic", "claim")
    ]


@pytest.mark.rule("LANG-24")
def test_a_claim_satisfies_a_unit_whose_role_is_missing() -> None:
    lines = [line for line in KNOWLEDGE.splitlines() if " role " not in line]
    assert findings("\n".join(lines)) == [("MISSING_REQUIRED_FIELD", 1, "role")]


def test_two_faults_of_one_object_are_reported_in_turn() -> None:
    both = KNOWLEDGE + "@u1 set $k1 role Rumour\n@u2 set $k1 title [a]\n"
    assert findings(both) == [("INVALID_ROLE_VALUE", 7, "role")]


def test_faults_of_objects_are_reported_in_document_order() -> None:
    lines = [
        '@i1 intent define "a"', '@i2 intent ponder "b"', "@o2 set $i2 output x", '@i3 intent define "c"',
        "@o3 set $i3 mood x",
    ]  # fmt: skip
    assert findings("\n".join(lines), "intent") == [
        ("MISSING_REQUIRED_FIELD", 1, "output"),
        ("INVALID_ACT_VALUE", 2, "act"),
        ("UNKNOWN_FIELD", 5, "mood"),
    ]


def test_an_early_assignment_counts_for_its_object() -> None:
    text = '@o1 set $i1 output a\n@s1 seed $i1 direct define "x"\n@i1 intent define "quorum"\n'
    assert findings(text, "intent") == [("CONSTRUCTOR_REQUIRED_FIRST", 1, None)]


def test_an_unresolved_reference_leaves_other_objects() -> None:
    lines = [*BRANCH, "@s2 seed $i9 direct define x", "@t1 status $b1 active", '@x1 seed $i1 direct define "y"']
    assert findings("\n".join(lines), "mixed") == [("INVALID_ARGUMENT_KIND", 11, "focus")]


@pytest.mark.rule("LANG-35")
def test_document_level_errors_only_when_nothing_else_failed() -> None:
    assert findings("", "context") == [("MISSING_REQUIRED_FIELD", 1, "ku")]
    assert findings("@v1 validate x\n", "intent") == [
        ("MISSING_REQUIRED_FIELD", 1, name) for name in ("strength", "partialAllowed", "preserveConstraints")
    ]
    assert findings("", "mixed") == []
