"""Remembering and forgetting on request; runs inside the transaction of a command."""

from collections.abc import Sequence

from mrpvm.conversation.commands import MemoryRecord
from sessions_app.models import RememberedText, Session
from sessions_app.queries.remembered import remembered


class SessionMemory:
    """The memory of one locked, unsaved session; its count is saved with the session's other columns."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def remember(self, content: str) -> MemoryRecord:
        """Keep a text; one that is kept already, whatever its case, is given again [L-131]."""
        row = self._session.remembered_texts.filter(content__iexact=content).first()
        if row is None:
            row = RememberedText.objects.create(session=self._session, content=content)
            self._session.remembered_count += 1
        return _record(row)

    def forget(self, record_id: str) -> bool:
        """Drop a text of this session; False if there is none of this id."""
        gone, _ = self._session.remembered_texts.filter(record_id=record_id).delete()
        self._session.remembered_count -= gone
        return bool(gone)

    def records(self, query: str, limit: int) -> Sequence[MemoryRecord]:
        """Give the newest texts that hold the query."""
        return [_record(row) for row in remembered(self._session, query)[:limit]]


def _record(row: RememberedText) -> MemoryRecord:
    return MemoryRecord(id=row.record_id, content=row.content)
