"""A builder for plugins that write control text: no quoting, no statement ids, no layout to get wrong."""

from itertools import count

from mrpvm.lang.arguments import Label, Value
from mrpvm.lang.schema import COMMANDS, CONSTRUCTOR_OF, OBJECTS, ObjectKind, attribute_name

_LABEL = Label()


class ControlWriter:
    """Collects statements; `text` gives the document, to be admitted like any other.

    Constructors return the new object's statement id for later statements. Fields are given by keyword, named as on the
    admitted objects (`source_id`, `utility_acts`); None leaves a field out. Any text is safe as a value. Whether the
    document is well-formed is for admission to say; only what cannot be written at all raises here.

    Raises:
        ValueError: for a field the object does not have, or a value its type cannot express, such as an atom with a
            space in it.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._kinds: dict[str, ObjectKind] = {}
        self._numbers = {prefix: count(1) for prefix in "iska"}

    def intent(self, act: str, target: str, *, output: str, **fields: Value | None) -> str:
        """Write an intent with its expected output."""
        return self._construct("i", ObjectKind.INTENT, (act, target), {"output": output, **fields})

    def seed(self, intent_id: str, mode: str, action: str, focus: str, **fields: Value | None) -> str:
        """Write a seed of an intent."""
        return self._construct("s", ObjectKind.SEED, (intent_id, mode, action, focus), fields)

    def ku(self, ku_type: str, ku_id: str, **fields: Value | None) -> str:
        """Write a knowledge unit's envelope."""
        return self._construct("k", ObjectKind.KU, (ku_type, ku_id), fields)

    def set(self, object_id: str, field: str, value: Value) -> None:
        """Assign one field, named as in the language (`utilityActs`), of an object written before."""
        type_ = OBJECTS[self._kinds[object_id]].fields.get(field)
        if type_ is None:
            raise ValueError(f"{self._kinds[object_id].value} has no field {field!r}")
        self._write(self._fresh("a"), f"set ${object_id} {field} {type_.write(value)}")

    def constrain(self, object_id: str, constraint: str) -> None:
        """Add a constraint to an object."""
        self._write(self._fresh("a"), f"constrain ${object_id} {_LABEL.write(constraint)}")

    def relate(self, relation: str, from_id: str, to_id: str) -> None:
        """Write one of the relation commands, such as `parent`, `derived_from` or `split_from`."""
        if not COMMANDS[relation].is_relation:
            raise ValueError(f"{relation!r} is not a relation")
        self._write(self._fresh("a"), f"{relation} ${from_id} ${to_id}")

    def text(self) -> str:
        """Return the document so far, one statement a line; empty if nothing was written."""
        return "".join(self._lines)

    def _construct(
        self, prefix: str, kind: ObjectKind, values: tuple[Value, ...], fields: dict[str, Value | None]
    ) -> str:
        command = CONSTRUCTOR_OF[kind]
        arguments = [
            parameter.type.write(value)
            for parameter, value in zip(command.parameters, values, strict=True)
            if parameter.type
        ]
        statement_id = self._fresh(prefix)
        self._write(statement_id, " ".join([command.name, *arguments]))
        self._kinds[statement_id] = kind
        names = {attribute_name(name): name for name in OBJECTS[kind].fields}
        for attribute, value in fields.items():
            if value is not None:
                self.set(statement_id, names.get(attribute, attribute), value)
        return statement_id

    def _fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers[prefix])}"

    def _write(self, statement_id: str, rest: str) -> None:
        self._lines.append(f"@{statement_id} {rest}\n")
