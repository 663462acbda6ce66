"""Last step of admission: checked statements to objects, and `admit`, the four steps in a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from mrpvm.lang.arguments import Value
from mrpvm.lang.checked import CheckedStatement
from mrpvm.lang.objects import (
    AdmittedBranch,
    AdmittedCandidate,
    AdmittedChallenge,
    AdmittedComparison,
    AdmittedDocument,
    AdmittedIntent,
    AdmittedKU,
    AdmittedObject,
    AdmittedObjective,
    AdmittedPlugin,
    AdmittedPolicy,
    AdmittedResult,
    AdmittedSeed,
    AdmittedSubproblem,
    AdmittedValidation,
    RelationEdge,
    RuntimeChange,
    SourcePlaces,
    StatusEvent,
)
from mrpvm.lang.parser import parse
from mrpvm.lang.schema import OBJECTS, DocumentKind, ObjectKind, attribute_name
from mrpvm.lang.tokenizer import tokenize
from mrpvm.lang.tokens import Location
from mrpvm.lang.validator import validate
from mrpvm.values import DEFAULT_ACTS_BY_ROLE

DEFAULT_PHASE_SCOPES = ("kb-plugin",)
_CLASS_OF_KIND: Mapping[ObjectKind, tuple[str, type[AdmittedObject]]] = {
    ObjectKind.INTENT: ("intents", AdmittedIntent),
    ObjectKind.SEED: ("seeds", AdmittedSeed),
    ObjectKind.SUBPROBLEM: ("subproblems", AdmittedSubproblem),
    ObjectKind.PLUGIN: ("plugins", AdmittedPlugin),
    ObjectKind.KU: ("kus", AdmittedKU),
    ObjectKind.VALIDATE: ("validations", AdmittedValidation),
    ObjectKind.POLICY: ("policies", AdmittedPolicy),
    ObjectKind.OBJECTIVE: ("objectives", AdmittedObjective),
    ObjectKind.CANDIDATE: ("candidates", AdmittedCandidate),
    ObjectKind.COMPARE: ("comparisons", AdmittedComparison),
    ObjectKind.CHALLENGE: ("challenges", AdmittedChallenge),
    ObjectKind.BRANCH: ("branches", AdmittedBranch),
    ObjectKind.RESULT: ("results", AdmittedResult),
}
"""The map of the document and the class for each kind."""
_LINKS = {
    "split_from": ("depends_on", True, False),
    "needs": ("validation_id", False, False),
    "result": ("result_id", False, False),
    "uses": ("used_kus", True, False),
    "supports": ("supporting_kus", True, False),
    "parent": ("parent_unit_ids", True, True),
    "derived_from": ("derived_from_unit_ids", True, True),
}
"""Where a relation shows on its first object: attribute, whether it collects several, whether it holds KU ids."""


def admit(
    text: str, kind: DocumentKind | str, external_refs: Mapping[str, ObjectKind | str] | None = None
) -> AdmittedDocument:
    """Return what `text` means, or refuse it as a whole.

    Args:
        text: a control document.
        kind: `intent`, `context` or `mixed`.
        external_refs: objects of the running turn that the document may refer to, name to kind.

    Raises:
        ControlLanguageError: with every diagnostic, in document order.
    """
    document_kind = DocumentKind(kind)
    external = {name: ObjectKind(value) for name, value in (external_refs or {}).items()}
    statements = parse(tokenize(text))
    return interpret(validate(statements, document_kind, external), document_kind, external)


def interpret(
    checked: Sequence[CheckedStatement], kind: DocumentKind, external_refs: Mapping[str, ObjectKind]
) -> AdmittedDocument:
    """Return the admitted document of statements that were validated; adds defaults of the spec and nothing else."""
    builder = _DocumentBuilder(external_refs)
    for item in checked:
        builder.add(item)
    return builder.document(kind)


@dataclass(slots=True)
class _Draft:
    """An object under construction."""

    kind: ObjectKind
    place: Location
    attributes: dict[str, Any]
    field_places: dict[str, Location] = field(default_factory=dict)
    constraints: list[tuple[str, Location]] = field(default_factory=list)
    regimes: list[tuple[str, Location]] = field(default_factory=list)
    links: dict[str, dict[str, None]] = field(default_factory=dict)

    def link(self, attribute: str, value: str) -> None:
        """Add `value` to a tuple attribute unless it is there; a dictionary keeps order at any length."""
        self.links.setdefault(attribute, {})[value] = None


class _DocumentBuilder:
    """Applies checked statements in order."""

    def __init__(self, external_refs: Mapping[str, ObjectKind]) -> None:
        self._external_refs = external_refs
        self._drafts: dict[str, _Draft] = {}
        self._edges: list[RelationEdge] = []
        self._events: list[StatusEvent] = []
        self._changes: list[RuntimeChange] = []

    def add(self, item: CheckedStatement) -> None:
        name, place = item.command.name, Location(item.statement.line, item.statement.column)
        if item.command.creates is not None:
            self._construct(item, item.command.creates, place)
        elif item.command.is_relation:
            self._relate(name, str(item.values[0]), str(item.values[1]), place)
        elif name == "set":
            self._assign(str(item.values[0]), str(item.values[1]), item.values[2], item.target, place)
        elif name in ("constrain", "allows"):
            self._collect(name, str(item.values[0]), str(item.values[1]), place)
        elif name == "status":
            self._move(StatusEvent(str(item.values[0]), str(item.values[1]), None, place), item.target)
        else:
            state = "failed" if name == "fail" else "deactivated"
            self._move(StatusEvent(str(item.values[0]), state, str(item.values[1]), place), item.target)

    def _construct(self, item: CheckedStatement, kind: ObjectKind, place: Location) -> None:
        values = dict(zip([parameter.name for parameter in item.command.parameters], item.values, strict=True))
        attributes = {parameter.attribute: values[parameter.name] for parameter in item.command.parameters}
        self._drafts[item.statement.id] = _Draft(kind, place, attributes)
        for type_, parameter, is_origin in item.command.edges:
            value = values[parameter]
            for other in value if isinstance(value, tuple) else (str(value),):
                ends = (item.statement.id, other.removeprefix("$"))
                self._edges.append(RelationEdge(type_, *(ends if is_origin else ends[::-1]), place))

    def _relate(self, command: str, start: str, end: str, place: Location) -> None:
        self._edges.append(RelationEdge(command, start, end, place))
        draft = self._drafts.get(start)
        if draft is None or command not in _LINKS:
            return
        attribute, is_collected, holds_unit_ids = _LINKS[command]
        value = self._unit_id(end) if holds_unit_ids else end
        if is_collected:
            draft.link(attribute, value)
        else:
            draft.attributes[attribute] = value
        if command == "parent" and end in self._drafts:
            self._drafts[end].link("child_unit_ids", self._unit_id(start))

    def _unit_id(self, statement_id: str) -> str:
        """Return the KU id a statement id represents; an injected unit bears its own name."""
        draft = self._drafts.get(statement_id)
        return str(draft.attributes["ku_id"]) if draft else statement_id

    def _assign(self, object_id: str, name: str, value: Value, target: ObjectKind | None, place: Location) -> None:
        if target is not None and OBJECTS[target].state_field == name:
            self._move(StatusEvent(object_id, str(value), None, place), target)
        elif object_id in self._drafts:
            self._drafts[object_id].attributes[attribute_name(name)] = value
            self._drafts[object_id].field_places[name] = place
        else:
            self._changes.append(RuntimeChange("set", object_id, name, value, place))

    def _collect(self, command: str, object_id: str, value: str, place: Location) -> None:
        draft = self._drafts.get(object_id)
        if draft is None:
            self._changes.append(RuntimeChange(command, object_id, None, value, place))
        else:
            (draft.constraints if command == "constrain" else draft.regimes).append((value, place))

    def _move(self, event: StatusEvent, target: ObjectKind | None) -> None:
        self._events.append(event)
        draft, state_field = self._drafts.get(event.object_id), OBJECTS[target].state_field if target else None
        if draft is None or state_field is None:
            return
        draft.attributes[attribute_name(state_field)] = event.state
        if target is ObjectKind.BRANCH and event.reason is not None:
            draft.attributes["failure_reason"] = event.reason

    def document(self, kind: DocumentKind) -> AdmittedDocument:
        """Return the document of everything applied so far."""
        maps: dict[str, Any] = {name: {} for name, _ in _CLASS_OF_KIND.values()}
        numbers = count(1)
        for statement_id, draft in self._drafts.items():
            if draft.kind is ObjectKind.INTENT:
                draft.attributes["group_number"] = next(numbers)
            elif draft.kind is ObjectKind.KU:
                _fill_unit_defaults(draft.attributes)
            name, admitted_class = _CLASS_OF_KIND[draft.kind]
            maps[name][statement_id] = _built(admitted_class, statement_id, draft)
        return AdmittedDocument(
            kind=kind,
            relation_edges=tuple(self._edges),
            status_events=tuple(self._events),
            runtime_changes=tuple(self._changes),
            external_refs=dict(self._external_refs),
            **maps,
        )


def _fill_unit_defaults(attributes: dict[str, Any]) -> None:
    """Fill acts, scopes and text body where absent or empty."""
    attributes["utility_acts"] = attributes.get("utility_acts") or DEFAULT_ACTS_BY_ROLE[attributes["role"]]
    attributes["phase_scopes"] = attributes.get("phase_scopes") or DEFAULT_PHASE_SCOPES
    if attributes.get("text_body") is None:
        attributes["text_body"] = attributes.get("claim") or attributes.get("procedure") or attributes["topic"]


def _built(admitted_class: type[AdmittedObject], statement_id: str, draft: _Draft) -> AdmittedObject:
    places = SourcePlaces(
        constructor=draft.place,
        fields=draft.field_places,
        constraints=tuple([place for _, place in draft.constraints]),
        regimes=tuple([place for _, place in draft.regimes]),
    )
    attributes = draft.attributes | {name: tuple(values) for name, values in draft.links.items()}
    if admitted_class is AdmittedSubproblem:
        attributes["regimes"] = tuple([regime for regime, _ in draft.regimes])
    constraints = tuple([constraint for constraint, _ in draft.constraints])
    return admitted_class(statement_id=statement_id, constraints=constraints, places=places, **attributes)
