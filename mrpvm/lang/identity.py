"""Final identity of units that a turn's message told [T-9, C-7]."""

from collections.abc import Iterable
from dataclasses import replace

from mrpvm.lang.objects import AdmittedKU


def with_turn_identity(kus: Iterable[AdmittedKU], request_id: str) -> tuple[AdmittedKU, ...]:
    """Give the units under `session::<requestId>::unit-NNN`, numbered in document order from 000 [T-9].

    The ids in the document are the detector's draft [C-7]; parents, children and origins among these units follow.
    Source and chunk are the session's, whatever the document said. What it said of the hash is dropped, since the
    machine computes its own [KU-9].
    """
    units = tuple(kus)
    chunk_id = f"session::{request_id}"
    final_ids = {unit.ku_id: f"{chunk_id}::unit-{number:03d}" for number, unit in enumerate(units)}

    def renamed(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([final_ids.get(ku_id, ku_id) for ku_id in ids])

    return tuple([
        replace(
            unit,
            ku_id=final_ids[unit.ku_id],
            source_id="session",
            source_type="chat-turn",
            chunk_id=chunk_id,
            parent_unit_ids=renamed(unit.parent_unit_ids),
            child_unit_ids=renamed(unit.child_unit_ids),
            derived_from_unit_ids=renamed(unit.derived_from_unit_ids),
            hash=None,
        )
        for unit in units
    ])  # fmt: skip
