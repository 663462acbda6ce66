"""Packs the postings of large sealed layers in the background, so that searches of large bases stay fast.

A packing is derived data and only read when it is complete. A crash leaves an incomplete packing, which is discarded
and made again. Until then searches read the rows and find the same.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import batched

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import CharField, Exists, OuterRef, Value
from django.db.models.functions import Collate, Concat
from django.utils import timezone

from mrpvm.knowledge.arrays import Array, np
from sessions_app.layers.lifecycle import layers_of_bases
from sessions_app.layers.retrieval.packed import UNITS_A_PART, packed_postings, packed_said, packed_units
from sessions_app.models import KnowledgeLayer, LayerUnit, PackedLayer, PackedPart, Posting
from sessions_app.models.knowledge.packed_layer import packing_version
from sessions_app.models.named_sql import insert_values

_POSTINGS_A_QUERY = 50_000
_PARTS_A_TRANSACTION = 2_000
_GIVEN_UP_AFTER = timedelta(minutes=10)
"""An incomplete packing that nobody has written to for this long is abandoned."""
_BY_CODE_POINT = {"sqlite": "BINARY", "postgresql": "C"}
"""The collation that puts texts in the order in which Python does."""
_COLUMNS = ("packed_id", "kind", "key", "content")

logger = logging.getLogger(__name__)


def pack_large_layers(watch: Callable[[], object] = lambda: None) -> int:
    """Pack the large layers of bases that are not packed yet; return the number of packed layers."""
    shown = layers_of_bases()
    version = Concat(Value(packing_version("")), OuterRef("index_version"), output_field=CharField())
    done = PackedLayer.objects.filter(layer=OuterRef("pk"), version=version, is_complete=True)
    large = KnowledgeLayer.objects.filter(own_unit_count__gte=settings.MRPVM_PACKED_FROM_UNITS, sealed_at__isnull=False)
    wanted = large.filter(~Exists(done)).order_by("pk").values_list("pk", flat=True)
    packed_count = sum(_is_packed(pk, watch) for pk in list(wanted) if pk in shown)
    if packed_count:
        _refresh_statistics()
    return packed_count


def _refresh_statistics() -> None:
    """Analyze the tables on PostgreSQL now: autovacuum looks at a large table only when a tenth has changed."""
    if connection.vendor == "postgresql":
        tables = ", ".join(model._meta.db_table for model in (LayerUnit, Posting, PackedPart))
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {tables}")


def _is_packed(layer_pk: int, watch: Callable[[], object]) -> bool:
    try:
        return pack_layer(layer_pk, watch)
    except Exception:
        logger.exception("layer %s was not packed", layer_pk)
        return False


def pack_layer(layer_pk: int, watch: Callable[[], object] = lambda: None) -> bool:
    """Pack a sealed layer's postings; return whether it was done, which it is not while another process does it."""
    layer = KnowledgeLayer.objects.only("index_version", "postings_layer").get(pk=layer_pk)
    present = packing_version(layer.index_version)
    PackedLayer.objects.filter(layer=layer, is_complete=True).exclude(version=present).delete()
    return pack_postings(layer_pk, layer.postings_layer_id or layer_pk, present, watch)


def pack_postings(layer_pk: int, key: int, version: str, watch: Callable[[], object] = lambda: None) -> bool:
    """Pack the postings of a sealed layer that are under a key; return whether it was done, as `pack_layer` does.

    They are read once `version` is that of the layer's index.

    Effects: one row or two a term and one for some hundred units, in short transactions; memory for two numbers a unit
    and the postings of the most frequent term.
    """
    packed = _begin(layer_pk, version)
    if packed is None:
        return False
    keys = _keys_in_order(layer_pk)
    for batch in batched(_parts(packed.pk, key, keys), _PARTS_A_TRANSACTION, strict=False):
        watch()
        with transaction.atomic():
            if not PackedLayer.objects.filter(pk=packed.pk).update(worked_at=timezone.now()):
                return False  # taken for left over, because this took too long
            insert_values(PackedPart, _COLUMNS, batch)
    return bool(PackedLayer.objects.filter(pk=packed.pk).update(unit_count=len(keys), is_complete=True))


def _begin(layer_pk: int, version: str) -> PackedLayer | None:
    """Return a new, empty packing, replacing an abandoned one; None while another process is packing."""
    PackedLayer.objects.filter(
        layer_id=layer_pk, is_complete=False, worked_at__lt=timezone.now() - _GIVEN_UP_AFTER
    ).delete()
    try:
        with transaction.atomic():
            return PackedLayer.objects.create(layer_id=layer_pk, version=version)
    except IntegrityError:
        return None


def _keys_in_order(layer_pk: int) -> Array:
    """Return the keys of the layer's evidence units in the order of their unit ids: a unit's place is its number.

    Without what was said in a conversation.
    """
    units = LayerUnit.objects.filter(layer_id=layer_pk, is_evidence=True, stretch__isnull=True)
    ordered = units.order_by(Collate("unit_id", _BY_CODE_POINT[connection.vendor])).values_list("pk", flat=True)
    return np.fromiter(ordered.iterator(), np.int64)


def _parts(packed_pk: int, key: int, keys: Array) -> Iterator[tuple[int, str, int, bytes]]:
    for number, start in enumerate(range(0, len(keys), UNITS_A_PART)):
        yield packed_pk, PackedPart.Kind.UNITS.value, number, packed_units(keys[start : start + UNITS_A_PART])
    order = np.argsort(keys)
    ordered = np.append(keys[order], np.iinfo(np.int64).max)
    kind = PackedPart.Kind
    for term, *columns in _postings(key):
        places = ordered.searchsorted(columns[0])
        has_number = ordered[places] == columns[0]
        if has_number.any():
            _, frequencies, lengths = (column[has_number] for column in columns)
            content = packed_postings(order[places[has_number]], frequencies, lengths)
            yield packed_pk, kind.TERM.value, term, content
        if not has_number.all():
            yield packed_pk, kind.SAID.value, term, packed_said(*(column[~has_number] for column in columns))


def _postings(key: int) -> Iterator[tuple[int, Array, Array, Array]]:
    """Return each term with its units' keys, frequencies and lengths, some thousand postings a query."""
    stored = Posting.objects.filter(layer_id=key).order_by("term").values_list(
        "term", "unit_id", "frequency", "length"
    )  # fmt: skip
    rest = stored
    while rows := list(rest[:_POSTINGS_A_QUERY]):
        last = rows[-1][0]
        complete = [row for row in rows if row[0] != last]
        complete += list(stored.filter(term=last))  # the query may have ended in the middle of it
        table = np.array(complete, np.int64)
        starts = np.flatnonzero(np.diff(table[:, 0])) + 1
        for part in np.split(table, starts):
            yield int(part[0, 0]), part[:, 1], part[:, 2], part[:, 3]
        rest = stored.filter(term__gt=last)
