"""What a session's journal becomes when it is saved into a base: one source, named after the session [KB-11]."""

import hashlib

from django.db.models import Sum

from mrpvm.knowledge.units import numbered
from sessions_app.models import KnowledgeLayer, KnowledgeSource, LayerUnit, Session
from sessions_app.queries.knowledge import JOURNAL_KIND
from sessions_app.search.words import note_words


def journal_source_id(session: Session) -> str:
    """Give the id of the session's journal source, the same in every base."""
    return f"src-journal-{hashlib.sha256(session.session_id.encode()).hexdigest()[:16]}"


def label_journal(session: Session, journal: KnowledgeLayer) -> KnowledgeSource:
    """Make the journal's units those of the session's journal source, before the layer is sealed.

    A journal holds what came since the last save, so its units are numbered on from those that the chain holds
    already. Effects: one source row, the units' ids, the words they are found by; costs by the number of the journal's
    units.
    """
    source_id = journal_source_id(session)
    earlier = KnowledgeSource.objects.filter(layer_id__in=journal.ancestry, source_id=source_id)
    first_number = earlier.aggregate(total=Sum("unit_count"))["total"] or 0
    units = list(journal.units.order_by("pk"))
    content = "\n".join(unit.text for unit in units)
    source = KnowledgeSource.objects.create(
        layer=journal,
        source_id=source_id,
        name=f"session-{session.session_id}-journal",
        kind=JOURNAL_KIND,
        content=content,
        hash=hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(),
        chunk_count=1,
        unit_count=len(units),
    )
    chunk_id = f"{source_id}::{numbered('chunk', 0)}"
    for number, unit in enumerate(units, start=first_number):
        unit.unit_id = f"{chunk_id}::{numbered('unit', number)}"
        unit.source_id, unit.chunk_id, unit.origin = source_id, chunk_id, source
    LayerUnit.objects.bulk_update(units, ["unit_id", "source_id", "chunk_id", "origin"], batch_size=500)
    note_words(units)
    return source
