"""Rebuilding the index of units after an upgrade that tokenizes in another way.

Units stay as they are. A sealed layer's postings are written beside the old ones, under the key of a row of their own,
in short transactions; a last one switches the layer to them, with their lengths and counts. A search uses the old index
or the new one, never parts of both. Parents come first. What belongs to a session alone changes between its turns, in
one transaction a session.

What is done stays done, and what a crash leaves is discarded by the next run.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import batched

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from mrpvm.errors import Conflict
from mrpvm.knowledge import indexing
from mrpvm.knowledge.indexing import IndexEntry, index_entry
from sessions_app.exclusive import alone_at
from sessions_app.layers.lengths import Lengths, change_lengths, set_lengths
from sessions_app.layers.lifecycle import create_layer, draft_layers, outdated_layers, own_layers
from sessions_app.layers.units import insert_unit_postings, recount_layer
from sessions_app.layers.upkeep.packing import pack_postings
from sessions_app.layers.words import rewrite_words
from sessions_app.models import ExplainabilityTurn, KnowledgeLayer, LayerUnit, PackedLayer, Posting, Session
from sessions_app.models.durability import durable_later
from sessions_app.models.knowledge.packed_layer import packing_version
from sessions_app.models.knowledge.unit_fields import UNIT_COLUMNS, unit_of

_POLL_SECONDS = 0.5
_ROWS_A_STEP = 5_000
_Kind = KnowledgeLayer.Kind
type OnReindexed = Callable[[str, int, int], object]
"""Called between transactions with what is being written, how many of its units are, and of how many."""
type _Unit = tuple[int, int, int, IndexEntry]
"""A unit's key, its layer's, the length that it had, and what it is found by."""


def reindex(report: OnReindexed = lambda what, done, of: None) -> int:
    """Reindex every layer of another index version; return how many.

    Waits for turns that still read what was replaced, and for sessions in which one is running.

    Raises:
        Conflict: another process is reindexing.

    Effects: postings, lengths, counts, the words for pages and what is packed; for a while twice the room for postings.
    """
    with alone_at("reindex") as hold:
        if hold is None:
            raise Conflict("Another process is writing the index already.")
        done_count, has_changed = _reindex_sealed(report)
        done_count += _reindex_sessions(report, with_others=has_changed)
        done_count += _reindex_sealed(report)[0]  # what a session has saved meanwhile
        _drop_replaced()
        return done_count


def is_anything_left() -> bool:
    """Return whether there is something to write anew, or something replaced to drop."""
    left = (outdated_layers(), _unused_holders(), _with_replaced_postings(), _replaced_packings())
    return any(rows.exists() for rows in left)


def _reindex_sealed(report: OnReindexed) -> tuple[int, bool]:
    """Return how many sealed and removed layers were reindexed, and whether a unit's length changed."""
    at_rest = Q(sealed_at__isnull=False) | Q(kind=_Kind.REMOVED)
    outdated = outdated_layers().filter(at_rest).values_list("pk", "ancestry")
    ordered = sorted(outdated, key=lambda row: (len(row[1]), row[0]))
    changes = [_reindex_layer(pk, report) for pk, _ in ordered]
    return len(changes), any(changes)


def _reindex_layer(layer_pk: int, report: OnReindexed) -> bool:
    """Write a sealed layer's index anew and switch the layer to it; return whether any unit's length has changed."""
    keys = list(LayerUnit.objects.filter(layer_id=layer_pk).order_by("pk").values_list("pk", flat=True))
    holder = create_layer(_Kind.INDEX, None)
    lengths = _write_aside(holder.pk, keys, lambda done: report(f"layer {layer_pk}", done, len(keys)))
    packings, version = PackedLayer.objects.filter(layer_id=layer_pk), packing_version(indexing.INDEX_VERSION)
    packings.filter(version=version).delete()  # what was packed for a switch that did not happen
    if packings.filter(is_complete=True).exists():
        pack_postings(layer_pk, holder.pk, version, lambda: report(f"layer {layer_pk}", len(keys), len(keys)))
    _turn_over(layer_pk, holder.pk, lengths)
    return bool(lengths)


def _entries(keys: Sequence[int]) -> list[_Unit]:
    rows = LayerUnit.objects.filter(pk__in=keys).order_by().values_list("pk", "layer_id", "length", *UNIT_COLUMNS)
    return [(pk, layer, length, index_entry(unit_of(columns))) for pk, layer, length, *columns in rows]


@durable_later()
def _write_aside(holder_pk: int, keys: Sequence[int], report: Callable[[int], object]) -> Lengths:
    """Write the postings of units beside the old ones; return the lengths that change."""
    lengths: dict[int, tuple[int, int]] = {}
    for number, batch in enumerate(batched(keys, settings.MRPVM_UNITS_A_TRANSACTION, strict=False)):
        report(number * settings.MRPVM_UNITS_A_TRANSACTION)
        units = _entries(batch)
        with transaction.atomic():
            lengths |= _write(holder_pk, units)
    report(len(keys))
    return lengths


def _write(postings_key: int, units: Sequence[_Unit]) -> Lengths:
    """Write what units are found by, and give the lengths that it changes."""
    insert_unit_postings(postings_key, [pk for pk, *_ in units], [entry for *_, entry in units])
    rewrite_words((pk, layer, entry.words) for pk, layer, _, entry in units)
    return {pk: (length, entry.length) for pk, _, length, entry in units if length != entry.length}


