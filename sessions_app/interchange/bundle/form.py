"""The form of a bundle: a zip of JSON lines, one file for each table, and a manifest with their checksums.

A row is an array of the values of its columns. A reference to another row is the row's place in its file,
counted from 0, so the bytes of a bundle do not depend on keys of the database that it comes from.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import BinaryField, DateTimeField, Field, ForeignKey, JSONField, Model

from mrpvm.errors import InvalidInput
from mrpvm.llm.storable import is_storable
from mrpvm.wire import json_bytes
from sessions_app.addresses import IdConverter
from sessions_app.models import (
    ContextUnit,
    Derivation,
    ExplainabilityTurn,
    FrozenContent,
    HiddenUnit,
    KBMount,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Message,
    RememberedText,
    Session,
    SourceArtifact,
    TurnConditions,
    TurnEvents,
    TurnRating,
    UnitArtifact,
    UnitEvent,
)
from sessions_app.models.fields import IdField
from sessions_app.models.knowledge.bases import MAX_NAME_CHARS
from sessions_app.models.turns.compression import CompressedJSONField

FORMAT = "mrpvm-bundle"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
_IMPORTED = " (imported)"
_FIRST_YEAR = 1970
_ID = re.compile(IdConverter.regex)


class BundleRefused(InvalidInput):
    """The file is no bundle that can be imported; the message says why."""

    def __init__(self, message: str, *, code: str = "BUNDLE_REFUSED") -> None:
        super().__init__(message, code=code)


@dataclass(frozen=True, slots=True)
class Table:
    """One file of a bundle: the rows of a model, without the columns that `omitted` names."""

    model: type[Model]
    omitted: frozenset[str] = frozenset()

    @property
    def file_name(self) -> str:
        """Return the name of the file in the zip."""
        return f"{self.model._meta.model_name}.jsonl"

    @property
    def fields(self) -> "list[Field[Any, Any]]":
        """Return the columns of a line, in their order."""
        return [
            field for field in self.model._meta.concrete_fields
            if not field.auto_created and field.name not in self.omitted
        ]  # fmt: skip


def _table(model: type[Model], *omitted: str) -> Table:
    return Table(model, frozenset(omitted))


TABLES = (
    _table(FrozenContent, "project", "created_at", "unused_since"),
    _table(KnowledgeLayer, "index_version", "postings_layer", "worked_at"),
    _table(KnowledgeSource),
    _table(LayerUnit),
    _table(HiddenUnit),
    _table(Derivation),
    _table(UnitArtifact),
    _table(SourceArtifact),
    _table(KnowledgeBase, "project", "is_default", "parent", "compaction_asked_at"),
    _table(
        Session,
        "project",
        "event_sequence",
        "compacted_sequence",
        "expires_at",
        "expired_at",
        "deleted_at",
        "imported_at",
    ),
    _table(TurnConditions, "project"),
    _table(ExplainabilityTurn, "lease_until", "process", "cancel_requested_at", "trial_number"),
    _table(TurnEvents, "payload_index"),
    _table(Message),
    _table(ContextUnit),
    _table(UnitEvent),
    _table(RememberedText),
    _table(KBMount, "mounted_by"),
    _table(TurnRating, "rated_by"),
)
"""The files of a bundle; a row points at rows of files before its own, or at earlier ones of its own.

Left out is what belongs to the server and not to the session: people, other projects' keys, what is running, what is
derived and made again (postings, packed layers, memory that runs out by itself), and numbered events for open pages.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """One file of the zip: its size in bytes and its SHA-256 in hexadecimal."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleManifest:
    """What a bundle says of itself. `root` is the SHA-256 of the lines `name size sha256` of its files.

    `left_out` names, in sentences, what turns saw and the bundle does not hold.
    """

    format: str = FORMAT
    version: int = FORMAT_VERSION
    product: str
    session_id: str
    files: tuple[BundledFile, ...]
    root: str
    left_out: tuple[str, ...] = ()


def root_of(files: Iterable[BundledFile]) -> str:
    """Return the hash of all files of a bundle."""
    lines = "".join(f"{item.name} {item.size} {item.sha256}\n" for item in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def imported_name(name: str) -> str:
    """Return what a base is called where it is imported; a name that leaves no room stays as it is."""
    longer = name + _IMPORTED
    return name if len(longer) > MAX_NAME_CHARS else longer


def own_name(name: str) -> str:
    """Return what an imported base was called where it comes from."""
    return name.removesuffix(_IMPORTED)


MARKED: Sequence[type[Model]] = (LayerUnit, HiddenUnit, KnowledgeLayer)
"""What the marks of a turn's view count; see `TurnView`."""

type Places = Mapping[type[Model], Mapping[Any, int]]
"""The place of each row in its file, by its key."""
type Keys = Mapping[type[Model], Sequence[Any]]
"""The key of each row of a file, by its place."""


def line_of(table: Table, row: Model, places: Places) -> bytes:
    """Return a row as a line of its file; what it points at outside of the bundle is null."""
    return json_bytes([_as_json(field, row, places) for field in table.fields])


def _as_json(field: "Field[Any, Any]", row: Model, places: Places) -> Any:
    value = getattr(row, field.attname)
    if isinstance(field, ForeignKey):
        return places.get(field.related_model, {}).get(value)
    if isinstance(field, DateTimeField):
        return value and value.isoformat()
    if isinstance(field, BinaryField) and not isinstance(field, CompressedJSONField):
        return value if isinstance(value, list) else base64.b64encode(value).decode()
    # PostgreSQL keeps the keys of an object in an order of its own.
    return _in_order(value) if isinstance(field, JSONField) else value


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def row_of(table: Table, values: Any, keys: Keys) -> Model:
    """Return the unsaved row of a line.

    Raises:
        BundleRefused: a value is not what its column holds.
    """
    fields = table.fields
    if not isinstance(values, list) or len(values) != len(fields):
        raise BundleRefused(f"A line of {table.file_name} does not hold {len(fields)} values.")
    row = table.model()
    for field, value in zip(fields, values, strict=True):
        try:
            setattr(row, field.attname, _from_json(field, value, keys))
        except (ValidationError, ValueError, TypeError, IndexError) as error:
            reason = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
            raise BundleRefused(f"'{field.name}' in {table.file_name} is not what it must be: {reason}") from None
    return row


def _from_json(field: "Field[Any, Any]", value: Any, keys: Keys) -> Any:
    if value is None:
        if not field.null:
            raise ValueError("it is null")
        return None
    if isinstance(field, ForeignKey):
        if not isinstance(value, int) or value < 0:
            raise ValueError(f"{value!r} is no place in a file")
        return keys[field.related_model][value]
    if isinstance(field, DateTimeField):
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("the time has no zone")
        if not _FIRST_YEAR <= moment.year < MAXYEAR:
            raise ValueError(f"the time is of the year {moment.year}")
        return moment
    if isinstance(field, BinaryField) and not isinstance(field, CompressedJSONField):
        return value if field.model is TurnEvents else base64.b64decode(value, validate=True)
    if not is_storable(value):
        raise ValueError("it holds a NUL or half of a surrogate pair")
    if isinstance(field, JSONField | CompressedJSONField):
        return value
    python = field.to_python(value)
    if python != value:
        raise ValueError(f"{value!r} is of another type")
    if isinstance(field, IdField) and not _ID.fullmatch(python):
        raise ValueError(f"{value!r} is no id")
    field.run_validators(python)
    if field.choices and python not in dict(field.flatchoices) and not (field.blank and python == ""):
        raise ValueError(f"{value!r} is none of its values")
    return python
