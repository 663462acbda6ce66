"""Third step of admission: every statement against the table, every reference against what came before.

Reports all errors of a document in its order, but one cause only once: an object that was reported is not spoken of
again, neither are references to it. What holds for whole objects is in `invariants`.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from mrpvm.lang.arguments import Fault, Value, ValueType, alternatives, argument_place
from mrpvm.lang.checked import CheckedStatement
from mrpvm.lang.diagnostics import CLASS_OF_CODE, ControlLanguageError, Diagnostic, DiagnosticCode, shown
from mrpvm.lang.invariants import document_fault, object_faults
from mrpvm.lang.schema import (
    ALL_FIELDS,
    BRANCH_MOVES,
    COMMANDS,
    COMMANDS_OF_KIND,
    OBJECTS,
    TRIPLE,
    Command,
    DocumentKind,
    ObjectKind,
    Parameter,
)
from mrpvm.lang.tokens import Argument, ControlStatement, ListArgument, Location, Token, TokenKind

LONGEST_GUESS_CHARS = 20
"""Only this much of an unknown command is compared with the known ones."""


def validate(
    statements: Sequence[ControlStatement], kind: DocumentKind, external_refs: Mapping[str, ObjectKind]
) -> tuple[CheckedStatement, ...]:
    """Return the statements with their values read.

    Raises:
        ControlLanguageError: with every error, in document order.
    """
    check = _DocumentCheck(statements, kind, external_refs)
    check.run()
    if check.diagnostics:
        raise ControlLanguageError(sorted(check.diagnostics, key=lambda item: (item.line, item.column)))
    return tuple(check.checked)


class _DocumentCheck:
    """One pass over a document: what exists so far, and what was reported already."""

    def __init__(
        self, statements: Sequence[ControlStatement], kind: DocumentKind, external_refs: Mapping[str, ObjectKind]
    ) -> None:
        self.statements = statements
        self.kind = kind
        self.allowed = frozenset(COMMANDS_OF_KIND[kind])
        self.external_refs = external_refs
        self.diagnostics: list[Diagnostic] = []
        self.checked: list[CheckedStatement] = []
        self._kinds: dict[str, ObjectKind] = dict(external_refs)
        self._lines: dict[str, int] = {}
        self._reported: set[str] = set()
        self._branch_states: dict[str, str] = {}
        self._ku_types: dict[str, str] = {}
        self._constructor_lines: dict[str, int] = {}
        for statement in statements:
            command = COMMANDS.get(statement.command.value)
            if command is not None and command.creates is not None:
                self._constructor_lines.setdefault(statement.id, statement.line)

    def run(self) -> None:
        """Look at every statement, then at every object, then at the document."""
        for statement in self.statements:
            try:
                self._check(statement)
            except Fault as fault:
                self._report(statement, fault, _subjects(statement, fault))
            self._remember(statement)
        findings = object_faults(self.checked, self._reported)
        self.diagnostics += [_diagnostic(statement, fault) for statement, fault in findings]
        if not self.diagnostics and (missing := document_fault(self.kind, self._kinds, self.external_refs)):
            self.diagnostics.append(_diagnostic(None, missing))

    def _report(self, statement: ControlStatement, fault: Fault, subjects: frozenset[str]) -> None:
        spoken_of = {statement.id} if fault.code is DiagnosticCode.UNKNOWN_COMMAND else subjects
        if self._reported.isdisjoint(spoken_of):
            self.diagnostics.append(_diagnostic(statement, fault))
        self._reported |= subjects

    def _remember(self, statement: ControlStatement) -> None:
        """Register the statement's id, and its object even if it was reported: a reference to it is no new error."""
        self._lines.setdefault(statement.id, statement.line)
        command = COMMANDS.get(statement.command.value)
        if command is not None and command.creates is not None:
            self._kinds.setdefault(statement.id, command.creates)

    def _check(self, statement: ControlStatement) -> None:
        self._check_id(statement)
        command = self._command(statement)
        _check_arity(statement, command)
        values = _values(statement, command)
        target = self._resolve_all(statement, command)
        if command.name == "set":
            values[2] = self._field_value(statement, str(values[0]), str(values[1]), target)
        if command.name in ("status", "fail", "set"):
            self._check_move(statement, command.name, values, target)
        elif command.name == "parent":
            self._check_parent(statement, str(values[1]))
        elif command.creates is ObjectKind.KU:
            self._ku_types[statement.id] = str(values[0])
        self.checked.append(CheckedStatement(statement, command, tuple(values), target))

    def _check_id(self, statement: ControlStatement) -> None:
        line = self._lines.get(statement.id)
        if line is not None:
            message = f"@{statement.id} is already used in line {line}; expected an id of its own for every statement"
            raise Fault(DiagnosticCode.DUPLICATE_STATEMENT_ID, message)
        command = COMMANDS.get(statement.command.value)
        if statement.id in self.external_refs and command is not None and command.creates is not None:
            message = f"@{statement.id} names an object of the running turn; expected an id of its own"
            raise Fault(DiagnosticCode.DUPLICATE_STATEMENT_ID, message)

    def _command(self, statement: ControlStatement) -> Command:
        token = statement.command
        place = argument_place(token)
        command = COMMANDS.get(token.value) if token.kind is TokenKind.ATOM else None
        if command is None:
            what = f"{shown(token.value)} is not a command" if token.value else "the command is missing"
            guesses = get_close_matches(token.value[:LONGEST_GUESS_CHARS], COMMANDS, n=1)
            expected = guesses[0] if guesses else alternatives(COMMANDS_OF_KIND[self.kind])
            raise Fault(DiagnosticCode.UNKNOWN_COMMAND, f"{what}; expected {expected}", place)
        if command.name not in self.allowed:
            expected = alternatives(COMMANDS_OF_KIND[self.kind])
            message = f"{command.name} is not allowed in a document of kind {self.kind.value}; expected {expected}"
            raise Fault(DiagnosticCode.COMMAND_NOT_ALLOWED, message, place)
        return command

    def _resolve_all(self, statement: ControlStatement, command: Command) -> ObjectKind | None:
        """Resolve every reference from left to right; return the kind of the first argument's object."""
        target: ObjectKind | None = None
        for position, parameter in enumerate(command.parameters):
            argument = statement.arguments[position]
            if isinstance(argument, ListArgument):
                tokens = argument.items if parameter.type else ()
            else:
                tokens = (argument,) if parameter.type else ()
            for token in tokens:
                if token.kind is TokenKind.REFERENCE:
                    kind = self._resolve(parameter, token)
                    target = kind if position == 0 else target
        return target

    def _resolve(self, parameter: Parameter, token: Token) -> ObjectKind | None:
        """Return the kind of the object a reference points to, None if the object was reported."""
        if token.value in self._reported:
            return self._kinds.get(token.value)
        kind = self._kinds.get(token.value)
        if kind is None:
            raise self._unresolved(token)
        if parameter.target and kind not in parameter.target:
            wanted = " or ".join(item.value for item in parameter.target)
            message = f"${shown(token.value)} is of kind {kind.value}; expected an object of kind {wanted}"
            raise Fault(DiagnosticCode.INVALID_ARGUMENT_KIND, message, argument_place(token), parameter.name)
        return kind

    def _unresolved(self, token: Token) -> Fault:
        name, line = shown(token.value), self._constructor_lines.get(token.value)
        if line is not None:
            message = f"${name} is constructed only in line {line}; expected its constructor before this line"
            return Fault(DiagnosticCode.CONSTRUCTOR_REQUIRED_FIRST, message, argument_place(token))
        message = f"${name} is constructed nowhere; expected an object of an earlier line or of the running turn"
        if (line := self._lines.get(token.value)) is not None:
            message = f"@{name} in line {line} constructs no object; expected a reference to one that does"
        return Fault(DiagnosticCode.UNRESOLVED_REFERENCE, message, argument_place(token))

    def _field_value(self, statement: ControlStatement, object_id: str, name: str, target: ObjectKind | None) -> Value:
        """Return the value of a `set`, read as its field's type."""
        place, argument = argument_place(statement.arguments[1]), statement.arguments[2]
        fields = OBJECTS[target].fields if target else {}
        if name not in ALL_FIELDS:
            raise Fault(
                DiagnosticCode.UNKNOWN_FIELD, f"no object has a field {shown(name)}; {_fields_of(target)}", place, name
            )
        if target is None:
            return ""
        if name not in fields:
            message = f"{name} is not a field of {target.value}; {_fields_of(target)}"
            raise Fault(DiagnosticCode.INVALID_FIELD_FOR_OBJECT, message, place, name)
        ku_type = self._ku_types.get(object_id, "atomic")
        if target is ObjectKind.KU and name in TRIPLE and ku_type != "atomic":
            message = f"a {ku_type} unit carries no {name}; expected the triple on an atomic unit"
            raise Fault(DiagnosticCode.INVALID_FIELD_FOR_OBJECT, message, place, name)
        return _read(fields[name], argument, name)

    def _check_parent(self, statement: ControlStatement, parent_id: str) -> None:
        """Check that the parent is a unit that may have children; cycles need the whole document."""
        if self._ku_types.get(parent_id) == "atomic" and parent_id not in self._reported:
            message = f"${parent_id} is atomic and has no children; expected a composite or an aggregate as parent"
            raise Fault(DiagnosticCode.INVALID_HIERARCHY, message, argument_place(statement.arguments[1]), "parent")

    def _check_move(
        self, statement: ControlStatement, command: str, values: list[Value], target: ObjectKind | None
    ) -> None:
        """Check a move of an object's state; a `set` of another field is none."""
        state_field = OBJECTS[target].state_field if target else None
        if target is None or state_field is None or (command == "set" and values[1] != state_field):
            return
        object_id, state = str(values[0]), "failed" if command == "fail" else str(values[-1])
        argument = statement.arguments[-1]
        if target is not ObjectKind.BRANCH:
            _read(OBJECTS[target].fields[state_field], argument, state_field)
            return
        first = None if object_id in self.external_refs else "queued"
        current = self._branch_states.get(object_id, first)
        moves = tuple(BRANCH_MOVES) if current is None else BRANCH_MOVES[current]
        if state not in moves:
            expected = alternatives(moves) if moves else f"no move, since {current} is final"
            message = f"${object_id} is {current or 'a branch'} and cannot become {shown(state)}; expected {expected}"
            raise Fault(DiagnosticCode.INVALID_STATUS_TRANSITION, message, argument_place(argument), state_field)
        self._branch_states[object_id] = state


