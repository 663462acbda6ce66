"""Storage of the rows of a bundle."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Model

from mrpvm.knowledge import indexing
from mrpvm.knowledge.indexing import index_entry
from sessions_app.layers import insert_unit_postings, insert_words, note_revision
from sessions_app.models import (
    FrozenContent,
    KBMount,
    KBRevision,
    KnowledgeBase,
    KnowledgeLayer,
    LayerUnit,
    TurnConditions,
)

_ROWS_AT_ONCE = 500


def insert_layers(count: int) -> list[int]:
    """Insert `count` empty layers and return their keys; `fill_layers` stores their columns."""
    layers = [KnowledgeLayer(index_version=indexing.INDEX_VERSION) for _ in range(count)]
    return [layer.pk for layer in KnowledgeLayer.objects.bulk_create(layers, batch_size=_ROWS_AT_ONCE)]


def fill_layers(layers: Sequence[KnowledgeLayer], columns: Sequence[str]) -> None:
    """Store these columns of layers from `insert_layers`."""
    KnowledgeLayer.objects.bulk_update(layers, columns, batch_size=_ROWS_AT_ONCE)


def insert_in_order(model: type[Model], rows: Iterable[Model]) -> list[Any]:
    """Insert rows of one model and return their keys, which ascend in the order of the rows."""
    keys: list[Any] = []
    batch: list[Model] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _ROWS_AT_ONCE:
            keys += _insert(model, batch)
            batch = []
    return keys + _insert(model, batch)


def _insert(model: type[Model], rows: Sequence[Model]) -> list[Any]:
    model._default_manager.bulk_create(rows)
    if issubclass(model, LayerUnit):
        _index(rows)
    return [row.pk for row in rows]


def _index(units: Sequence[Any]) -> None:
    """Store the index entries of units."""
    entries = [index_entry(unit.to_value()) for unit in units]
    for layer in {unit.layer_id for unit in units}:
        own = [(unit.pk, entry) for unit, entry in zip(units, entries, strict=True) if unit.layer_id == layer]
        insert_unit_postings(layer, [key for key, _ in own], [entry for _, entry in own])
    insert_words((unit.pk, unit.layer_id, entry.words) for unit, entry in zip(units, entries, strict=True))


def store_shared(rows: Sequence[FrozenContent] | Sequence[TurnConditions]) -> None:
    """Store content-addressed rows that the project does not have yet."""
    if rows:
        type(rows[0])._default_manager.bulk_create(rows, ignore_conflicts=True)  # type: ignore[arg-type]


def keys_of_conditions(project_pk: int, digests: Sequence[str]) -> list[int]:
    """Return the keys of stored conditions by their digests, in this order."""
    rows = TurnConditions.objects.filter(project_id=project_pk, digest__in=set(digests))
    keys = dict(rows.values_list("digest", "pk"))
    return [keys[digest] for digest in digests]


def keep_revisions(bases: Sequence[KnowledgeBase], mounts: Sequence[KBMount]) -> None:
    """Store each mounted revision, so that it can be restored and its layers are not removed as unused."""
    seen = {(base.pk, base.revision) for base in bases}
    for base in bases:
        note_revision(base, "bundle")
    for mount in mounts:
        if (mount.knowledge_base_id, mount.revision) not in seen:
            seen.add((mount.knowledge_base_id, mount.revision))
            KBRevision.objects.create(
                knowledge_base_id=mount.knowledge_base_id, revision=mount.revision, layer_id=mount.layer_id,
                reason="bundle",
            )  # fmt: skip
