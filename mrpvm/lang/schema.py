"""The language as one table: commands, arguments, fields, object kinds, document kinds.

Every step behind the parser reads this table; none has a list of its own. A new command or field is one line here.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct, field

from mrpvm.lang.arguments import (
    Atom,
    AtomList,
    AtomOf,
    Flag,
    Label,
    Number,
    NumberOrAtom,
    Reference,
    ReferenceList,
    Text,
    ValueType,
)
from mrpvm.lang.diagnostics import DiagnosticCode
from mrpvm.values import ACTS, KU_TYPES, PHASE_SCOPES, PLUGIN_TYPES, RELATIONS, ROLES


class DocumentKind(StrEnum):
    """What a control document may carry."""

    INTENT = "intent"
    CONTEXT = "context"
    MIXED = "mixed"


class ObjectKind(StrEnum):
    """Kinds of object a reference can point to; frames are only ever injected by the caller."""

    FRAME = "frame"
    INTENT = "intent"
    SEED = "seed"
    SUBPROBLEM = "subproblem"
    PLUGIN = "plugin"
    KU = "ku"
    VALIDATE = "validate"
    POLICY = "policy"
    OBJECTIVE = "objective"
    CANDIDATE = "candidate"
    COMPARE = "compare"
    CHALLENGE = "challenge"
    BRANCH = "branch"
    RESULT = "result"


CLOSURE_MODES = ("first_valid", "best_effort", "comparative", "scientific")
STRENGTHS = ("weak", "sufficient", "strong")
CRITERIA = ("validation_strength", "robustness", "cost", "diversity")
SEED_STATES = ("active", "deactivated")
BRANCH_MOVES: Mapping[str, tuple[str, ...]] = {
    "queued": ("active", "succeeded", "failed"),
    "active": ("succeeded", "failed"),
    "succeeded": (),
    "failed": (),
}
"""States of a branch with their legal moves; queued to succeeded passes through active."""
TRIPLE = ("symbolicSubject", "symbolicRelation", "symbolicObject")


class Parameter(Struct, frozen=True):
    """One argument of a command: its name in LANG-10, its type, the kinds a reference in it may have.

    No `type` means any argument (the field of a `set` decides), no `target` any kind of object; `attribute` names the
    argument on the admitted object.
    """

    name: str
    type: ValueType | None
    target: tuple[ObjectKind, ...] = ()
    attribute: str = ""


class Command(Struct, frozen=True):
    """One command's signature.

    `creates` is the kind a constructor makes. A `is_relation` command makes one edge from its first to its second
    argument. `edges` are the edges a constructor implies: type, parameter, and whether the new object is the edge's
    origin.
    """

    name: str
    parameters: tuple[Parameter, ...]
    creates: ObjectKind | None = None
    is_relation: bool = False
    edges: tuple[tuple[str, str, bool], ...] = ()

    @property
    def signature(self) -> str:
        """Return the command with its arguments, for messages."""
        return " ".join([self.name, *(f"<{parameter.name}>" for parameter in self.parameters)])


class ObjectSchema(Struct, frozen=True):
    """Fields an object kind has for `set`; `state_field` is the one `status` moves."""

    fields: Mapping[str, ValueType] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    state_field: str | None = None


@lru_cache(maxsize=256)
def attribute_name(name: str) -> str:
    """Return the Python attribute of a field or argument name: `utilityActs` is `utility_acts`."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


_TEXT, _LABEL, _ATOM, _FLAG, _NUMBER, _ATOMS = Text(), Label(), Atom(), Flag(), Number(), AtomList()
_ACT = AtomOf(ACTS, DiagnosticCode.INVALID_ACT_VALUE)
_STRENGTH = AtomOf(STRENGTHS)
_INDEX = Number(expected="a whole number from 0 up", is_whole=True, minimum=0)
_TIME = Label(expected="an ISO-8601 date or time", is_time=True)
_K = ObjectKind


def _to(kind: ObjectKind, name: str = "", attribute: str = "") -> Parameter:
    article = "an" if kind.value[0] in "aeio" else "a"
    parameter = name or kind.value
    return Parameter(parameter, Reference(f"{article} {kind.value}"), (kind,), attribute or f"{parameter}_id")


def _argument(name: str, type_: ValueType | None, attribute: str = "") -> Parameter:
    return Parameter(name, type_, (), attribute or attribute_name(name))


def _relation(name: str, start: ObjectKind, end: ObjectKind) -> Command:
    return Command(name, (_to(start), _to(end)), is_relation=True)


_OBJECT = Parameter("object", Reference("an object"))
_FRAME_CONTAINS = (("contains", "frame", False),)
_INTENT_CONTAINS = (("contains", "intent", False),)

