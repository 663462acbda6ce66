"""Admitted document to control text that admits to an equal document."""

from collections.abc import Iterator
from itertools import count

from mrpvm.lang.arguments import Label
from mrpvm.lang.objects import AdmittedDocument, AdmittedObject, AdmittedSubproblem, RuntimeChange, StatusEvent
from mrpvm.lang.schema import COMMANDS, CONSTRUCTOR_OF, OBJECTS, attribute_name
from mrpvm.lang.tokens import Location

type _Line = tuple[Location, str | None, str]
"""A statement to be written: its place in the source, its id if it constructs, the rest of it."""

_LABEL = Label()


def serialize(document: AdmittedDocument) -> str:
    """Return the document as control text, statements in the order of its source.

    Objects keep their statement ids, all other statements get new ones. Admit the text with the document's own
    `external_refs`.
    """
    lines = sorted(_lines(document), key=lambda line: line[0])
    taken = document.objects.keys()
    fresh = (name for number in count(1) if (name := f"a{number}") not in taken)
    return "".join([f"@{statement_id or next(fresh)} {rest}\n" for _, statement_id, rest in lines])


def _lines(document: AdmittedDocument) -> Iterator[_Line]:
    for item in document.objects.values():
        yield from _object_lines(item)
    for edge in document.relation_edges:
        # A candidate's own `derived_from` is implied by its constructor, like every edge that is no command.
        if COMMANDS.get(edge.type) and COMMANDS[edge.type].is_relation and edge.from_id not in document.candidates:
            yield edge.place, None, f"{edge.type} ${edge.from_id} ${edge.to_id}"
    for event in document.status_events:
        yield event.place, None, _moved(event)
    for change in document.runtime_changes:
        yield change.place, None, _changed(document, change)


def _object_lines(item: AdmittedObject) -> Iterator[_Line]:
    places, target = item.places, f"${item.statement_id}"
    command = CONSTRUCTOR_OF[item.kind]
    arguments = [
        parameter.type.write(getattr(item, parameter.attribute)) for parameter in command.parameters if parameter.type
    ]
    yield places.constructor, item.statement_id, " ".join([command.name, *arguments])
    for name, place in places.fields.items():
        value = OBJECTS[item.kind].fields[name].write(getattr(item, attribute_name(name)))
        yield place, None, f"set {target} {name} {value}"
    for constraint, place in zip(item.constraints, places.constraints, strict=True):
        yield place, None, f"constrain {target} {_LABEL.write(constraint)}"
    if isinstance(item, AdmittedSubproblem):
        for regime, place in zip(item.regimes, places.regimes, strict=True):
            yield place, None, f"allows {target} {regime}"


def _moved(event: StatusEvent) -> str:
    if event.reason is None:
        return f"status ${event.object_id} {event.state}"
    command = "fail" if event.state == "failed" else "deactivate"
    return f"{command} ${event.object_id} {_LABEL.write(event.reason)}"


def _changed(document: AdmittedDocument, change: RuntimeChange) -> str:
    if change.field is None:
        return f"{change.command} ${change.object_id} {_LABEL.write(change.value)}"
    kind = document.external_refs[change.object_id]
    return f"set ${change.object_id} {change.field} {OBJECTS[kind].fields[change.field].write(change.value)}"
