"""Remembering, verifying and forgetting on request; runs inside the transaction of a command."""

from collections.abc import Sequence

from django.utils import timezone

from mrpvm.conversation.commands import MemoryQuery, MemoryRecord
from mrpvm.conversation.memory import USER_PROFILE, Fact
from sessions_app.models import RememberedText, Session
from sessions_app.queries.remembered import remembered

Status, Source = RememberedText.Status, RememberedText.Source


class SessionMemory:
    """The memory of one locked, unsaved session; its count is saved with the session's other columns."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def remember(self, content: str) -> MemoryRecord:
        """Keep a text; one that is kept already, whatever its case, is given again [L-131]."""
        return _record(self._kept(Fact(content=content, domain=USER_PROFILE, confidence=1.0), Source.COMMAND)[0])

    def keep(self, fact: Fact) -> tuple[MemoryRecord, bool, int]:
        """Keep a fact to be verified; others of its conflict group do not hold any more [L-135]."""
        row, is_new = self._kept(fact, Source.INFERENCE)
        return _record(row), is_new, self._displace(row) if is_new else 0

    def _kept(self, fact: Fact, source: str) -> tuple[RememberedText, bool]:
        row = self._session.remembered_texts.filter(
            content__iexact=fact.content, domain=fact.domain, namespace=fact.namespace
        ).first()
        if row is not None:
            return row, False
        is_told = source == Source.COMMAND
        row = RememberedText.objects.create(
            session=self._session, content=fact.content, domain=fact.domain, namespace=fact.namespace, source=source,
            status=Status.ACTIVE if is_told else Status.NEEDS_VERIFICATION, confidence=fact.confidence,
            conflict_group=fact.conflict_group,
        )  # fmt: skip
        self._session.remembered_count += 1
        return row, True

    def _displace(self, row: RememberedText) -> int:
        """Mark the others of the row's conflict group; gives how many."""
        if not row.conflict_group:
            return 0
        others = self._session.remembered_texts.filter(conflict_group=row.conflict_group).exclude(pk=row.pk)
        return others.exclude(status=Status.CONFLICTED).update(status=Status.CONFLICTED)

    def verify(self, record_id: str, domain: str | None) -> bool:
        """Mark a record as verified: of its conflict group it is the one that holds [L-137]."""
        found = self._session.remembered_texts.filter(record_id=record_id)
        row = (found.filter(domain=domain) if domain else found).first()
        if row is None:
            return False
        row.status, row.verified_at = Status.VERIFIED, timezone.now()
        row.save(update_fields=["status", "verified_at"])
        self._displace(row)
        return True

    def forget(self, record_id: str) -> bool:
        """Drop a text of this session; False if there is none of this id."""
        gone, _ = self._session.remembered_texts.filter(record_id=record_id).delete()
        self._session.remembered_count -= gone
        return bool(gone)

    def records(self, query: MemoryQuery, limit: int) -> Sequence[MemoryRecord]:
        """Give the newest texts that are wanted."""
        return [_record(row) for row in remembered(self._session, query)[:limit]]


def _record(row: RememberedText) -> MemoryRecord:
    return MemoryRecord(id=row.record_id, content=row.content, status=row.status)
