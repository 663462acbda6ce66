"""Lines, tokens and their positions."""

import pytest

from mrpvm.lang import ControlLanguageError, admit
from mrpvm.lang.tokenizer import tokenize
from mrpvm.lang.tokens import Location, Token, TokenKind


def kinds_and_values(line: str) -> list[tuple[TokenKind, str]]:
    return [(token.kind, token.value) for token in tokenize(line)[0].tokens]


def refusal(text: str) -> tuple[str, str, Location]:
    with pytest.raises(ControlLanguageError) as caught:
        admit(text, "mixed")
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.code.value, diagnostic.error_class.value, Location(diagnostic.line, diagnostic.column)


@pytest.mark.rule("LANG-9")
def test_tokens_keep_line_and_column_counted_from_one() -> None:
    (line,) = tokenize('\n\t@i1 intent define  "a b" ')
    assert line.tokens == (
        Token(TokenKind.STATEMENT_ID, "i1", 2, 2),
        Token(TokenKind.ATOM, "intent", 2, 6),
        Token(TokenKind.ATOM, "define", 2, 13),
        Token(TokenKind.STRING, "a b", 2, 21),
    )


@pytest.mark.rule("LANG-7")
def test_lists_need_no_space_around_them() -> None:
    assert kinds_and_values('f[$a b]"x"[]') == [
        (TokenKind.ATOM, "f"), (TokenKind.LIST_OPEN, "["), (TokenKind.REFERENCE, "a"), (TokenKind.ATOM, "b"),
        (TokenKind.LIST_CLOSE, "]"), (TokenKind.STRING, "x"), (TokenKind.LIST_OPEN, "["), (TokenKind.LIST_CLOSE, "]"),
    ]  # fmt: skip


@pytest.mark.rule("LANG-5")
def test_sigils_count_only_at_the_start_of_a_word() -> None:
    assert kinds_and_values("a@b$c 5$ #x") == [
        (TokenKind.ATOM, "a@b$c"),
        (TokenKind.ATOM, "5$"),
        (TokenKind.ATOM, "#x"),
    ]


@pytest.mark.rule("LANG-5")
@pytest.mark.parametrize(
    ("source", "value"),
    [
        (r'"\n\t\"\\\q"', '\n\t"\\q'),
        ('""', ""),
        ('"a\tb\rc\x0bd"', "a\tb\rc\x0bd"),
        ('"one\u2028two\u0085three\x1cfour"', "one\u2028two\u0085three\x1cfour"),
        ('"@i1 $x [a] 😀"', "@i1 $x [a] 😀"),
    ],
)
def test_strings(source: str, value: str) -> None:
    assert kinds_and_values(source) == [(TokenKind.STRING, value)]


@pytest.mark.rule("LANG-5")
def test_lines_end_at_line_feeds_only() -> None:
    lines = tokenize('a\r\nb\n"c\u2028d\x85e"\n\r\n \t\nf')
    assert [(line.number, line.tokens[0].value) for line in lines] == [
        (1, "a"), (2, "b"), (3, "c\u2028d\x85e"), (6, "f"),
    ]  # fmt: skip


@pytest.mark.rule("LANG-8")
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('@i1 intent define "quorum', 19),
        ('@i1 intent define "quorum\\"', 19),
        ('@i1 set $i1 output ab"cd', 22),
        ('@i1 intent define "a""b"', 22),
        ('@i1 intent define "a"b', 22),
        ('@i1 set $i1"x"', 12),
        ("@i1 set $i1 output a\x00b", 21),
        ("@i1 set $i1 output a\rb", 21),
        ("@i1 set $i1 output a\r", 21),
        ("@i1 set $i1 output\u00a0a", 19),
        ("@i1 set $i1 output\u2028a", 19),
    ],
)
def test_lexical_errors(text: str, column: int) -> None:
    assert refusal(text) == ("MALFORMED_LINE", "lexical", Location(1, column))


@pytest.mark.rule("LANG-7")
@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("hello", "INVALID_STATEMENT_ID", 1),
        ("\t@ intent", "INVALID_STATEMENT_ID", 2),
        ("\ufeff@i1 intent", "INVALID_STATEMENT_ID", 1),
        ("@é intent", "INVALID_STATEMENT_ID", 1),
        ("$i1 intent", "INVALID_STATEMENT_ID", 1),
        ("@a set $x.y b c", "INVALID_ARGUMENT_KIND", 8),
        ("@a set $ b c", "INVALID_ARGUMENT_KIND", 8),
        ("@a set @b c d", "INVALID_ARGUMENT_KIND", 8),
        ("@a set [a", "MALFORMED_LINE", 8),
        ("@a set a]", "MALFORMED_LINE", 9),
        ("@a set [a [b]]", "INVALID_ARGUMENT_KIND", 11),
        ('@a set [a "b"]', "INVALID_ARGUMENT_KIND", 11),
    ],
)
def test_parse_errors(text: str, code: str, column: int) -> None:
    assert refusal(text) == (code, "parse", Location(1, column))


@pytest.mark.parametrize("text", ["@i1", '@i1 "intent" define', "@i1 $intent", "@i1 [intent]", "@i1 ] define"])
def test_a_line_without_a_command_word_is_an_unknown_command(text: str) -> None:
    assert refusal(text)[:2] == ("UNKNOWN_COMMAND", "unknown command")


@pytest.mark.rule("LANG-2", "LANG-34")
def test_tokenizer_and_parser_stop_at_their_first_error() -> None:
    assert refusal('hello\n@i1 "a\n@i2 "b\n')[2] == Location(2, 5)
    assert refusal("@a set a]\nhello\n")[2] == Location(1, 9)
