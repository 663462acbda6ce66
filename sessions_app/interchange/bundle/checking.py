"""Reads a bundle and checks it against its manifest; no row is read or written."""

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from django.conf import settings

from mrpvm.archives import DAMAGED_ARCHIVE
from mrpvm.assistants.agents import AgentCatalogue
from mrpvm.assistants.personas import PersonaCatalogue
from mrpvm.assistants.skills import SkillSnapshot
from mrpvm.commands.result import CommandEnvelope
from mrpvm.conversation.context import ReportRecord
from mrpvm.conversation.preparation import ConversationState
from mrpvm.errors import ErrorRecord, TooLarge
from mrpvm.field_types import data_misfit
from mrpvm.llm.storable import is_storable
from mrpvm.preview import size_words
from mrpvm.trace.events import Event, event_of
from mrpvm.trace.graph import fold_graph
from mrpvm.trace.response import ResponseDocument
from mrpvm.values import KnowledgeUnit
from mrpvm.wire import from_wire
from sessions_app.interchange.bundle.form import (
    FORMAT,
    FORMAT_VERSION,
    MANIFEST,
    MARKED,
    TABLES,
    BundledFile,
    BundleManifest,
    BundleRefused,
    Table,
    root_of,
    row_of,
)
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    FrozenContent,
    KnowledgeLayer,
    LayerUnit,
    Message,
    Session,
    TurnConditions,
    TurnEvents,
)
from sessions_app.models.turns.payload_frames import Payload
from sessions_app.turns.view import TurnView

