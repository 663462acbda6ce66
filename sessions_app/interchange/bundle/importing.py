"""Stores a bundle in a project: a session to read and to run again, not to continue with."""

import hashlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from copy import replace
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any

from django.db import DatabaseError, transaction
from django.db.models import Model
from django.utils import timezone

from mrpvm.wire import json_bytes
from sessions_app.actions.sessions.bundled_rows import (
    fill_layers,
    insert_in_order,
    insert_layers,
    keep_revisions,
    keys_of_conditions,
    store_shared,
)
from sessions_app.actions.settings.audit import record_of_session
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.actions.turns.counting import mark_outdated
from sessions_app.interchange.bundle.checking import CheckedBundle, checked_bundle, frozen_value, payload_of
from sessions_app.interchange.bundle.form import MARKED, TABLES, BundleRefused, Table, imported_name, row_of
from sessions_app.models import (
    AuditKind,
    ExplainabilityTurn,
    FrozenContent,
    KBMount,
    KnowledgeBase,
    KnowledgeLayer,
    Project,
    RememberedText,
    Session,
    TurnConditions,
    TurnEvents,
)
from sessions_app.models.sessions.frozen_content import content_key
from sessions_app.models.sessions.remembered_text import new_memory_id
from sessions_app.models.turns.payload_frames import Payload, framed
from sessions_app.queries.sessions.bundle import taken_ids
from sessions_app.turns.view import TurnView

