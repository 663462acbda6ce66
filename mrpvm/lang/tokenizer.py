"""First step of admission: text to tokens. Stops at the first lexical error."""

import re

from mrpvm.lang.diagnostics import ControlLanguageError, Diagnostic, DiagnosticClass, DiagnosticCode
from mrpvm.lang.tokens import ID_PATTERN, Location, Token, TokenKind, TokenLine

_TOKEN = re.compile(
    r"""
    [ \t]*+
    (?: (?P<open>   \[ )
      | (?P<close>  \] )
      | (?P<string> " (?: [^"\\]++ | \\. )*+ " )
      | (?P<word>   [^\s\x00-\x1f\x7f-\x9f"\[\]]++ )
    )
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t"}
_KIND_OF_SIGIL = {"@": TokenKind.STATEMENT_ID, "$": TokenKind.REFERENCE}
_ENDS_A_STRING = {"", " ", "\t", "[", "]"}


def tokenize(text: str) -> tuple[TokenLine, ...]:
    """Return the tokens of every line that is not blank.

    Lines end at LF alone, a CR before it is dropped; other separators of Unicode end nothing.

    Raises:
        ControlLanguageError: with the first lexical error.
    """
    lines: list[TokenLine] = []
    *ended, last = text.split("\n")
    for number, line in enumerate([line.removesuffix("\r") for line in ended] + [last], start=1):
        tokens = _tokens_of_line(line, number)
        if tokens:
            lines.append(TokenLine(number, line, tokens))
    return tuple(lines)


def _tokens_of_line(line: str, number: int) -> tuple[Token, ...]:
    tokens: list[Token] = []
    position, end = 0, len(line.rstrip(" \t"))
    while position < end:
        match = _TOKEN.match(line, position)
        if match is None:
            position = end - len(line[position:end].lstrip(" \t"))
            raise _error(line, tokens, Location(number, position + 1), _unmatched(line[position]))
        kind = match.lastgroup or ""
        word, (start, position) = match[kind], match.span(kind)
        if kind == "word":
            if line[position : position + 1] == '"':
                raise _error(
                    line, tokens, Location(number, position + 1), "a quote touches the word before it; expected a space"
                )
            sigil = _KIND_OF_SIGIL.get(word[0])
            tokens.append(Token(sigil or TokenKind.ATOM, word[1:] if sigil else word, number, start + 1))
        elif kind == "string":
            if line[position : position + 1] not in _ENDS_A_STRING:
                raise _error(
                    line,
                    tokens,
                    Location(number, position + 1),
                    "a closing quote touches what follows; expected a space after it",
                )
            tokens.append(Token(TokenKind.STRING, _unescape(word[1:-1]), number, start + 1))
        elif kind == "open":
            tokens.append(Token(TokenKind.LIST_OPEN, word, number, start + 1))
        elif kind == "close":
            tokens.append(Token(TokenKind.LIST_CLOSE, word, number, start + 1))
    return tuple(tokens)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def _unmatched(char: str) -> str:
    if char == '"':
        return "the string has no closing quote; expected one on the same line"
    what = "space character" if char.isspace() and ord(char) > 0x9F else "control character"
    return f"{what} U+{ord(char):04X} outside a string; expected a space, a tab or a token"


def _error(line: str, tokens: list[Token], place: Location, message: str) -> ControlLanguageError:
    has_id = bool(tokens) and tokens[0].kind is TokenKind.STATEMENT_ID and ID_PATTERN.fullmatch(tokens[0].value)
    return ControlLanguageError([
        Diagnostic(
            code=DiagnosticCode.MALFORMED_LINE,
            error_class=DiagnosticClass.LEXICAL,
            line=place.line,
            column=place.column,
            message=message,
            statement_id=tokens[0].value if has_id else None,
            source_line=line,
        )
    ])  # fmt: skip
