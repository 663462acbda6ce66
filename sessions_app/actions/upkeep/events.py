"""Compaction of session events, which removes the old ones that no view of a turn reads."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from sessions_app.models import Session, SessionEvent
from sessions_app.queries.turns.state import STATE_KINDS, TURN_ENDS, TURN_START


@dataclass(slots=True)
class EventCompaction:
    """Goes through all sessions, a number of them per sweep; `reached` is the key of the last one.

    Events are kept for `kept_whole`; a page that was disconnected for longer has to reload.
    """

    kept_whole: timedelta = timedelta(days=7)
    sessions_a_sweep: int = 1_000
    rows_a_transaction: int = 1_000
    reached: int = 0

    def __call__(self, pause: Callable[[], None] = lambda: None) -> int:
        """Compact the old events of the next sessions; return how many rows were removed. Processes may do so at once.

        Args:
            pause: called between two transactions; lets running turns go first.
        """
        following = Session.objects.filter(pk__gt=self.reached).order_by("pk")
        keys = list(following.values_list("pk", flat=True)[: self.sessions_a_sweep])
        self.reached = keys[-1] if len(keys) == self.sessions_a_sweep else 0
        before, removed = timezone.now() - self.kept_whole, 0
        for pk in _due(keys, before):
            while (count := _compact(pk, before, self.rows_a_transaction)) is not None:
                removed += count
                pause()
        return removed


compact_events = EventCompaction()
"""This process's."""


def _due(keys: Sequence[int], before: datetime) -> list[int]:
    """Return the sessions whose first event that is not compacted is older than `before`."""
    if not keys:
        return []
    rest = SessionEvent.objects.filter(session=OuterRef("pk"), sequence__gt=OuterRef("compacted_sequence"))
    first = Subquery(rest.order_by("sequence").values("created_at")[:1])
    session_keys = Session.objects.filter(pk__gte=keys[0], pk__lte=keys[-1], event_sequence__gt=F("compacted_sequence"))
    return list(session_keys.alias(first=first).filter(first__lt=before).values_list("pk", flat=True))


@transaction.atomic
def _compact(session_pk: int, before: datetime, row_count: int) -> int | None:
    """Compact a session's next `row_count` events that are older than `before`.

    Return how many rows were removed, None if no old events are left.
    """
    reached = Session.objects.filter(pk=session_pk).values_list("compacted_sequence", flat=True).first()
    if reached is None:
        return None
    old = SessionEvent.objects.filter(session=session_pk, sequence__gt=reached, created_at__lt=before)
    rows = list(old.order_by("sequence").values_list("sequence", "kind")[:row_count])
    if not rows:
        return None
    going = sorted({sequence for sequence, _ in rows} - kept_sequences(rows))
    if going:
        SessionEvent.objects.filter(session=session_pk, sequence__in=going).delete()
    Session.objects.filter(pk=session_pk, compacted_sequence__lt=rows[-1][0]).update(compacted_sequence=rows[-1][0])
    return len(going)


def kept_sequences(rows: Sequence[tuple[int, str]]) -> set[int]:
    """Return the numbers of the events needed for the state around turns; `rows` are numbers and kinds in order.

    Events that change the state stay, and before each of them the starts and ends of two turns, which show between
    which turns it happened. The newest events stay too: later ones may need them, and a page compares its own number
    with the last one.
    """
    kept: set[int] = set()
    starts, ends = deque[int](maxlen=2), deque[int](maxlen=2)
    for sequence, kind in rows:
        if kind == TURN_START:
            starts.append(sequence)
        elif kind in TURN_ENDS:
            ends.append(sequence)
        elif kind in STATE_KINDS:
            kept |= {sequence, *starts, *ends}
    return kept | {*starts, *ends, *(sequence for sequence, _ in rows[-1:])}