_IDS: Mapping[type[Model], str] = {
    Session: "session_id", ExplainabilityTurn: "request_id", KnowledgeBase: "kb_id", RememberedText: "record_id",
}  # fmt: skip
_BEGINNING = r"(?:i[0-9a-f]{6}-)?"
"""Prefix that an import gives to an id that is taken."""
_OWN_IDS = re.compile(
    rf"{_BEGINNING}(?:req|sess|kb)-[0-9a-f]{{32}}|mem_[0-9a-f]{{32}}|src-journal-[0-9a-f]{{16}}".encode()
)
"""Ids that a server made: they are random, so equal ids mean the same thing everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBundle:
    """What an import stored."""

    session: Session
    turn_count: int
    renamed_count: int
    left_out: tuple[str, ...]


def import_bundle(project: Project, file: IO[bytes]) -> ImportedBundle:
    """Store the sessions of a bundle in the project, read-only; ids that are taken get a prefix.

    Raises:
        BundleRefused, TooLarge: as for `checked_bundle`; nothing is stored.
        Unavailable: QUOTA_FULL, the project has no room for it; nothing is stored.

    Effects: one transaction: the rows of the bundle, a base for each that was mounted, and what units are found by.
    """
    bundle = checked_bundle(file)
    renamed = _renamed(project, bundle)
    try:
        with transaction.atomic():
            with within_quotas(project):
                session = _Import(project, bundle, renamed).run()
            record_of_session(AuditKind.IMPORTED, session, form="bundle", was=bundle.manifest.session_id)
    except DatabaseError as error:
        raise BundleRefused(f"The rows of the bundle cannot be stored: {error}.") from error
    return ImportedBundle(
        session=session,
        turn_count=bundle.counts[ExplainabilityTurn],
        renamed_count=len(renamed),
        left_out=bundle.manifest.left_out,
    )


def _renamed(project: Project, bundle: CheckedBundle) -> dict[str, str]:
    """Return the new id of each one that is taken; with a session's goes that of its journal's source."""
    ids: dict[type[Model], list[str]] = {}
    for table in TABLES:
        if table.model in _IDS:
            place = [field.name for field in table.fields].index(_IDS[table.model])
            ids[table.model] = [json.loads(line)[place] for line in bundle.lines(table)]
    taken = taken_ids(project, ids)
    beginning = f"i{secrets.token_hex(3)}-"
    renamed = {own: beginning + re.sub(f"^{_BEGINNING}", "", own) for own in sorted(taken)}
    for own in ids[RememberedText]:
        if own in renamed:
            renamed[own] = new_memory_id()
    for own in ids[Session]:
        if own in renamed:
            renamed[own] = renamed[own][:128]
            renamed[Session(session_id=own).journal_source_id] = Session(session_id=renamed[own]).journal_source_id
    return renamed


class _Import:
    """The rows of one bundle on their way into one project."""

    def __init__(self, project: Project, bundle: CheckedBundle, renamed: Mapping[str, str]) -> None:
        self._project, self._bundle, self._renamed = project, bundle, renamed
        self._replacements = {old.encode(): new.encode() for old, new in renamed.items()}
        self._keys: dict[type[Model], list[Any]] = {}
        self._moments: list[datetime] = []

    def run(self) -> Session:
        """Store everything; return the session that the bundle is of, the last one of its line."""
        stored: dict[type[Model], list[Any]] = {}
        for table in TABLES:
            match table.model:
                case model if model is KnowledgeLayer:
                    self._keys[model] = insert_layers(self._bundle.counts[model])
                    layers = list(self._rows(table))
                    for layer, key in zip(layers, self._keys[model], strict=True):
                        layer.pk = key
                    fill_layers(layers, [field.name for field in table.fields])
                case model if model is FrozenContent:
                    contents = list(self._rows(table))
                    store_shared(contents)
                    self._keys[model] = [row.key for row in contents]
                case model if model is TurnConditions:
                    conditions = list(self._rows(table))
                    store_shared(conditions)
                    self._keys[model] = keys_of_conditions(self._project.pk, [row.digest for row in conditions])
                case model if model is Session:  # one may continue from the one before
                    stored[model], self._keys[model] = [], []
                    for row in self._rows(table):
                        self._keys[model] += insert_in_order(model, [row])
                        stored[model].append(row)
                case model if model in (KnowledgeBase, KBMount):
                    stored[model] = list(self._rows(table))
                    self._keys[model] = insert_in_order(model, stored[model])
                case model:
                    self._keys[model] = insert_in_order(model, self._rows(table))
        keep_revisions(stored[KnowledgeBase], stored[KBMount])
        mark_outdated(self._project.pk, self._moments)
        return stored[Session][-1]

    def _rows(self, table: Table) -> Iterator[Any]:
        """Return the rows of a file, as they belong to the project and to the rows that are stored already."""
        for line in self._bundle.lines(table):
            yield self._own(row_of(table, json.loads(self._with_new_ids(line)), self._keys))

    def _with_new_ids(self, line: bytes) -> bytes:
        if not self._replacements:
            return line
        return _OWN_IDS.sub(lambda match: self._replacements.get(match[0], match[0]), line)

    def _own(self, row: Model) -> Model:
        if any(field.name == "project" for field in row._meta.concrete_fields):
            row.project = self._project  # type: ignore[attr-defined]
        match row:
            case FrozenContent():
                row.key = content_key(self._project.pk, frozen_value(row).content_hash)
            case TurnConditions():
                row.digest = hashlib.sha256(json_bytes(row.content)).hexdigest()
            case KnowledgeLayer():
                row.ancestry = [self._keys[KnowledgeLayer][place] for place in row.ancestry]
            case KnowledgeBase():
                row.name = imported_name(row.name)
            case Session():
                row.session_id = self._renamed.get(row.session_id, row.session_id)
                row.expired_at = row.imported_at = timezone.now()
            case ExplainabilityTurn():
                self._moments.append(row.created_at)
                if row.view:
                    row.view = self._own_view(row.view)
            case TurnEvents():
                row.payload_index, row.payloads = framed(self._own_size(payload_of(item)) for item in row.payloads)
        return row

    def _own_size(self, payload: Payload) -> Payload:
        """Return the payload with the size that it has with the new ids; otherwise it counts as cut."""
        grown = sum((len(new) - len(old)) * payload.text.count(new) for old, new in self._replacements.items())
        return replace(payload, size=payload.size + grown)

    def _own_view(self, record: list[Any]) -> list[Any]:
        view = TurnView.of_record(record)
        layers = self._keys[KnowledgeLayer]
        counted = zip(MARKED, view.marks, strict=False)
        return replace(
            view,
            layers=tuple(layers[place] if place >= 0 else 0 for place in view.layers),
            marks=tuple(self._keys[model][count - 1] if count else 0 for model, count in counted),
        ).as_record()