_CONSTRUCTORS = (
    Command("intent", (_argument("act", _ACT), _argument("target", _TEXT)), _K.INTENT),
    Command(
        "seed",
        (_to(_K.INTENT), _argument("mode", _ATOM), _argument("action", _ATOM), _argument("focus", _TEXT)),
        _K.SEED,
        edges=_INTENT_CONTAINS,
    ),
    Command("subproblem", (_to(_K.INTENT), _argument("goal", _TEXT)), _K.SUBPROBLEM, edges=_INTENT_CONTAINS),
    Command(
        "plugin", (_argument("type", AtomOf(PLUGIN_TYPES), "family"), _argument("id", _ATOM, "plugin_id")), _K.PLUGIN
    ),
    Command("ku", (_argument("kuType", AtomOf(KU_TYPES)), _argument("kuId", _TEXT)), _K.KU),
    Command("validate", (_argument("mode", _ATOM),), _K.VALIDATE),
    Command(
        "policy",
        (
            _to(_K.FRAME),
            _argument("level", Number(expected="a whole number from 0 to 3", is_whole=True, minimum=0, maximum=3)),
            _argument("closureMode", AtomOf(CLOSURE_MODES)),
            _argument("maxFrontier", _INDEX),
            _argument("minFamilies", _INDEX),
            _argument("maxComparisons", _INDEX),
            _argument("validationFloor", _STRENGTH),
        ),
        _K.POLICY,
        edges=_FRAME_CONTAINS,
    ),
    Command(
        "objective",
        (_to(_K.FRAME), _argument("items", ReferenceList("references", CRITERIA, is_empty_allowed=True))),
        _K.OBJECTIVE,
        edges=_FRAME_CONTAINS,
    ),
    Command(
        "candidate",
        (_to(_K.FRAME), _to(_K.BRANCH), _to(_K.RESULT), _argument("strength", _STRENGTH)),
        _K.CANDIDATE,
        edges=(*_FRAME_CONTAINS, ("derived_from", "result", True)),
    ),
    Command(
        "compare",
        (
            _to(_K.FRAME),
            Parameter("items", ReferenceList("candidates or results"), (_K.CANDIDATE, _K.RESULT), "items"),
            _argument("text", _TEXT),
        ),
        _K.COMPARE,
        edges=(*_FRAME_CONTAINS, ("compares", "items", True)),
    ),
    Command(
        "challenge",
        (
            _to(_K.FRAME),
            Parameter("target", Reference("a candidate or a result"), (_K.CANDIDATE, _K.RESULT), "target_id"),
            _argument("goal", _TEXT),
            _argument("kind", _ATOM, "challenge_kind"),
        ),
        _K.CHALLENGE,
        edges=(*_FRAME_CONTAINS, ("challenges", "target", True)),
    ),
    Command(
        "branch",
        (_to(_K.INTENT), _to(_K.SEED), _to(_K.PLUGIN)),
        _K.BRANCH,
        edges=(("contains", "seed", False),),
    ),
    Command("result_record", (_argument("kind", _ATOM, "result_kind"),), _K.RESULT),
)
_CHANGES = (
    Command("set", (_OBJECT, _argument("field", _ATOM), _argument("value", None))),
    Command("constrain", (_OBJECT, _argument("constraint", _LABEL))),
    Command("allows", (_to(_K.SUBPROBLEM), _argument("regime", _ATOM))),
    Command("status", (_OBJECT, _argument("state", _ATOM))),
    Command("fail", (_to(_K.BRANCH), _argument("reason", _LABEL))),
    Command("deactivate", (_to(_K.SEED), _argument("reason", _LABEL))),
)
_RELATIONS = (
    _relation("needs", _K.BRANCH, _K.VALIDATE),
    _relation("uses", _K.BRANCH, _K.KU),
    _relation("supports", _K.RESULT, _K.KU),
    _relation("describes", _K.KU, _K.PLUGIN),
    _relation("parent", _K.KU, _K.KU),
    _relation("derived_from", _K.KU, _K.KU),
    _relation("split_from", _K.SEED, _K.SEED),
    _relation("result", _K.BRANCH, _K.RESULT),
)

COMMANDS: Mapping[str, Command] = {command.name: command for command in (*_CONSTRUCTORS, *_CHANGES, *_RELATIONS)}
"""Every command by name."""

CONSTRUCTOR_OF: Mapping[ObjectKind, Command] = {
    command.creates: command for command in _CONSTRUCTORS if command.creates is not None
}
"""The command that creates each kind; frames have none."""

