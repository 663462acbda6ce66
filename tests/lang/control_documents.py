"""Hypothesis strategies for control documents: well-formed ones of every object kind, and damaged ones."""

import random
import string
from collections.abc import Callable

from hypothesis import strategies as st

from mrpvm.lang.arguments import (
    Atom,
    AtomList,
    AtomOf,
    Flag,
    Label,
    Number,
    NumberOrAtom,
    Text,
    Value,
    ValueType,
    quote,
)
from mrpvm.lang.schema import OBJECTS, STRENGTHS, TRIPLE, ObjectKind
from mrpvm.values import ACTS, PLUGIN_TYPES, RELATIONS, ROLES

TEXTS = st.text(max_size=30)
ATOMS = st.text(string.ascii_letters + string.digits + "_-:.;#{}'\\é", min_size=1, max_size=12)
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6), st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 10**40)
)
TIMES = st.datetimes().map(lambda moment: moment.isoformat()) | st.dates().map(lambda day: day.isoformat())
UNIT_FIELDS = sorted(
    OBJECTS[ObjectKind.KU].fields.keys() - {*TRIPLE, "confidence", "claim", "procedure", "role", "topic"}
)


def values_of(type_: ValueType) -> st.SearchStrategy[Value]:
    """Return a strategy for the values of a field of this type."""
    if isinstance(type_, AtomOf):
        return st.sampled_from(type_.values)
    if isinstance(type_, AtomList):
        return st.lists(values_of(type_.item), max_size=3).map(tuple)
    if isinstance(type_, Label):
        return TIMES if type_.is_time else TEXTS
    if isinstance(type_, Number):
        unit_interval = st.floats(0, 1) | st.integers(0, 1)
        return st.integers(0, 10**12) if type_.is_whole else unit_interval if type_.maximum == 1 else NUMBERS
    known: dict[type, st.SearchStrategy[Value]] = {
        Text: TEXTS,
        Atom: ATOMS,
        Flag: st.booleans(),
        NumberOrAtom: ATOMS | NUMBERS,
    }
    return known[type(type_)]


class _Document:
    """Statements in random order, with each constructor before its references."""

    def __init__(self, draw: Callable[..., Value]) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.constructors: dict[str, int] = {}

    def construct(self, object_id: str, rest: str) -> str:
        self.lines.append(f"@{object_id} {rest}")
        self.constructors[object_id] = len(self.lines) - 1
        return object_id

    def say(self, rest: str, at_end: bool = False) -> None:
        position = len(self.lines)
        if not at_end:
            named = [int(line) for word, line in self.constructors.items() if f"${word} " in f"{rest} "]
            position = int(str(self.draw(st.integers(max(named) + 1, position))))
        self.lines.insert(position, f"@z{len(self.lines)} {rest}")
        for word, line in self.constructors.items():
            self.constructors[word] = line + (line >= position)

    def fields(self, object_id: str, kind: ObjectKind, names: list[str]) -> None:
        types = OBJECTS[kind].fields
        chosen = self.draw(st.lists(st.sampled_from(names), max_size=4)) if names else []
        required = () if kind is ObjectKind.KU else OBJECTS[kind].required
        for name in [*required, *chosen]:  # type: ignore[misc]
            self.say(f"set ${object_id} {name} {types[name].write(self.draw(values_of(types[name])))}")


def _optional(kind: ObjectKind, *without: str) -> list[str]:
    return sorted(OBJECTS[kind].fields.keys() - set(without))


@st.composite
def mixed_documents(draw: Callable[..., Value]) -> str:
    """Return a well-formed document of kind mixed, with `f1` to be injected as a frame."""
    document = _Document(draw)
    for number in range(1, 1 + int(str(draw(st.integers(0, 3))))):
        _add_unit(document, draw, number)
    for number in range(1, 1 + int(str(draw(st.integers(0, 2))))):
        _add_attempt(document, draw, number)
    return "".join(f"{line}\n" for line in document.lines)


def _add_unit(document: _Document, draw: Callable[..., Value], number: int) -> None:
    name, section = f"k{number}", f"c{number}"
    for unit, ku_type in ((section, "composite"), (name, "atomic")):
        document.construct(unit, f"ku {ku_type} {quote(f'src::{unit}')}")
        role = str(draw(st.sampled_from(ROLES)))
        document.say(f"set ${unit} role {role}")
        document.say(f"set ${unit} topic {quote(str(draw(TEXTS)))}")
        content = "procedure" if role == "Procedure" else "claim"
        document.say(f"set ${unit} {content} {quote(str(draw(TEXTS)))}")
        document.fields(unit, ObjectKind.KU, UNIT_FIELDS)
        for field in ("sourceId", "chunkId"):
            document.say(f"set ${unit} {field} {quote(str(draw(TEXTS)))}")
    if draw(st.booleans()):
        document.say(f"set ${name} symbolicSubject {quote(str(draw(TEXTS)))}")
        document.say(f"set ${name} symbolicObject {quote(str(draw(TEXTS)))}")
        document.say(f"set ${name} symbolicRelation {draw(st.sampled_from(RELATIONS))}")
        document.fields(name, ObjectKind.KU, ["confidence"])
    if draw(st.booleans()):
        document.say(f"parent ${name} ${section}")
        document.say(f"derived_from ${section} ${name}")