@transaction.atomic
def _turn_over(layer_pk: int, holder_pk: int, lengths: Lengths) -> None:
    layer = KnowledgeLayer.objects.select_for_update().get(pk=layer_pk)
    change_lengths(layer, lengths)
    layer.index_version, layer.postings_layer_id = indexing.INDEX_VERSION, holder_pk
    layer.save(update_fields=["index_version", "postings_layer"])


def _reindex_sessions(report: OnReindexed, *, with_others: bool) -> int:
    """Write anew what sessions have of their own; return how many layers that were.

    Args:
        with_others: count anew what is seen in all other sessions, too.
    """
    old = set(outdated_layers().filter(sealed_at=None).values_list("pk", flat=True))
    chains = Session.objects.values_list("pk", "journal_id", "journal__ancestry") if old or with_others else ()
    waiting = [pk for pk, journal, ancestry in chains if with_others or not old.isdisjoint((journal, *ancestry))]
    session_count, done_count = len(waiting), 0
    while waiting:
        busy: list[int] = []
        for place, session_pk in enumerate(waiting):
            report("sessions", session_count - len(waiting) - len(busy) + place, session_count)
            written = _reindex_session(session_pk)
            done_count += written or 0
            busy += [session_pk] if written is None else []
        waiting = busy
        if waiting:
            time.sleep(_POLL_SECONDS)
    return done_count


def _reindex_session(session_pk: int) -> int | None:
    """Write anew what a session has of its own, and give how many layers that were; None while a turn is running."""
    session = Session.objects.select_related("journal").filter(pk=session_pk).first()
    if session is None or ExplainabilityTurn.running_in(session) is not None:
        return None if session else 0
    ready = _prepared(session)
    with transaction.atomic():
        session = Session.objects.select_for_update().filter(pk=session_pk).first()
        if session is None:
            return 0
        if ExplainabilityTurn.running_in(session) is not None:
            return None
        below, done_count = session.mounted_layer, 0
        for layer in (*draft_layers(session), *own_layers(session)):
            if layer.own_unit_count and layer.index_version != indexing.INDEX_VERSION:
                _write_in_place(layer, ready)
                done_count += 1
            recount_layer(layer, below)
            for staged in layer.children.select_for_update().filter(kind=_Kind.STAGED):
                recount_layer(staged, layer)
            below = layer
    return done_count


def _prepared(session: Session) -> dict[int, _Unit]:
    """Return the new postings of a session's old layers: most of the work, done before the session is locked."""
    old = outdated_layers(session.journal.chain).filter(sealed_at=None)
    keys = LayerUnit.objects.filter(layer__in=old).order_by().values_list("pk", flat=True)
    return {unit[0]: unit for batch in batched(keys, _ROWS_A_STEP, strict=False) for unit in _entries(batch)}


def _write_in_place(layer: KnowledgeLayer, ready: Mapping[int, _Unit]) -> None:
    keys = list(layer.units.order_by().values_list("pk", flat=True))
    units = [ready[pk] for pk in keys if pk in ready] + _entries([pk for pk in keys if pk not in ready])
    Posting.objects.filter(layer_id=layer.pk).delete()
    set_lengths(_write(layer.pk, units))
    layer.index_version = indexing.INDEX_VERSION
    layer.save(update_fields=["index_version"])


def _drop_replaced() -> None:
    """Remove what was replaced, and what a crash has left, once nobody reads it any more."""
    holders = list(_unused_holders().values_list("pk", flat=True))
    keys = [*holders, *_with_replaced_postings().values_list("pk", flat=True)]
    packings = list(_replaced_packings().values_list("pk", flat=True))
    if not keys and not packings:
        return
    _wait_for_readers()
    for key in keys:
        old = Posting.objects.filter(layer_id=key).order_by().values_list("pk", flat=True)
        while batch := list(old[:_ROWS_A_STEP]):
            Posting.objects.filter(pk__in=batch).delete()
    KnowledgeLayer.objects.filter(pk__in=holders).delete()
    PackedLayer.objects.filter(pk__in=packings).delete()


def _unused_holders() -> QuerySet[KnowledgeLayer]:
    """Return the rows that hold postings of no layer, or no more."""
    used = KnowledgeLayer.objects.exclude(postings_layer=None).values("postings_layer")
    return KnowledgeLayer.objects.filter(kind=_Kind.INDEX).exclude(pk__in=used)


def _with_replaced_postings() -> QuerySet[KnowledgeLayer]:
    """Return the layers whose postings are under another key, while old ones still are under theirs."""
    own = Posting.objects.filter(layer_id=OuterRef("pk"))
    return KnowledgeLayer.objects.exclude(postings_layer=None).filter(Exists(own))


def _replaced_packings() -> QuerySet[PackedLayer]:
    """Return packed layers whose postings were rewritten since."""
    present = indexing.INDEX_VERSION
    packings = PackedLayer.objects.filter(layer__index_version=present, is_complete=True)
    return packings.exclude(version=packing_version(present))


def _wait_for_readers() -> None:
    """Wait until every turn is over that has started by now, and every page is made."""
    now = timezone.now()
    time.sleep(settings.MRPVM_LONGEST_READ_SECONDS)
    running = ExplainabilityTurn.objects.filter(status=ExplainabilityTurn.Status.RUNNING, created_at__lte=now)
    while running.filter(lease_until__gte=timezone.now()).exists():
        time.sleep(_POLL_SECONDS)
