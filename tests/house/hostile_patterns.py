"""Run every regular expression on texts that nearly match; `test_hostile_texts` starts this in its own process.

The patterns are those that a module compiles on import, and those in its calls of `re`. A text has three parts: what
comes before an unbounded repeat of the pattern, many repetitions, and an end that does not match. A pattern with cubic
time needs hours for a text that a linear one reads in milliseconds.

A sixteenth and a quarter of each text are read first. A cubic pattern takes 1/4096 and 1/64 of the whole text's time
for them, and a linear or quadratic one more, so reading ends with a part that took less than that of the limit. It also
ends with one that took its share of the limit, since the time grows at least as the text does.
"""

import ast
import builtins
import importlib
import os
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import django

CHARS = 8_000
"""As long as a message may be."""
QUADRATIC = re.compile("a.*b")
"""Looks at each pair of places of a text of `a`. The slowest pattern of the project takes nine times as long."""
TIMES = 30
"""How much longer than `QUADRATIC` a pattern may take for a text. Machines differ; a cubic one takes 2,000 times."""
PARTS = ((1 / 16, 1 / 4096), (1 / 4, 1 / 64), (1, 1))
"""Parts of a text that are read one after the other, each with the part of the limit below which reading ends."""
LEAST_PATTERNS = 300
ROOTS = ("mrpvm", "sessions_app")
NOT_INSTALLED = {"tokenizers"}
OF_OWN_FILES = {"sessions_app.web.turns.graph.standalone"}
"""Modules whose patterns read files of the project alone."""
EXAMPLES = 4
"""How many texts stand for what a part of a pattern matches."""
SOME_WORD = "word"
"""Stands for what a function puts into a pattern."""
ALPHABET = [chr(code) for code in range(1, 127)] + list("\u00a0\u00e9\u00df\u00b2\u0130\u2013\u201c\u201d\u2026\u4e2d")
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
ENDS = ("\x00", "\n\x00!")


@dataclass(frozen=True)
class Found:
    """A pattern, its source, and whether it must only match a whole text."""

    module: str
    pattern: re.Pattern[Any]
    is_whole: bool = False


class TooSlow(Exception):
    """The time limit for a text has passed."""


class Namespace(dict[str, Any]):
    """The names of a module; an unknown name gives a word."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, SOME_WORD)


def compiled_on_import() -> list[Found]:
    """Import every module; return the patterns that they compile."""
    found: list[Found] = []
    compile_pattern = re.compile

    def noting(*args: Any, **kwargs: Any) -> re.Pattern[Any]:
        pattern = compile_pattern(*args, **kwargs)
        module = sys._getframe(1).f_globals["__name__"]
        if module.startswith(ROOTS):
            found.append(Found(module, pattern))
        return pattern

    re.compile = noting  # type: ignore[assignment]
    django.setup()
    for root in ROOTS:
        for module in pkgutil.walk_packages([root], f"{root}."):
            if not module.name.endswith("__main__"):
                try:
                    importlib.import_module(module.name)
                except ModuleNotFoundError as error:
                    if error.name not in NOT_INSTALLED:
                        raise
    re.compile = compile_pattern
    return found


def written_in_calls() -> Iterator[Found]:
    """Return the patterns of calls of `re` in functions, with a word for each value known only at run time."""
    for file in (file for root in ROOTS for file in Path(root).rglob("*.py")):
        name = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        source = file.read_text()
        for call in ast.walk(ast.parse(source)) if re.search(r"\bre\.", source) else ():
            match call:
                case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method)) if method != "escape":
                    names = Namespace(vars(sys.modules.get(name, re)))
                    flags = [item.value for item in call.keywords if item.arg == "flags"]
                    if method == "compile":
                        flags += call.args[1:]
                    try:
                        text = _value(call.args[0], names)
                    except (KeyError, TypeError):  # of the lexicon; its patterns were collected on import
                        continue
                    yield Found(name, re.compile(text, _value(flags[0], names) if flags else 0), method == "fullmatch")


def _value(expression: ast.expr, names: Namespace) -> Any:
    return eval(compile(ast.Expression(expression), "<call>", "eval"), names)  # noqa: S307  the project's own text


def hostile_parts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Return the parts of texts that the pattern nearly matches: a start, what is repeated, and an end."""
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    parsed = list(parser.parse(pattern.pattern, flags))
    alphabet = _distinguished(parsed)
    pairs = {
        pair
        for before, body in _repeats(parsed, [""], alphabet)
        for unit in _examples(body, alphabet, every=True)
        for pair in ((before, unit), ("", unit), ("", before + unit), ("", before))
        if pair[1]
    }
    for before, unit in sorted(pairs):
        for end in ENDS:
            yield before, unit, end