def _add_attempt(document: _Document, draw: Callable[..., Value], number: int) -> None:
    intent, seed, sub, plugin, target, branch, result = (f"{prefix}{number}" for prefix in "isdpvbx")
    document.construct(intent, f"intent {draw(st.sampled_from(ACTS))} {quote(str(draw(TEXTS)))}")
    document.fields(intent, ObjectKind.INTENT, _optional(ObjectKind.INTENT))
    document.construct(seed, f"seed ${intent} {draw(ATOMS)} {draw(ATOMS)} {quote(str(draw(TEXTS)))}")
    document.fields(seed, ObjectKind.SEED, _optional(ObjectKind.SEED))
    document.construct(sub, f"subproblem ${intent} {quote(str(draw(TEXTS)))}")
    document.fields(sub, ObjectKind.SUBPROBLEM, _optional(ObjectKind.SUBPROBLEM))
    document.construct(plugin, f"plugin {draw(st.sampled_from(PLUGIN_TYPES))} {draw(ATOMS)}")
    document.fields(plugin, ObjectKind.PLUGIN, _optional(ObjectKind.PLUGIN))
    document.construct(target, f"validate {draw(ATOMS)}")
    document.fields(target, ObjectKind.VALIDATE, _optional(ObjectKind.VALIDATE))
    document.construct(branch, f"branch ${intent} ${seed} ${plugin}")
    document.say(f"needs ${branch} ${target}")
    document.construct(result, f"result_record {draw(ATOMS)}")
    document.fields(result, ObjectKind.RESULT, _optional(ObjectKind.RESULT))
    document.say(f"result ${branch} ${result}")
    document.say(f"allows ${sub} {draw(ATOMS)}")
    document.say(f"constrain ${draw(st.sampled_from((intent, seed, branch)))} {quote(str(draw(TEXTS)))}")
    document.say(f"deactivate ${seed} {quote(str(draw(TEXTS)))}")
    document.fields(branch, ObjectKind.BRANCH, ["failureReason"])
    for move in draw(st.sampled_from(((), ("active",), ("succeeded",), ("active", "succeeded")))):  # type: ignore[union-attr]
        document.say(f"{draw(st.sampled_from((f'status ${branch}', f'set ${branch} status')))} {move}", at_end=True)
    if draw(st.booleans()):
        _add_deliberation(document, draw, number)


def _add_deliberation(document: _Document, draw: Callable[..., Value], number: int) -> None:
    strength = draw(st.sampled_from(STRENGTHS))
    document.construct(f"w{number}", f"policy $f1 {draw(st.integers(0, 3))} comparative 4 2 2 {strength}")
    document.fields(f"w{number}", ObjectKind.POLICY, _optional(ObjectKind.POLICY))
    document.construct(f"n{number}", f"candidate $f1 $b{number} $x{number} {strength}")
    document.fields(f"n{number}", ObjectKind.CANDIDATE, _optional(ObjectKind.CANDIDATE))
    document.construct(f"o{number}", f"objective $f1 [cost $n{number} diversity]")
    document.construct(f"m{number}", f"compare $f1 [$n{number} $x{number}] {quote(str(draw(TEXTS)))}")
    document.fields(f"m{number}", ObjectKind.COMPARE, _optional(ObjectKind.COMPARE))
    document.construct(f"g{number}", f"challenge $f1 $n{number} {quote(str(draw(TEXTS)))} {draw(ATOMS)}")
    document.fields(f"g{number}", ObjectKind.CHALLENGE, _optional(ObjectKind.CHALLENGE))


_DEBRIS = (
    '"', "\\", "[", "]", "@", "$", " ", "\t", "\n", "\r\n", "\r", "\0", "\x1b[31m", "\x85", "\u00a0", "\u2028",
    "\ufeff", "é", "😀", "$k1", "$i1", "@k1", "set", "ku", "intent", "true", "1", "-0.5", "1e9", "9" * 400, "[verify]",
    '"x"', "status $b1 active", "parent $k1 $k1", "claim", "confidence", "```", "# note",
)  # fmt: skip


def damaged(text: str, chance: random.Random) -> str:
    """Return `text` after one to six random cuts, copies, swaps and insertions."""
    for _ in range(chance.randint(1, 6)):
        text = chance.choice(_DAMAGES)(text, chance)
    return text


def _insert(text: str, chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(_DEBRIS) + text[at:]


def _cut(text: str, chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + text[at + chance.randint(1, 12) :]


def _swap_words(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    one, other = chance.randrange(len(words)), chance.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def _move_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    line = lines.pop(chance.randrange(len(lines)))
    lines.insert(chance.randint(0, len(lines)), line)
    return "\n".join(lines)


def _copy_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(chance.randint(0, len(lines)), chance.choice(lines))
    return "\n".join(lines)


def _drop_line(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


_DAMAGES = (_insert, _insert, _cut, _swap_words, _move_line, _copy_line, _drop_line)
