"""Storing the rows of a bundle."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Model

from mrpvm.knowledge import indexing
from mrpvm.knowledge.indexing import index_entry
from sessions_app.layers import insert_postings, insert_words, note_revision
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
    """Return the keys of `count` new layers, which are filled in by `fill_layers`."""
    layers = [KnowledgeLayer(index_version=indexing.INDEX_VERSION) for _ in range(count)]
    return [layer.pk for layer in KnowledgeLayer.objects.bulk_create(layers, batch_size=_ROWS_AT_ONCE)]


def fill_layers(layers: Sequence[KnowledgeLayer], columns: Sequence[str]) -> None:
    """Store these columns of layers that `insert_layers` made."""
    KnowledgeLayer.objects.bulk_update(layers, columns, batch_size=_ROWS_AT_ONCE)


def insert_in_order(model: type[Model], rows: Iterable[Model]) -> list[Any]:
    """Return the keys of new rows of one model, which go up in the order of the rows."""
    keys: list[Any] = []
    batch: list[Model] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _ROWS_AT_ONCE:
            keys += _inserted(model, batch)
            batch = []
    return keys + _inserted(model, batch)


def _inserted(model: type[Model], rows: Sequence[Model]) -> list[Any]:
    model._default_manager.bulk_create(rows)
    if issubclass(model, LayerUnit):
        _index(rows)
    return [row.pk for row in rows]


def _index(units: Sequence[Any]) -> None:
    """Store what units are found by."""
    entries = [index_entry(unit.to_value()) for unit in units]
    for layer in {unit.layer_id for unit in units}:
        own = [(unit.pk, entry) for unit, entry in zip(units, entries, strict=True) if unit.layer_id == layer]
        insert_postings(layer, [key for key, _ in own], [entry for _, entry in own])
    insert_words((unit.pk, unit.layer_id, entry.words) for unit, entry in zip(units, entries, strict=True))


def store_shared(rows: Sequence[FrozenContent] | Sequence[TurnConditions]) -> None:
    """Store rows that are known by their content, as far as the project has not the same."""
    if rows:
        type(rows[0])._default_manager.bulk_create(rows, ignore_conflicts=True)  # type: ignore[arg-type]


def keys_of_conditions(project_pk: int, digests: Sequence[str]) -> list[int]:
    """Return the keys of stored conditions by their digests, in this order."""
    rows = TurnConditions.objects.filter(project_id=project_pk, digest__in=set(digests))
    keys = dict(rows.values_list("digest", "pk"))
    return [keys[digest] for digest in digests]


def keep_revisions(bases: Sequence[KnowledgeBase], mounts: Sequence[KBMount]) -> None:
    """Keep each revision that was mounted, so that it can be restored and is not taken for left over."""
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
