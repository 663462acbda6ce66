"""Store, verify, archive and delete remembered texts; runs inside the transaction of a command."""

from collections.abc import Sequence
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.commands import MemoryQuery, MemoryRecord
from mrpvm.commands.evidence import citation_of, file_of
from mrpvm.commands.remembered import EVIDENCE, USER_PROFILE, UserFact
from sessions_app.models import RememberedText, Session
from sessions_app.queries.sessions.remembered import remembered

Status, Source = RememberedText.Status, RememberedText.Source


class LockedMemory:
    """The remembered texts of a locked session; the caller saves their count with the session's other columns."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def remember(self, content: str) -> MemoryRecord:
        """Store a text; if it is stored already, ignoring case, return that record and make it active again."""
        row, is_new = self._keep(UserFact(content=content, domain=USER_PROFILE, confidence=1.0), Source.COMMAND)
        if not is_new and (row.status in (Status.CONFLICTED, Status.ARCHIVED) or row.is_expired):
            row.status, row.expires_at = Status.ACTIVE, None
            row.save(update_fields=["status", "expires_at"])
            self._displace(row)
        return _record(row)

    def keep(self, fact: UserFact) -> tuple[MemoryRecord, bool, int]:
        """Store a fact to be verified; others of its conflict group become conflicted."""
        row, is_new = self._keep(fact, Source.INFERENCE)
        return _record(row), is_new, self._displace(row) if is_new else 0

    def _keep(self, fact: UserFact, source: str) -> tuple[RememberedText, bool]:
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
        """Mark the others of the row's conflict group as conflicted; return how many."""
        if not row.conflict_group:
            return 0
        others = self._session.remembered_texts.filter(conflict_group=row.conflict_group).exclude(pk=row.pk)
        return others.exclude(status=Status.CONFLICTED).update(status=Status.CONFLICTED)

    def verify(self, record_id: str, domain: str | None) -> bool:
        """Mark a record as verified; it becomes the active one of its conflict group."""
        row = self._structured(record_id, domain).first()
        if row is None:
            return False
        row.status, row.verified_at = Status.VERIFIED, timezone.now()
        row.save(update_fields=["status", "verified_at"])
        self._displace(row)
        return True

    def archive(self, record_id: str, domain: str | None) -> bool:
        """Archive a record; it is not used until it is verified or stored again."""
        return bool(self._structured(record_id, domain).update(status=Status.ARCHIVED))

    def expire(self, record_id: str, domain: str | None, hours: float) -> bool:
        """Set a record to expire so many hours from now."""
        ends_at = timezone.now() + timedelta(hours=hours)
        return bool(self._structured(record_id, domain).update(expires_at=ends_at))

    def _structured(self, record_id: str, domain: str | None) -> QuerySet[RememberedText]:
        """Return the record with this id, unless it is evidence."""
        rows = self._session.remembered_texts.filter(record_id=record_id).exclude(domain=EVIDENCE)
        return rows.filter(domain=domain) if domain else rows

    def keep_evidence(self, file: str, chunks: Sequence[str]) -> None:
        """Store the chunks of a file in place of its earlier ones; the first chunk becomes the newest."""
        kept = self._session.remembered_texts.filter(domain=EVIDENCE).values_list("pk", "namespace")
        earlier = [pk for pk, citation in kept if file_of(citation) == file]
        gone, _ = self._session.remembered_texts.filter(pk__in=earlier).delete()
        rows = [
            RememberedText(
                session=self._session, content=chunk, domain=EVIDENCE, namespace=citation_of(file, number),
                source=Source.IMPORT,
            )
            for number, chunk in enumerate(chunks, start=1)
        ]  # fmt: skip
        RememberedText.objects.bulk_create(reversed(rows))
        self._session.remembered_count += len(rows) - gone

    def forget(self, record_id: str) -> bool:
        """Delete a text of this session; return False if there is none with this id."""
        gone, _ = self._session.remembered_texts.filter(record_id=record_id).delete()
        self._session.remembered_count -= gone
        return bool(gone)

    def records(self, query: MemoryQuery, limit: int) -> Sequence[MemoryRecord]:
        """Return the newest texts that match the query."""
        return [_record(row) for row in remembered(self._session, query)[:limit]]


def _record(row: RememberedText) -> MemoryRecord:
    return MemoryRecord(
        id=row.record_id, content=row.content, status=row.status, is_expired=row.is_expired,
        citation=row.namespace if row.domain == EVIDENCE else "",
    )  # fmt: skip
