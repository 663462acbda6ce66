"""What must hold for whole objects and for the document, once every statement was looked at."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mrpvm.lang.arguments import Fault, Value, argument_place
from mrpvm.lang.checked import CheckedStatement
from mrpvm.lang.diagnostics import DiagnosticCode, shown
from mrpvm.lang.schema import NEEDED_OBJECT, OBJECTS, TRIPLE, DocumentKind, ObjectKind
from mrpvm.lang.tokens import ControlStatement

type StatementFault = tuple[ControlStatement, Fault]
"""A fault with the statement it belongs to."""


@dataclass(slots=True)
class _ObjectFacts:
    """What was said about one object: its constructor, and the last `set` of each field."""

    kind: ObjectKind
    constructor: CheckedStatement
    sets: dict[str, CheckedStatement] = field(default_factory=dict)
    needs_validation: ControlStatement | None = None
    has_validation: bool = False
    has_branch: bool = False

    def value(self, name: str) -> Value | None:
        """Return the value of a field, None if it was not assigned."""
        return self.sets[name].values[2] if name in self.sets else None

    def missing(self, name: str, expected: str) -> StatementFault:
        """Return the finding that something required is absent; it belongs to the constructor."""
        message = f"@{self.constructor.statement.id} has no {name}; expected {expected}"
        return self.constructor.statement, Fault(DiagnosticCode.MISSING_REQUIRED_FIELD, message, field=name)


def object_faults(checked: Sequence[CheckedStatement], reported: set[str]) -> Iterator[StatementFault]:
    """Return the faults of objects as wholes; objects whose id is in `reported` are left out.

    Effects: adds the ids of faulty objects to `reported`.
    """
    facts = _facts(checked)
    for object_id, item in facts.items():
        if object_id not in reported:
            faults = list(_missing(item)) or list(_unit_faults(item))[:1]
            yield from faults
            reported.update([object_id] if faults else [])
    yield from _repeated_unit_ids(facts, reported)
    yield from _cycles(checked, reported, "parent", "its own ancestor")
    yield from _cycles(checked, reported, "split_from", "split off itself")


def document_fault(
    kind: DocumentKind, kinds: Mapping[str, ObjectKind], external_refs: Mapping[str, ObjectKind]
) -> Fault | None:
    """Return the fault of a document without the object its kind must have, None if there is one."""
    needed = NEEDED_OBJECT.get(kind)
    if needed is None or any(item is needed for name, item in kinds.items() if name not in external_refs):
        return None
    message = f"the document has no {needed.value}; expected at least one in a document of kind {kind.value}"
    return Fault(DiagnosticCode.MISSING_REQUIRED_FIELD, message, field=needed.value)


def _facts(checked: Sequence[CheckedStatement]) -> dict[str, _ObjectFacts]:
    facts: dict[str, _ObjectFacts] = {}
    for item in checked:
        if item.command.creates is not None:
            facts[item.statement.id] = _ObjectFacts(item.command.creates, item)
            continue
        subject = facts.get(str(item.values[0]))
        if item.command.name == "result":
            result = facts.get(str(item.values[1]))
            if result is not None:
                result.has_branch = True
        if subject is None:
            continue
        if item.command.name == "set":
            subject.sets[str(item.values[1])] = item
        elif item.command.name == "needs":
            subject.has_validation = True
        if subject.kind is ObjectKind.BRANCH and item.values[-1] in ("active", "succeeded"):
            subject.needs_validation = _first(subject.needs_validation, item)
    return facts


def _first(known: ControlStatement | None, item: CheckedStatement) -> ControlStatement | None:
    """Return the first statement that makes a branch active or succeeded, by `status` or by its field."""
    is_move = item.command.name == "status" or (item.command.name == "set" and item.values[1] == "status")
    return item.statement if known is None and is_move else known


def _missing(item: _ObjectFacts) -> Iterator[StatementFault]:
    """Return one finding for every required field or link that is absent."""
    schema = OBJECTS[item.kind]
    for name in schema.required:
        if name not in item.sets:
            yield item.missing(name, f"a statement that sets it to {schema.fields[name].expected}")
    if item.kind is ObjectKind.KU:
        yield from _missing_content(item)
    if item.kind is ObjectKind.RESULT and not item.has_branch:
        yield item.missing("result", "a branch linked to it by the command result")
    if item.needs_validation is not None and not item.has_validation:
        branch_id = item.constructor.statement.id
        message = f"@{branch_id} has no validation target; expected one linked to it by the command needs"
        yield item.needs_validation, Fault(DiagnosticCode.MISSING_REQUIRED_FIELD, message, field="needs")


def _missing_content(item: _ObjectFacts) -> Iterator[StatementFault]:
    """Find a unit without the claim, or for the role Procedure the procedure, it must have."""
    role = item.value("role")
    wanted = "procedure" if role == "Procedure" else "claim"
    others = {"claim", "procedure"} & item.sets.keys()
    if others and (role is None or len(others) == 2):
        return
    if wanted not in item.sets:
        why = f"since its role is {role}" if role is not None else "or a procedure, if that is its role"
        yield item.missing(wanted, f"a quoted string, {why}")


def _unit_faults(item: _ObjectFacts) -> Iterator[StatementFault]:
    """Find what contradicts itself in one knowledge unit."""
    if item.kind is not ObjectKind.KU:
        return
    if "claim" in item.sets and "procedure" in item.sets:
        later = max(item.sets["claim"], item.sets["procedure"], key=lambda entry: entry.statement.line)
        message = "the unit has both a claim and a procedure; expected one of them, as its role asks"
        yield _at_field(later, DiagnosticCode.CLAIM_AND_PROCEDURE_CONFLICT, message)
    present = [name for name in TRIPLE if name in item.sets]
    absent = [name for name in TRIPLE if name not in item.sets]
    if present and absent:
        message = f"the fact has no {' and no '.join(absent)}; expected {', '.join(TRIPLE)} together or none of them"
        statement, fault = _at_field(item.sets[present[-1]], DiagnosticCode.INCOMPLETE_SYMBOLIC_FACT, message)
        fault.field = absent[0]
        yield statement, fault
    if "confidence" in item.sets and not present:
        message = f"confidence without a fact; expected {', '.join(TRIPLE)} beside it"
        yield _at_field(item.sets["confidence"], DiagnosticCode.INVALID_CONFIDENCE_VALUE, message)


def _at_field(item: CheckedStatement, code: DiagnosticCode, message: str) -> StatementFault:
    place = argument_place(item.statement.arguments[1])
    return item.statement, Fault(code, message, place, str(item.values[1]))


def _repeated_unit_ids(facts: Mapping[str, _ObjectFacts], reported: set[str]) -> Iterator[StatementFault]:
    """Find units that bear the id of an earlier one; parents could not be told apart."""
    lines: dict[Value, int] = {}
    for object_id, item in facts.items():
        if item.kind is not ObjectKind.KU:
            continue
        statement, ku_id = item.constructor.statement, item.constructor.values[1]
        line = lines.setdefault(ku_id, statement.line)
        if line != statement.line and object_id not in reported:
            reported.add(object_id)
            name = shown(str(ku_id))
            message = f"the unit id {name} is already used in line {line}; expected an id of its own for every unit"
            place = argument_place(statement.arguments[1])
            yield statement, Fault(DiagnosticCode.DUPLICATE_STATEMENT_ID, message, place, "kuId")


def _cycles(
    checked: Sequence[CheckedStatement], reported: set[str], command: str, what: str
) -> Iterator[StatementFault]:
    """Find the statements of `command` that close a cycle, by depth-first search in document order."""
    links: dict[str, list[tuple[str, ControlStatement]]] = {}
    for item in checked:
        if item.command.name == command and reported.isdisjoint(map(str, item.values)):
            links.setdefault(str(item.values[0]), []).append((str(item.values[1]), item.statement))
    finished: set[str] = set()
    for start in links:
        path = {start: iter(links[start])} if start not in finished else {}
        while path:
            current = next(reversed(path))
            step = next(path[current], None)
            if step is None:
                finished.add(current)
                del path[current]
            elif step[0] in path and current not in reported:
                reported.update(path)
                message = f"${current} would be {what}; expected no cycle"
                yield (
                    step[1],
                    Fault(DiagnosticCode.INVALID_HIERARCHY, message, argument_place(step[1].arguments[1]), command),
                )
            elif step[0] not in path and step[0] not in finished:
                path[step[0]] = iter(links.get(step[0], ()))