COMMANDS_OF_KIND: Mapping[DocumentKind, tuple[str, ...]] = {
    DocumentKind.INTENT: (
        "intent", "seed", "subproblem", "validate", "set", "constrain", "allows", "split_from", "status", "deactivate",
    ),
    DocumentKind.CONTEXT: ("ku", "set", "parent", "derived_from"),
    DocumentKind.MIXED: tuple(COMMANDS),
}  # fmt: skip
"""Commands each kind of document allows."""

NEEDED_OBJECT: Mapping[DocumentKind, ObjectKind] = {
    DocumentKind.INTENT: ObjectKind.INTENT,
    DocumentKind.CONTEXT: ObjectKind.KU,
}
"""The object a document of this kind must have at least one of."""

_KU_FIELDS: Mapping[str, ValueType] = {
    **dict.fromkeys(
        ("title", "topic", "claim", "procedure", "condition", "utilityNote", "textBody", "sectionTitle"), _TEXT
    ),
    **dict.fromkeys(
        ("sourceId", "chunkId", "hash", "sourceName", "sourceType", "author", "unitType", "chunkType"), _LABEL
    ),
    **dict.fromkeys(("symbolicSubject", "symbolicObject"), _LABEL),
    **dict.fromkeys(("ingestedAt", "createdAt", "knowledgeDate"), _TIME),
    **dict.fromkeys(("chunkIndex", "unitIndex", "charStart", "charEnd"), _INDEX),
    "role": AtomOf(ROLES, DiagnosticCode.INVALID_ROLE_VALUE),
    "symbolicRelation": AtomOf(RELATIONS, DiagnosticCode.INVALID_RELATION_VALUE),
    "confidence": Number("a number from 0 to 1", minimum=0, maximum=1, code=DiagnosticCode.INVALID_CONFIDENCE_VALUE),
    "utilityActs": AtomList(_ACT),
    "phaseScopes": AtomList(AtomOf(PHASE_SCOPES, DiagnosticCode.INVALID_PHASE_SCOPE)),
}
_PLUGIN_LISTS = (
    "acceptsTasks", "acceptsModes", "acceptsKinds", "acceptsStatuses", "rejectsKinds", "rejectsRules", "outputs",
    "validates",
)  # fmt: skip

OBJECTS: Mapping[ObjectKind, ObjectSchema] = {
    _K.FRAME: ObjectSchema(),
    _K.INTENT: ObjectSchema(
        {**dict.fromkeys(("context", "criterion", "evidence"), _TEXT), "output": _LABEL, "outputLabel": _LABEL},
        required=("output",),
    ),
    _K.SEED: ObjectSchema(
        {"domain": _LABEL, "evidenceNeed": _LABEL, "state": AtomOf(SEED_STATES), "priority": NumberOrAtom()},
        state_field="state",
    ),
    _K.SUBPROBLEM: ObjectSchema({"reason": _LABEL, "successSignal": _LABEL}),
    _K.PLUGIN: ObjectSchema(
        {"name": _LABEL, "description": _TEXT, **dict.fromkeys(_PLUGIN_LISTS, _ATOMS), "cost": _ATOM}
    ),
    _K.KU: ObjectSchema(_KU_FIELDS, required=("sourceId", "chunkId", "role", "topic")),
    _K.VALIDATE: ObjectSchema(
        {"strength": _ATOM, "partialAllowed": _FLAG, "preserveConstraints": _FLAG},
        required=("strength", "partialAllowed", "preserveConstraints"),
    ),
    _K.POLICY: ObjectSchema({"validationFloor": _STRENGTH}),
    _K.OBJECTIVE: ObjectSchema(),
    _K.CANDIDATE: ObjectSchema({"score": _NUMBER, "selected": _FLAG}),
    _K.COMPARE: ObjectSchema({"status": _ATOM, "summary": _TEXT, "criterion": _LABEL}, state_field="status"),
    _K.CHALLENGE: ObjectSchema({"status": _ATOM, "resolution": _TEXT, "severity": _ATOM}, state_field="status"),
    _K.BRANCH: ObjectSchema({"status": AtomOf(tuple(BRANCH_MOVES)), "failureReason": _LABEL}, state_field="status"),
    _K.RESULT: ObjectSchema(
        {**dict.fromkeys(("validationStatus", "preservesConstraints", "structuralComplete"), _ATOM), "body": _TEXT}
    ),
}
"""Fields of every object kind; required ones per LANG-20, LANG-24 and LANG-26."""

ALL_FIELDS = frozenset(name for schema in OBJECTS.values() for name in schema.fields)
"""Every field some kind has; any other name is unknown."""
