"""What a session knows of its own, wherever it lies: in its layers, or saved into the base that it has mounted.

The session's committed units are the truth. Its layers and, in a base, the units of its journal source are what these
are found by; a mount makes the two agree again. What is staged in the draft hides what is saved below
it, so what the session knows of that comes into its journal first.
"""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import batched

from django.db import transaction
from django.db.models import QuerySet

from mrpvm.errors import InvalidInput
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.sessions.slots import lock_idle_session, waiting_for_slot
from sessions_app.layers.index import hide_units, index_units, not_removed, remove_units
from sessions_app.layers.lifecycle import create_layer, own_layers
from sessions_app.layers.retrieval.chains import resolve_chain
from sessions_app.layers.staging import UNITS_AT_ONCE, Watch
from sessions_app.models import ContextUnit, KnowledgeLayer, KnowledgeSource, LayerUnit, Session

CHOSEN_MAX = 1_000
_UNITS_A_QUERY = 5_000
_HASHES_A_QUERY = 500


def saved_units(session: Session) -> QuerySet[LayerUnit]:
    """Return what the chain of the session's draft holds of the units that the session saved."""
    chain = session.draft.chain
    return LayerUnit.objects.filter(layer_id__in=chain, origin__in=_journal_sources(session, chain)).order_by()


def _journal_sources(session: Session, chain: Sequence[int]) -> QuerySet[KnowledgeSource]:
    sources = KnowledgeSource.objects.filter(source_id=session.journal_source_id, kind=KnowledgeSource.Kind.JOURNAL)
    return sources.filter(layer_id__in=chain)


def _saved_hashes(session: Session, chain: Sequence[int]) -> dict[int, str]:
    """Return the hashes of all units that a chain holds of what the session saved, by their keys.

    Costs by these units: the sources are read first, so that the units are found by their source and not by their
    layer, which may be a base of a million.
    """
    sources = list(_journal_sources(session, chain).values_list("pk", flat=True))
    rows = LayerUnit.objects.filter(origin__in=sources).order_by().values_list("pk", "hash", "layer_id")
    return {pk: digest for pk, digest, layer_pk in rows if layer_pk in chain}


def move_told(session: Session, unit_ids: Collection[str]) -> KnowledgeLayer:
    """Move units out of the locked session's own layers into a new layer on its draft, which goes into a base.

    Costs by these units. Turns that saw them find them in a removed layer.

    Raises:
        InvalidInput: more than `CHOSEN_MAX`, or one is no unit that a save could take along.
    """
    if len(unit_ids) > CHOSEN_MAX:
        raise InvalidInput(f"At most {CHOSEN_MAX:,} units can be chosen one by one; leave the choice out to save all.")
    layers = own_layers(session)
    held = LayerUnit.objects.filter(layer__in=layers, unit_id__in=unit_ids).order_by("pk")
    units = {row.unit_id: row.to_value() for row in held}
    unknown = sorted(set(unit_ids) - units.keys())
    if unknown:
        raise InvalidInput(f"The conversation told nothing unsaved that is called {unknown[0]!r}.")
    for layer in layers:
        remove_units(layer, units, are_moved=True)
    session.journal.refresh_from_db()
    moved = create_layer(KnowledgeLayer.Kind.JOURNAL, session.draft.parent if session.draft.is_empty else session.draft)
    index_units(moved, list(units.values()))
    return moved


def missing_units(session: Session, below: KnowledgeLayer) -> list[KnowledgeUnit]:
    """Return those of the session's units that neither its layers hold nor `below` shows as what it saved."""
    own = own_layers(session)
    if _held_count(own) == session.unit_count:
        return []
    held = LayerUnit.objects.filter(layer__in=own).order_by().values_list("hash", flat=True)
    there = {*held, *_saved(session, below).values()}
    return [row.to_value() for row in _committed(session).order_by("pk") if row.hash not in there]


def agree_with_units(session: Session) -> None:
    """Make what the locked session finds as its own the units that it has: its draft may be on another base now.

    What the base has of its earlier units is hidden from it, also what something else is shown for now: a draft may
    take that away. What the base does not show comes into its journal.
    Effects: rows of the session's layers; none where the two agree.
    """
    own, saved = own_layers(session), _saved_hashes(session, session.draft.chain)
    if not saved and _held_count(own) == session.unit_count:
        return
    known = set(_committed(session).values_list("hash", flat=True))
    for layer in own[:-1]:
        held = layer.units.order_by().values_list("unit_id", "hash")
        remove_units(layer, [unit_id for unit_id, digest in held if digest not in known])
    session.journal.refresh_from_db()
    forgotten = [pk for pk, digest in saved.items() if digest not in known]
    for batch in batched(forgotten, _UNITS_A_QUERY, strict=False):
        hide_units(session.journal, not_removed(session.journal, LayerUnit.objects.filter(pk__in=batch)))
    index_units(session.journal, missing_units(session, session.draft))


def keep_own(session: Session, hashes: Sequence[str]) -> None:
    """Put what the locked session knows under these hashes above its draft, which is to hold units like them.

    It stays there when the draft loses them again. Costs by the hashes. Effects: rows of the session's journal.
    """
    index_units(session.journal, _unheld(session, hashes))


def keep_many_own(session: Session, hashes: Sequence[str], watch: Watch, wait_ms: int) -> None:
    """Do most of what `keep_own` would, if that is much, in short transactions.

    What is found does not change by it: it is the session's where it is saved, and in its journal too.

    Args:
        watch: called between transactions; what it raises ends the work.
        wait_ms: how long each of them waits for a running turn.

    Raises:
        Conflict: TURN_IN_PROGRESS; a turn would find the two side by side.
        NotFound, Expired: as for `lock_session`.
    """
    unheld = _unheld(Session.objects.select_related("journal").get(pk=session.pk), hashes)
    if len(unheld) > UNITS_AT_ONCE:
        for batch in batched((unit.hash for unit in unheld), UNITS_AT_ONCE, strict=False):
            watch(0)
            waiting_for_slot(wait_ms, partial(_keep_batch, session.pk, batch))


@transaction.atomic
def _keep_batch(session_pk: int, hashes: Sequence[str]) -> None:
    keep_own(lock_idle_session(session_pk), hashes)


def _unheld(session: Session, hashes: Sequence[str]) -> list[KnowledgeUnit]:
    """Return those of the session's units with one of these hashes that its own layers do not hold: they are saved."""
    layers = [layer.pk for layer in own_layers(session)]
    units: list[ContextUnit] = []
    for batch in batched(dict.fromkeys(hashes), _HASHES_A_QUERY, strict=False):
        known = {row.hash: row for row in _committed(session).filter(hash__in=batch)}
        held = LayerUnit.objects.filter(layer_id__in=layers, hash__in=known).order_by().values_list("hash", flat=True)
        for digest in held:
            known.pop(digest, None)
        units += known.values()
    return [row.to_value() for row in sorted(units, key=lambda row: row.pk)]


def _saved(session: Session, below: KnowledgeLayer) -> dict[int, str]:
    """Return the hashes of what a chain shows of the units that the session saved, by their keys."""
    saved = _saved_hashes(session, below.chain)
    if not saved:
        return {}
    hidden = resolve_chain(below.chain).hidden
    return {pk: digest for pk, digest in saved.items() if pk not in hidden}


def _held_count(layers: Sequence[KnowledgeLayer]) -> int:
    return sum(layer.own_unit_count for layer in layers)


def _committed(session: Session) -> QuerySet[ContextUnit]:
    return session.context_units.filter(state=ContextUnit.State.COMMITTED)
