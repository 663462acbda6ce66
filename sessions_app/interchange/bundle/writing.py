"""Writes a session as a bundle."""

import hashlib
import zipfile
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from django.db.models import Model

from mrpvm.errors import TooLarge
from mrpvm.llm.redaction import redacted_json, secrets_remembered
from mrpvm.preview import size_words
from mrpvm.wire import json_bytes
from sessions_app.interchange.bundle.form import (
    MANIFEST,
    MARKED,
    TABLES,
    BundledFile,
    BundleManifest,
    Places,
    Table,
    line_of,
    own_name,
    root_of,
)
from sessions_app.models import (
    ExplainabilityTurn,
    FrozenContent,
    KBMount,
    KnowledgeBase,
    KnowledgeLayer,
    Session,
    TurnEvents,
)
from sessions_app.models.turns.payload_frames import payload_texts, places
from sessions_app.queries.sessions.bundle import (
    Rows,
    bundle_rows,
    fork_line_of,
    imported_bases,
    layers_shown,
    stored_views,
)
from sessions_app.turns.view import TurnView

_MOMENT = (1980, 1, 1, 0, 0, 0)
"""The timestamp of every file in the zip, so that equal content gives equal bytes."""
_ROWS_AT_ONCE = 500


def write_bundle(session: Session, file: IO[bytes]) -> BundleManifest:
    """Write the session with what its ended turns need into an open file; return what the bundle says of itself.

    Rows are read one by one and nothing is locked: what the session does meanwhile may or may not be in the bundle.

    Raises:
        TooLarge: BUNDLE_TOO_LARGE, more than `MRPVM_MAX_BUNDLE_BYTES` before compression.
    """
    line = fork_line_of(session)
    seen = {layer for record in stored_views(line) for layer in TurnView.of_record(record).layers}
    layers = layers_shown(seen, line)
    rows = bundle_rows(line, layers)
    scope = _Scope.of(rows)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive, secrets_remembered():
        files: list[BundledFile] = []
        for table in TABLES:
            room = settings.MRPVM_MAX_BUNDLE_BYTES - sum(item.size for item in files)
            files.append(_write_table(archive, table, _lines(table, rows, scope), room))
        manifest = BundleManifest(
            product=settings.MRPVM_VERSION,
            session_id=session.session_id,
            files=tuple(files),
            root=root_of(files),
            left_out=tuple(_left_out(line, seen - layers)),
        )
        archive.writestr(_entry(MANIFEST), json_bytes(manifest))
    return manifest


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _write_table(archive: zipfile.ZipFile, table: Table, lines: Iterator[bytes], room: int) -> BundledFile:
    digest, size = hashlib.sha256(), 0
    with archive.open(_entry(table.file_name), "w", force_zip64=True) as part:
        for line in lines:
            size += len(line)
            if size > room:
                limit = settings.MRPVM_MAX_BUNDLE_BYTES
                raise TooLarge(
                    f"The bundle would hold more than {size_words(limit)}.",
                    code="BUNDLE_TOO_LARGE",
                    details={"max_bytes": limit},
                )
            digest.update(line)
            part.write(line)
    return BundledFile(name=table.file_name, size=size, sha256=digest.hexdigest())


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where the rows of a bundle are in their files, their keys, each base's latest mount, and which were imported."""

    places: Places
    keys: Mapping[type[Model], Sequence[int]]
    mounts: Mapping[int, KBMount]
    imported: Collection[int]

    @classmethod
    def of(cls, rows: Rows) -> "_Scope":
        keys = {model: list(rows_of_model.values_list("pk", flat=True)) for model, rows_of_model in rows.items()}
        mounts = {mount.knowledge_base_id: mount for mount in rows[KBMount].order_by("revision", "pk")}
        places = {
            model: {key: place for place, key in enumerate(keys_of_model)} for model, keys_of_model in keys.items()
        }
        return cls(places, keys, mounts, imported_bases(places[KnowledgeBase]))

    def portable(self, row: Model) -> Model:
        """Return the row with places where it holds keys of rows, and payloads as texts."""
        match row:
            case FrozenContent():
                row.key = row.key.partition("-")[2]
            case KnowledgeLayer():
                of_layers = self.places[KnowledgeLayer]
                row.ancestry = [of_layers[pk] for pk in row.ancestry if pk in of_layers]
            case KnowledgeBase():
                if row.pk in self.mounts:
                    row.head_id, row.revision = self.mounts[row.pk].layer_id, self.mounts[row.pk].revision
                if row.pk in self.imported:
                    row.name = own_name(row.name)
            case ExplainabilityTurn() if row.view:
                row.view = self._portable_view(row.view)
            case TurnEvents():
                wanted = places(row.payload_index) if row.payloads else []
                texts = payload_texts(row.payloads, wanted)
                row.payloads = [[item.ref, texts[item.ref].decode("utf-8", "replace"), item.size] for item in wanted]
        return row

    def _portable_view(self, record: Sequence[Any]) -> list[Any]:
        """Return a stored view with places for layers, -1 for one that is gone, and counts for marks."""
        view = TurnView.of_record(record)
        counted = zip(MARKED, view.marks, strict=False)
        marks = tuple(bisect_right(self.keys[model], mark) for model, mark in counted)
        layers = tuple(self.places[KnowledgeLayer].get(layer, -1) for layer in view.layers)
        return replace(view, layers=layers, marks=marks).as_record()


def _lines(table: Table, rows: Rows, scope: _Scope) -> Iterator[bytes]:
    for row in rows[table.model].iterator(chunk_size=_ROWS_AT_ONCE):
        if row.pk in scope.places[table.model]:
            yield redacted_json(line_of(table, scope.portable(row), scope.places)) + b"\n"


def _left_out(line: Sequence[Session], missing: set[int]) -> Iterator[str]:
    if missing:
        yield f"{len(missing)} layers that turns saw are not stored any more; those turns cannot be run again."
    if line[0].forked_from is not None:
        yield f"The session {line[0].forked_from.session_id}, which the first of this line goes on from."
