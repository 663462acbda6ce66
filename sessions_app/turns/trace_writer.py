"""Writes the events and units of a running turn to the database, in batches with the payloads of nodes that ended."""

import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, transaction

from mrpvm.trace.events import AnswerDelta, Event, FrameClosed, PluginFinished, Record, UnitsJudged, UnitsStaged
from mrpvm.trace.graph import path_key
from mrpvm.trace.order import in_frame_order
from mrpvm.values import KnowledgeUnit, LedgerEntry
from mrpvm.wire import WireWriter
from sessions_app.actions.sessions.context_units import Staging, stage_units, unstage_units
from sessions_app.actions.turns.payloads import Judged, batch, judged_step, payload
from sessions_app.events import announce_pending, announce_progress
from sessions_app.models import ExplainabilityTurn
from sessions_app.models.named_sql import Write, insertions, write_all
from sessions_app.models.turns.payload_frames import Payload


class TraceWriter:
    """Collects one turn's events and flushes them now and then, so that a running turn can be watched."""

    def __init__(self, turn: ExplainabilityTurn) -> None:
        self._turn = turn
        self._flush_seconds = settings.MRPVM_TRACE_FLUSH_MS / 1000
        self._written_count = 0
        self._is_uncertain = False
        self._flushed_at = time.monotonic()
        self._partial: dict[str, dict[str, Any]] = {}
        self._writer = WireWriter(brief=KnowledgeUnit)
        self._whole: list[Payload] = []
        self.events: list[Event] = []
        self._ledger: list[tuple[str, LedgerEntry]] = []
        self.stagings: list[Staging] = []
        """What was staged and is not among the pending units yet."""

    def add(self, event: Event) -> None:
        if isinstance(event.data, AnswerDelta):  # for readers of the stream alone: the answer itself is stored
            return
        if isinstance(event.data, UnitsJudged):
            execution_id = event.data.execution_id
            self._ledger.extend((execution_id, row) for row in event.data.rows)
        else:
            self.events.append(event)
        if isinstance(event.data, UnitsStaged):
            self.stagings.append(Staging(event.data.execution_id, event.units))
        if event.detail_ref is not None:
            parts = self._partial.setdefault(event.detail_ref, {})
            parts.update(event.detail)
            if isinstance(event.data, PluginFinished | FrameClosed):  # the payload is whole
                self._whole.append(payload(event.detail_ref, self._partial.pop(event.detail_ref), self._writer))

    def flush_if_due(self) -> None:
        """Write new records if the last write is long enough ago, and notify open pages."""
        is_due = time.monotonic() - self._flushed_at >= self._flush_seconds
        if is_due and len(self.events) > self._written_count:
            staged_count = sum(len(staging.units) for staging in self.stagings)
            try:
                with transaction.atomic():
                    if not self._written_count:  # of a turn whose process goes away nothing else would be kept
                        self._turn.save(update_fields=["view", "conditions"])
                    self._flush()
            except OperationalError:
                self._is_uncertain = True  # the commit may have been carried out, and only its answer lost
                raise
            except IntegrityError:
                return  # somebody closed the turn meanwhile and wrote its last events: its commit is refused
            if staged_count:
                announce_pending(self._turn.session_id, self._turn.request_id, staged_count)
            announce_progress(self._turn.session_id, self._turn.request_id, self._written_count)

    def _flush(self) -> None:
        """Write what is new; must run inside a transaction, and is undone with it."""
        new = self.events[self._written_count :]
        write_all([*stage_units(self._turn, self.stagings), *self._writes(self.events, new)])

    def finish(self, *, with_ledger: bool = False) -> list[Write]:
        """Return the writes of what is new of an ended turn, for the running transaction; they are undone with it.

        The events of frames that ran side by side are put frame by frame, as a sequential run gives them, so that equal
        turns leave equal rows. What was written in another order meanwhile is written again.

        Args:
            with_ledger: write what was judged of units too: the turn succeeded.
        """
        if self._is_uncertain:
            self._turn.event_batches.filter(first_sequence__gte=self._written_count).delete()
            unstage_units(self._turn, self.stagings)
        ordered = in_frame_order(self.events, lambda event: event.frame_id)
        new = ordered[self._written_count :]
        if ordered[: self._written_count] != self.events[: self._written_count]:
            self._turn.event_batches.update(events=[])  # their payloads stay where they are
            new = ordered
        ledger = sorted(self._ledger, key=lambda row: path_key(row[0])) if with_ledger else []
        return self._writes(ordered, new, [judged_step(execution_id, row) for execution_id, row in ledger])

    def _writes(self, events: list[Event], new: list[Event], judged: Sequence[Judged] = ()) -> list[Write]:
        """Return the write of a batch, none without news; `events` are then all that there are."""
        counts = len(events), len(self._whole), len(self.stagings)
        self._flushed_at = time.monotonic()
        transaction.on_commit(lambda: self._settle(events, *counts))
        if not new and not judged:
            return []
        # As `record_of` gives them, without its copy: they are written as JSON next.
        records: list[Record] = [[event.name, event.at_ms, event.data] for event in new]
        return insertions([batch(self._turn, self._written_count, records, self._whole, judged)])

    def _settle(self, events: list[Event], event_count: int, payload_count: int, staging_count: int) -> None:
        self.events, self._written_count = events, event_count
        del self._whole[:payload_count]
        del self.stagings[:staging_count]