def _sets(parsed: Any) -> Iterator[Any]:
    """Yield each set of characters in a parsed pattern, and each single character that is not part of a word."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and parsed[0] in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
        if parsed[0] is not op.LITERAL or not chr(parsed[1]).isalnum():
            yield parsed
    elif isinstance(parsed, (tuple, list, parser.SubPattern)):
        for part in parsed:
            yield from _sets(part)


def _distinguished(parsed: Any) -> list[str]:
    """Return one character of each class of characters that the pattern's sets do not distinguish."""
    sets = list(_sets(parsed))
    kinds: dict[tuple[bool, ...], str] = {}
    for char in ALPHABET:
        kinds.setdefault(tuple(_holds(item, char) for item in sets), char)
    return list(kinds.values())


def _holds(item: tuple[Any, Any], char: str) -> bool:
    kind, value = item
    if kind is op.ANY:
        return char != "\n"
    if kind is op.LITERAL:
        return ord(char) == value
    if kind is op.NOT_LITERAL:
        return ord(char) != value
    is_negated = value[0][0] is op.NEGATE
    return any(_is_one_of(part, char) for part in value) != is_negated


def _is_one_of(part: tuple[Any, Any], char: str) -> bool:
    kind, value = part
    if kind is op.LITERAL:
        return ord(char) == value
    if kind is op.RANGE:
        return value[0] <= ord(char) <= value[1]
    if kind is op.CATEGORY:
        name = str(value).removeprefix("CATEGORY_")
        is_so = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}
        return is_so[name.removeprefix("NOT_")] != name.startswith("NOT_")
    return False


def _repeats(parsed: Any, before: list[str], alphabet: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the body of each unbounded repeat, with examples of the text before it."""
    for kind, value in parsed:
        if kind in REPEATS and value[1] is op.MAXREPEAT:
            yield from ((text, value[2]) for text in before)
        for inner in _inner(kind, value):
            yield from _repeats(inner, before, alphabet)
        before = [text + example for text in before for example in _examples([(kind, value)], alphabet)][:EXAMPLES]


def _inner(kind: Any, value: Any) -> list[Any]:
    """Return the sequences inside an element of a parsed pattern."""
    if kind in REPEATS:
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[-1]]
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind is op.BRANCH:
        return list(value[1])
    return [value[1]] if kind in (op.ASSERT, op.ASSERT_NOT) else []


def _examples(parsed: Any, alphabet: list[str], *, every: bool = False) -> list[str]:
    """Return texts that a sequence matches: a few, or with `every` one for each class of characters of a single set."""
    texts = [""]
    for kind, value in parsed:
        texts = [text + example for text in texts for example in _of_element(kind, value, alphabet)]
        texts = texts if every and len(parsed) == 1 else texts[:EXAMPLES]
    return texts


def _of_element(kind: Any, value: Any, alphabet: list[str]) -> list[str]:
    if kind is op.LITERAL:
        return [chr(value)]
    if kind in (op.ANY, op.IN, op.NOT_LITERAL):
        return [char for char in alphabet if _holds((kind, value), char)]
    if kind in REPEATS:
        least, _, body = value
        return [text * max(least, 1) for text in _examples(body, alphabet)] + ([] if least else [""])
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [""]
    inner = _inner(kind, value)
    return [text for part in inner for text in islice(_examples(part, alphabet), EXAMPLES)] or [""]


def slow_text(found: Found) -> str | None:
    """Return the first text that takes a pattern too long."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        for start, unit, end in hostile_parts(found.pattern):
            for share, least in PARTS:
                text = start + (unit * (CHARS // len(unit) + 1))[: int(CHARS * share)] + end
                limit = most_seconds() * share
                taken = _seconds(found, text, limit)
                if taken >= limit:
                    return text
                if taken < most_seconds() * least:
                    break
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return None


@cache
def most_seconds() -> float:
    """Return the CPU time that a pattern may take for one text on this machine."""
    began = time.process_time()
    for _ in range(3):
        _search(Found(__name__, QUADRATIC), "a" * CHARS)
    return TIMES * (time.process_time() - began) / 3


def _seconds(found: Found, text: str, limit: float) -> float:
    """Return the CPU time that a pattern takes for a text, `limit` at most."""
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    began = time.process_time()
    try:
        _search(found, text)
    except TooSlow:
        return limit
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - began


def _search(found: Found, text: str) -> None:
    given = text.encode() if isinstance(found.pattern.pattern, bytes) else text
    if found.is_whole:
        found.pattern.fullmatch(given)
    else:
        for _ in found.pattern.finditer(given):
            pass


def main() -> int:
    """Print each pattern that is too slow, with its text; return the exit code."""
    patterns = {(found.pattern, found.is_whole): found for found in (*compiled_on_import(), *written_in_calls())}
    assert len(patterns) >= LEAST_PATTERNS, f"only {len(patterns)} patterns were found"
    is_any_slow = False
    for found in patterns.values():
        if found.module not in OF_OWN_FILES and (text := slow_text(found)) is not None:
            is_any_slow = True
            print(f"{found.module}: {found.pattern.pattern!r} is slow on {text[:60]!r}…{text[-4:]!r}")
    return 1 if is_any_slow else 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    sys.exit(main())
