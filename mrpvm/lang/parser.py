"""Second step of admission: tokens to statements. Knows no command; stops at the first error."""

from collections.abc import Iterable

from mrpvm.lang.diagnostics import CLASS_OF_CODE, ControlLanguageError, Diagnostic, DiagnosticCode, shown
from mrpvm.lang.tokens import ID_PATTERN, Argument, ControlStatement, ListArgument, Token, TokenKind, TokenLine

_ID_CHARS = "letters, digits, '_', '-' and ':'"


def parse(lines: Iterable[TokenLine]) -> tuple[ControlStatement, ...]:
    """Return one statement a line.

    A missing command is left to the validator, which knows what could be there.

    Raises:
        ControlLanguageError: with the first statement that does not follow the grammar.
    """
    return tuple(_statement(line) for line in lines)


def _statement(line: TokenLine) -> ControlStatement:
    first, *rest = line.tokens
    if first.kind is not TokenKind.STATEMENT_ID or not ID_PATTERN.fullmatch(first.value):
        raise _error(
            line,
            first,
            DiagnosticCode.INVALID_STATEMENT_ID,
            f"the line does not start with a statement id; expected '@' and {_ID_CHARS}",
        )
    if not rest:
        end = len(line.text.rstrip(" \t")) + 1
        return ControlStatement(first.value, Token(TokenKind.ATOM, "", line.number, end), (), *_place(line, first))
    command, *following = rest
    arguments = _arguments(line, following, first.value) if command.kind is TokenKind.ATOM else ()
    return ControlStatement(first.value, command, arguments, *_place(line, first))


def _place(line: TokenLine, first: Token) -> tuple[int, int, str]:
    return line.number, first.column, line.text


def _arguments(line: TokenLine, tokens: list[Token], statement_id: str) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    opening: Token | None = None
    items: list[Token] = []
    for token in tokens:
        _check_sigil(line, token, statement_id)
        if opening is not None:
            if token.kind is TokenKind.LIST_CLOSE:
                arguments.append(ListArgument(tuple(items), opening.line, opening.column))
                opening = None
            else:
                items.append(_item(line, token, statement_id))
        elif token.kind is TokenKind.LIST_OPEN:
            opening, items = token, []
        elif token.kind is TokenKind.LIST_CLOSE:
            message = "']' closes no list; expected an argument or the end of the line"
            raise _error(line, token, DiagnosticCode.MALFORMED_LINE, message, statement_id)
        else:
            arguments.append(token)
    if opening is not None:
        message = "the list is not closed; expected ']' on the same line"
        raise _error(line, opening, DiagnosticCode.MALFORMED_LINE, message, statement_id)
    return tuple(arguments)


def _item(line: TokenLine, token: Token, statement_id: str) -> Token:
    """Return `token` if it may be in a list: atoms and references only."""
    if token.kind in (TokenKind.ATOM, TokenKind.REFERENCE):
        return token
    what = "a list inside a list" if token.kind is TokenKind.LIST_OPEN else "a string inside a list"
    message = f"{what}; expected atoms and references only"
    raise _error(line, token, DiagnosticCode.INVALID_ARGUMENT_KIND, message, statement_id)


def _check_sigil(line: TokenLine, token: Token, statement_id: str) -> None:
    if token.kind is TokenKind.STATEMENT_ID:
        message = "'@' starts a statement id, not an argument; expected '$' for a reference or a quoted string"
    elif token.kind is TokenKind.REFERENCE and not ID_PATTERN.fullmatch(token.value):
        message = f"'${shown(token.value)}' is not a reference; expected '$' and {_ID_CHARS}, or a quoted string"
    else:
        return
    raise _error(line, token, DiagnosticCode.INVALID_ARGUMENT_KIND, message, statement_id)


def _error(
    line: TokenLine, token: Token, code: DiagnosticCode, message: str, statement_id: str | None = None
) -> ControlLanguageError:
    return ControlLanguageError([
        Diagnostic(
            code=code,
            error_class=CLASS_OF_CODE[code],
            line=token.line,
            column=token.column,
            message=message,
            statement_id=statement_id,
            source_line=line.text,
        )
    ])  # fmt: skip
