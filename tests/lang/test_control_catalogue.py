"""The tables of the control language equal those of the specification: commands, fields, kinds of document."""

import ast
from pathlib import Path

import pytest

import mrpvm.lang
from mrpvm.lang import ControlLanguageError, DocumentKind, admit
from mrpvm.lang.schema import COMMANDS, COMMANDS_OF_KIND, NEEDED_OBJECT, OBJECTS

SIGNATURES = """
intent <act> <target>
seed <intent> <mode> <action> <focus>
subproblem <intent> <goal>
plugin <type> <id>
ku <kuType> <kuId>
validate <mode>
policy <frame> <level> <closureMode> <maxFrontier> <minFamilies> <maxComparisons> <validationFloor>
objective <frame> <items>
candidate <frame> <branch> <result> <strength>
compare <frame> <items> <text>
challenge <frame> <target> <goal> <kind>
branch <intent> <seed> <plugin>
result_record <kind>
set <object> <field> <value>
constrain <object> <constraint>
allows <subproblem> <regime>
needs <branch> <validate>
uses <branch> <ku>
supports <result> <ku>
describes <ku> <plugin>
parent <ku> <ku>
derived_from <ku> <ku>
split_from <seed> <seed>
result <branch> <result>
status <object> <state>
fail <branch> <reason>
deactivate <seed> <reason>
"""
FIELDS = {
    "intent": "context criterion evidence output outputLabel",
    "seed": "domain evidenceNeed state priority",
    "subproblem": "reason successSignal",
    "plugin": "name description acceptsTasks acceptsModes acceptsKinds acceptsStatuses rejectsKinds rejectsRules"
    " outputs validates cost",
    "ku": "title topic claim procedure condition utilityNote textBody sectionTitle sourceId chunkId hash sourceName"
    " sourceType author unitType chunkType symbolicSubject symbolicObject ingestedAt createdAt knowledgeDate role"
    " symbolicRelation confidence chunkIndex unitIndex charStart charEnd utilityActs phaseScopes",
    "validate": "strength partialAllowed preserveConstraints",
    "policy": "validationFloor",
    "objective": "",
    "candidate": "score selected",
    "compare": "status summary criterion",
    "challenge": "status resolution severity",
    "branch": "status failureReason",
    "result": "validationStatus preservesConstraints structuralComplete body",
}


@pytest.mark.rule("LANG-1", "LANG-10")
def test_the_commands_and_their_arguments() -> None:
    """These and no others."""
    expected = {line.split()[0]: line for line in SIGNATURES.strip().splitlines()}
    assert {name: command.signature for name, command in COMMANDS.items()} == expected


@pytest.mark.rule("UNIT-1", "LANG-14")
def test_the_fields_of_every_kind() -> None:
    found = {kind.value: set(schema.fields) for kind, schema in OBJECTS.items()}
    expected = {kind: set(names.split()) for kind, names in FIELDS.items()}
    assert found == {**expected, "frame": set()}


@pytest.mark.rule("LANG-30")
def test_the_kinds_of_document() -> None:
    intents = "intent seed subproblem validate set constrain allows split_from status deactivate"
    assert set(COMMANDS_OF_KIND[DocumentKind.INTENT]) == set(intents.split())
    assert set(COMMANDS_OF_KIND[DocumentKind.CONTEXT]) == {"ku", "set", "parent", "derived_from"}
    assert set(COMMANDS_OF_KIND[DocumentKind.MIXED]) == set(COMMANDS)
    assert {kind: needed.value for kind, needed in NEEDED_OBJECT.items()} == {
        DocumentKind.INTENT: "intent", DocumentKind.CONTEXT: "ku",
    }  # fmt: skip


@pytest.mark.rule("LANG-10")
@pytest.mark.parametrize("name", sorted(COMMANDS))
@pytest.mark.parametrize("change", [-1, 1])
def test_arity_is_exact(name: str, change: int) -> None:
    count = len(COMMANDS[name].parameters) + change
    with pytest.raises(ControlLanguageError) as caught:
        admit(f"@x {name} {' '.join(['a'] * count)}", DocumentKind.MIXED)
    assert caught.value.diagnostics[0].code == "INVALID_ARGUMENT_COUNT"


@pytest.mark.rule("LANG-2")
def test_the_language_calls_nobody() -> None:
    """It can call neither a plugin nor a model."""
    package = Path(mrpvm.lang.__file__).parent
    imported = {
        node.module or ""
        for path in package.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
    }
    ours = {name for name in imported if name.startswith("mrpvm")}
    assert all(name.startswith(("mrpvm.lang", "mrpvm.values", "mrpvm.errors")) for name in ours)


EDGES = """\
@i1 intent verify "x"
@o1 set $i1 output verdict
@s1 seed $i1 direct verify "x"
@q1 subproblem $i1 "y"
@p1 plugin gs-plugin gs-symbolic
@b1 branch $i1 $s1 $p1
@x1 result_record answer
@l1 result $b1 $x1
@d1 policy $f1 2 comparative 4 2 2 sufficient
@d2 objective $f1 [cost]
@c1 candidate $f1 $b1 $x1 weak
@m1 compare $f1 [$c1] "which holds"
@g1 challenge $f1 $c1 "why" source
"""


@pytest.mark.rule("LANG-31", "LANG-32")
def test_edges_between_objects() -> None:
    document = admit(EDGES, "mixed", {"f1": "frame"})
    edges = [(edge.type, edge.from_id, edge.to_id) for edge in document.relation_edges]
    assert sorted(edges) == sorted([
        ("contains", "i1", "s1"), ("contains", "i1", "q1"), ("contains", "s1", "b1"), ("result", "b1", "x1"),
        *(("contains", "f1", item) for item in ("d1", "d2", "c1", "m1", "g1")),
        ("derived_from", "c1", "x1"), ("compares", "m1", "c1"), ("challenges", "g1", "c1"),
    ])  # fmt: skip