_MOST_MANIFEST_BYTES = 64 * 1024
_MOST_RATIO = 200
"""Highest compression ratio: traces reach 10 to 20, a zip bomb about 1,000."""
_CHUNK_BYTES = 64 * 1024
_ENTRY = b"PK\x01\x02"
_MOST_ENTRIES = 1_000
"""Signatures of directory entries in the file; the compressed bytes of a large bundle hold a few by chance."""
_LONG_LINE_BYTES, _MOST_PARTS = 1_000_000, 1_000_000
"""An empty list takes 3 bytes of a line and 64 of memory."""
_PART = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[,\[{]', re.DOTALL)
_TURN_VALUES: Mapping[str, Any] = {
    "model_usage": list[tuple[str, int, int]],
    "cited_sources": list[str],
    "response_document": ResponseDocument,
    "context_report": ReportRecord,
    "command_result": CommandEnvelope,
    "client_request": dict[str, Any],
    "unit_changes": dict[str, list[str]],
    "error": ErrorRecord,
}
"""What the columns of a turn hold that are neither text nor a number."""
_STEPS = list[
    tuple[str, str, str, str, int | None, float | None, str]
    | tuple[str, str, str, str, int | None, float | None, str, dict[str, float]]
]
"""What `TurnEvents.judged` holds."""
_MALFORMED = (TypeError, ValueError, KeyError, IndexError, AttributeError)
"""What reading a value of another shape raises."""


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """A bundle whose files match its manifest, and whose lines are all rows."""

    manifest: BundleManifest
    archive: zipfile.ZipFile
    counts: Counter[type]

    def lines(self, table: Table) -> Iterator[bytes]:
        """Return the lines of a file."""
        with self.archive.open(table.file_name) as part:
            yield from part


def checked_bundle(file: IO[bytes]) -> CheckedBundle:
    """Return what an open file holds.

    Raises:
        BundleRefused: it is no bundle, from a newer version, cut or altered, or its rows do not fit together.
        TooLarge: BUNDLE_TOO_LARGE, it holds more than `MRPVM_MAX_BUNDLE_BYTES` once it is unpacked.
    """
    try:
        _check_entries(file)
        archive = zipfile.ZipFile(file)
        manifest = _manifest(archive)
        _check_names(archive, manifest)
        for item in manifest.files:
            _check_content(archive, item)
        counts = _check_rows(archive)
    except DAMAGED_ARCHIVE as error:
        raise BundleRefused(f"The file is no bundle that can be read: {error}.") from None
    if manifest.root != root_of(manifest.files):
        raise BundleRefused("The manifest was altered: its hash of all files is not theirs.")
    return CheckedBundle(manifest, archive, counts)


def _check_entries(file: IO[bytes]) -> None:
    """Refuse a zip whose directory is long before the reader makes an object of each entry."""
    file.seek(0)
    count, end = 0, b""
    while chunk := file.read(_CHUNK_BYTES):
        count += (end + chunk).count(_ENTRY)
        end = chunk[1 - len(_ENTRY) :]
    if count > _MOST_ENTRIES:
        raise BundleRefused("The file holds more files than a bundle has.")


def _check_values(line: bytes) -> None:
    """Refuse a row of so many values that they would fill the memory."""
    if len(line) > _LONG_LINE_BYTES and next(islice(_PART.finditer(line), _MOST_PARTS, None), None):
        raise BundleRefused("A line holds more values than a row has.")


def _manifest(archive: zipfile.ZipFile) -> BundleManifest:
    try:
        entry = archive.getinfo(MANIFEST)
    except KeyError:
        raise BundleRefused("The file is no bundle: it holds no manifest.") from None
    if entry.file_size > _MOST_MANIFEST_BYTES:
        raise BundleRefused("The manifest is too long.")
    with archive.open(entry) as part:
        stated = json.loads(part.read(_MOST_MANIFEST_BYTES))
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise BundleRefused("The file is no bundle of a session.")
    if not is_storable(stated):
        raise BundleRefused("The manifest holds a NUL or half of a surrogate pair.")
    version = stated.get("version")
    if not isinstance(version, int) or not 1 <= version <= FORMAT_VERSION:
        raise BundleRefused(
            f"The bundle has the form {version!r}, of mrpvm {stated.get('product')!r}; mrpvm {settings.MRPVM_VERSION}"
            f" reads forms up to {FORMAT_VERSION}.",
            code="BUNDLE_VERSION",
        )
    try:
        files = [BundledFile(name=str(item["name"]), size=int(item["size"]), sha256=str(item["sha256"]))
                 for item in stated["files"]]  # fmt: skip
        return BundleManifest(
            version=version,
            product=str(stated["product"]),
            session_id=str(stated["sessionId"]),
            files=tuple(files),
            root=str(stated["root"]),
            left_out=tuple(map(str, stated.get("leftOut", ()))),
        )
    except (KeyError, TypeError, ValueError):
        raise BundleRefused("The manifest does not say what the bundle holds.") from None


def _check_names(archive: zipfile.ZipFile, manifest: BundleManifest) -> None:
    expected = [table.file_name for table in TABLES]
    if [item.name for item in manifest.files] != expected:
        raise BundleRefused("The manifest does not name the files of a bundle.")
    names = [entry.filename for entry in archive.infolist()]
    if sorted(names) != sorted([*expected, MANIFEST]):
        other = next((name for name in names if name not in {*expected, MANIFEST}), "one twice, or not all of its own")
        raise BundleRefused(f"The bundle holds files that are none of a bundle: {other!r}.")
    stated = sum(item.size for item in manifest.files)
    limit = settings.MRPVM_MAX_BUNDLE_BYTES
    if stated > limit:
        raise TooLarge(
            f"The bundle holds {size_words(stated)} once it is unpacked; {size_words(limit)} are read.",
            code="BUNDLE_TOO_LARGE",
            details={"max_bytes": limit},
        )


def _check_content(archive: zipfile.ZipFile, item: BundledFile) -> None:
    entry = archive.getinfo(item.name)
    if entry.flag_bits & 1:
        raise BundleRefused(f"{item.name} is encrypted.")
    if entry.file_size > _MOST_RATIO * max(entry.compress_size, 1_000):
        raise BundleRefused(f"{item.name} is packed tighter than a bundle is.")
    digest, size = hashlib.sha256(), 0
    with archive.open(entry) as part:
        # No more is unpacked than the manifest says, even if the zip holds more.
        while chunk := part.read(min(_CHUNK_BYTES, item.size + 1 - size)):
            size += len(chunk)
            digest.update(chunk)
            if size > item.size:
                break
    if size != item.size or digest.hexdigest() != item.sha256:
        raise BundleRefused(f"{item.name} is not what the manifest says: it was cut or altered.")


def _check_rows(archive: zipfile.ZipFile) -> Counter[type]:
    """Return how many rows each file holds, all of which can be read.

    Layers point at one another in any order; all other rows at earlier ones.
    """
    counts: Counter[type] = Counter()
    keys: dict[Any, range] = {}
    folds = _Folds()
    for table in TABLES:
        with archive.open(table.file_name) as part:
            count = sum(1 for _ in part) if table.model is KnowledgeLayer else 0
        with archive.open(table.file_name) as part:
            for place, line in enumerate(part):
                keys[table.model] = range(count or place)
                _check_values(line)
                try:
                    row = row_of(table, json.loads(line), keys)
                    _check_row(row, keys)
                    if isinstance(row, TurnEvents):
                        folds.add(row)
                except RecursionError:
                    raise BundleRefused(f"Line {place + 1} of {table.file_name} is nested too deeply.") from None
                counts[table.model] += 1
        keys[table.model] = range(counts[table.model])
    folds.end()
    if not counts[Session]:
        raise BundleRefused("The bundle holds no session.")
    return counts


class _Folds:
    """Folds the graph of each turn from its rows of events, which follow each other; a long turn has several."""

    def __init__(self) -> None:
        self._turn_key: int | None = None
        self._events: list[Event] = []

    def add(self, row: TurnEvents) -> None:
        """Take the next row.

        Raises:
            BundleRefused: it holds no events, or those of the turn before it make no graph.
        """
        if row.turn_id != self._turn_key:
            self.end()
            self._turn_key = row.turn_id
        try:
            events = [event_of(item) for item in row.events]
            for event in events:
                _check_type(event, Event)
                _check_type(event.data, type(event.data))
            self._events += events
        except _MALFORMED as error:
            raise BundleRefused(f"A row of turnevents holds what no turn writes: {error!r}.") from None

    def end(self) -> None:
        """Fold what is left.

        Raises:
            BundleRefused: it makes no graph.
        """
        try:
            fold_graph(self._events)
        except _MALFORMED as error:
            raise BundleRefused(f"The events of a turn make no graph: {error!r}.") from None
        self._events = []


def _check_row(row: Any, keys: Mapping[Any, range]) -> None:
    """Read what pages and replays read of a row's JSON.

    Args:
        keys: the places of the rows of each file so far.

    Raises:
        BundleRefused: it cannot be read.
    """
    try:
        match row:
            case FrozenContent():
                _check_frozen(row)
            case KnowledgeLayer():
                _check_places(row.ancestry, len(keys[KnowledgeLayer]))
            case LayerUnit() | ContextUnit():
                _check_type(row.to_value(), KnowledgeUnit)
            case Session():
                for column in (row.model_config, row.metadata, row.flags, row.turn_limits, row.summary or {}):
                    _check_type(column, dict[str, Any])
            case Message() if row.payload is not None:
                _check_type(row.payload, dict[str, Any])
            case TurnConditions() if "command" in row.content:
                frozen = row.content["command"]
                for kind in FrozenContent.Kind:
                    _check_frozen(FrozenContent(kind=kind, content=frozen[kind.value]))
            case TurnConditions():
                _check_type(from_wire(ConversationState, row.content["state"]), ConversationState)
            case ExplainabilityTurn():
                _check_turn(row, keys)
            case TurnEvents():
                _ = [payload_of(item) for item in row.payloads]
                _check_type(row.judged or [], _STEPS, "judged")
    except _MALFORMED as error:
        raise BundleRefused(f"A row of {row._meta.model_name} holds what no turn writes: {error!r}.") from None


def _check_frozen(row: FrozenContent) -> None:
    value = frozen_value(row)
    _check_type(value, type(value))


def _check_turn(row: ExplainabilityTurn, keys: Mapping[Any, range]) -> None:
    if row.is_running:
        raise ValueError("a turn that runs")
    for name, hint in _TURN_VALUES.items():
        if (value := getattr(row, name)) is not None:
            _check_type(value, hint, name)
    if row.view:
        view = TurnView.of_record(row.view)
        _check_type([view.draft_count, *view.marks], list[int])
        _check_places([place for place in view.layers if place != -1], len(keys[KnowledgeLayer]))
        for model, count in zip(MARKED, view.marks, strict=False):
            if not 0 <= count <= len(keys.get(model, ())):
                raise ValueError("a mark behind the last row")


def _check_type(value: Any, hint: Any, name: str = "") -> None:
    if (complaint := data_misfit(value, hint)) is not None:
        raise ValueError(f"{name or getattr(hint, '__name__', '')} {complaint}")


def _check_places(places: Any, count: int) -> None:
    if not all(isinstance(place, int) and 0 <= place < count for place in places):
        raise ValueError("a layer that the bundle does not hold")


def frozen_value(row: FrozenContent) -> SkillSnapshot | PersonaCatalogue | AgentCatalogue:
    """Return the value that frozen content stores."""
    match row.kind:
        case FrozenContent.Kind.SKILLS:
            return SkillSnapshot.of_record(row.content)
        case FrozenContent.Kind.PERSONAS:
            return PersonaCatalogue.of_record(row.content)
    return AgentCatalogue.of_record(row.content)


def payload_of(item: Any) -> Payload:
    """Return a payload of its stored form `[ref, text, size]`."""
    ref, text, size = item
    if not (isinstance(ref, str) and isinstance(text, str) and isinstance(size, int)):
        raise TypeError("a payload is a ref, a text and a size")
    return Payload(ref, text.encode("utf-8", "surrogatepass"), size)