def _values(statement: ControlStatement, command: Command) -> list[Value]:
    """Return the arguments' values; one whose type its field decides is left empty."""
    return [
        _read(parameter.type, argument, parameter.name) if parameter.type else ""
        for parameter, argument in zip(command.parameters, statement.arguments, strict=True)
    ]


def _read(type_: ValueType, argument: Argument, name: str) -> Value:
    """Return the argument's value; a fault is given the name of the argument or field."""
    try:
        return type_.read(argument)
    except Fault as fault:
        fault.field = name
        raise


def _check_arity(statement: ControlStatement, command: Command) -> None:
    given, wanted = len(statement.arguments), len(command.parameters)
    if given != wanted:
        place = argument_place(statement.arguments[wanted]) if given > wanted else _end(statement)
        noun = "argument" if wanted == 1 else "arguments"
        message = f"{command.name} takes {wanted} {noun}, {given} given; expected {command.signature}"
        raise Fault(DiagnosticCode.INVALID_ARGUMENT_COUNT, message, place)


def _end(statement: ControlStatement) -> Location:
    return Location(statement.line, statement.end_column)


def _fields_of(kind: ObjectKind | None) -> str:
    names = sorted(OBJECTS[kind].fields) if kind else ()
    return f"expected {alternatives(names)}" if names else "expected no field here"


def _subjects(statement: ControlStatement, fault: Fault) -> frozenset[str]:
    """Return the ids a wrong statement is about: what it constructs, else what it names.

    The sigil may be what is missing, so a word counts as a name whatever its kind. A relation or an unknown command may
    have given something to each object it names.
    """
    command = COMMANDS.get(statement.command.value)
    if command is not None and command.creates is not None:
        return frozenset({statement.id})
    is_about_all = command is None or command.is_relation
    arguments = statement.arguments if is_about_all else statement.arguments[:1]
    named = frozenset([argument.value for argument in arguments if isinstance(argument, Token)])
    is_own_id_touched = command is None or fault.code is DiagnosticCode.DUPLICATE_STATEMENT_ID
    return named | {statement.id} if is_own_id_touched else named


def _diagnostic(statement: ControlStatement | None, fault: Fault) -> Diagnostic:
    own = Location(statement.line, statement.column) if statement else Location(1, 1)
    place = fault.place or own
    return Diagnostic(
        code=fault.code,
        error_class=CLASS_OF_CODE[fault.code],
        line=place.line,
        column=place.column,
        message=fault.message,
        statement_id=statement.id if statement else None,
        field=fault.field,
        source_line=statement.text if statement else "",
    )
