"""Which rows an act of forgetting changes, and how.

Derived rows are deleted: units with their index, memories, experiments, quarantined chunks. Rows of a conversation and
its turns keep their places and ids, and lose the text. In any other table the text is masked.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import batched
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Model
from django.utils import timezone

from sessions_app import events
from sessions_app.actions.experiments.experiments import delete_experiment
from sessions_app.actions.sessions.removal import purge_session
from sessions_app.layers import erase_source, erase_units, text_hash
from sessions_app.models import (
    ContextUnit,
    DamagedValue,
    Experiment,
    ExplainabilityTurn,
    Forgetting,
    KeptAnswer,
    KnowledgeSource,
    LayerUnit,
    Message,
    QuarantinedChunk,
    RememberedText,
    Session,
    SessionMemory,
    SourceArtifact,
    Trial,
    TurnEvents,
    UnitArtifact,
    UnitEvent,
)
from sessions_app.models.turns.payload_frames import payload_texts, places
from sessions_app.queries.experiments.forgetting.origins import OnRows, Work, copies_of, is_unit_meant
from sessions_app.queries.experiments.forgetting.phrases import MASK, blanked_value, decoded_text
from sessions_app.queries.experiments.forgetting.tables import ProjectRows, StoredRow, TextTable, table_of, text_tables

AFTERWARDS: Mapping[type[Model], str] = {
    LayerUnit: "deleted, from saved layers and forks too, with their index and what plugins derived from them",
    ContextUnit: "deleted; the ledger keeps their ids",
    UnitEvent: "keep the step, lose the text",
    Message: "deleted with the answer, or masked where only a part is meant",
    ExplainabilityTurn: "keep their graph, lose texts and payloads, and replay no more",
    TurnEvents: "keep the shape of the graph",
    KnowledgeSource: "emptied and no longer listed, or masked where only a part is meant",
    Experiment: "deleted with their trials and traces",
    Trial: "deleted with their experiment",
    SessionMemory: "deleted; the session remembers anew",
    RememberedText: "deleted",
    QuarantinedChunk: "deleted",
    DamagedValue: "deleted",
    KeptAnswer: "deleted; a repeated request is worked on anew",
    SourceArtifact: "deleted",
    UnitArtifact: "deleted",
}
"""What the plan says about each table. In tables that are not named here the text is masked."""
_DELETED = (DamagedValue, KeptAnswer, QuarantinedChunk, RememberedText, SessionMemory, SourceArtifact, UnitArtifact)
_ROWS_A_TRANSACTION = 100
_SEEN_STEPS = frozenset(("offered", "selected", "pruned", "cited"))
_EXPERIMENT_MODELS = (Experiment, Trial)


class Removal:
    """Find, count and remove the rows of one act. `watch` is called between transactions."""

    def __init__(self, act: Forgetting, work: Work, watch: OnRows) -> None:
        self._act, self._work, self._watch = act, work, watch
        self._looked_for = work.looked_for()
        self._told: set[int] = set(work.turns)
        """Turns that stated the forgotten content: their texts are removed."""
        self._touched: set[int] = set()
        """Turns that saw it: their payloads are removed."""
        self._places: dict[int, int] = {}
        """The sequence number of the first message that is removed or changed, by session."""
        self._answers: set[int] = set()
        """Messages whose answers rest on removed content."""
        self._experiments: set[int] = set()

    @cached_property
    def _reach(self) -> ProjectRows:
        return ProjectRows(self._act.project)

    def count(self) -> Counter[str]:
        """Return the number of rows to remove by the name of their table."""
        counts: Counter[str] = Counter()
        self._note_turns()
        for table in _ordered():
            for _, meant in self._batches(table):
                counts[table.name] += len(meant)
        return +counts

    def count_left(self) -> Counter[str]:
        """Return the number of rows that still hold one of the texts, by the name of their table."""
        counts: Counter[str] = Counter()
        for table in _ordered():
            for batch in table.batches(self._reach):
                self._watch(f"searching {table.name}", len(batch))
                counts[table.name] += sum(self._holds(table, row) for row in batch)
        return +counts

    def remove(self) -> None:
        """Remove all rows, one batch per transaction. An interrupted removal can be started again."""
        self._note_turns()
        self._blank_turns()  # this needs the messages, which tell the order of turns
        for table in _ordered():
            if table.is_of_accounts:
                continue
            for batch, meant in self._batches(table):
                if meant:
                    self._remove(table, meant)
                self._watch(f"removing from {table.name}", len(batch))
        self._blank_turns()
        self._forget_places()
        for experiment in Experiment.objects.filter(pk__in=self._experiments):
            delete_experiment(experiment)
            self._watch("removing experiments", 1)
        session = Session.objects.filter(pk=self._work.session).first() if self._work.session else None
        if session is not None:
            purge_session(session)

    # Select the rows.

    def _batches(self, table: TextTable) -> Iterator[tuple[Sequence[StoredRow], list[StoredRow]]]:
        self._watch(f"searching {table.name}", 0)
        for batch in table.batches(self._reach):
            yield batch, [row for row in batch if self._is_meant(table, row)]

    def _is_meant(self, table: TextTable, row: StoredRow) -> bool:
        model, work = table.model, self._work
        if model in (LayerUnit, ContextUnit):
            return is_unit_meant(row, work, self._looked_for)
        if model is UnitEvent and row["unit_id"] in work.unit_ids:
            return bool(row["text"])
        if model is Message and row["id"] in work.messages:
            return True
        if model is KnowledgeSource and row["id"] in work.sources:
            return bool(row["kind"] != KnowledgeSource.Kind.REMOVED or row["content"])
        if model is ExplainabilityTurn and row["id"] in self._told | self._touched:
            return True
        if model is Experiment and row["turn_id"] in self._told | self._touched:
            return True
        return row.get("session_id") == work.session is not None or self._holds(table, row)

    def _holds(self, table: TextTable, row: StoredRow) -> bool:
        """Return whether a row holds one of the texts."""
        if table.model is Forgetting and row["id"] == self._act.pk:
            return False
        if table.model is TurnEvents and self._are_payloads_meant(row):
            return True
        return any(
            self._looked_for.are_in_value(row[name], is_cut=isinstance(row[name], str) and len(row[name]) == size)
            for name, size in table.columns.items()
            if row[name] and name != "payloads"
        )

    def _are_payloads_meant(self, row: StoredRow) -> bool:
        if not row["payloads"]:
            return False
        texts = payload_texts(row["payloads"], places(row["payload_index"])).values()
        return any(self._looked_for.is_in(decoded_text(text)) for text in texts)

    def _note_turns(self) -> None:
        """Add the turns that saw or cited a unit to be removed."""
        table = table_of(TurnEvents)
        for batch in table.batches(self._reach):
            self._watch("searching turns", len(batch))
            for row in batch:
                steps = {step[1] for step in row["judged"] or () if step[0] in self._work.unit_ids}
                if "cited" in steps:
                    self._told.add(row["turn_id"])
                elif steps & _SEEN_STEPS or self._holds(table, row):
                    self._touched.add(row["turn_id"])
        self._note_later_turns()

    def _note_later_turns(self) -> None:
        """Add the answers that cite removed units, and the turns whose window may have held them."""
        answers = Message.objects.filter(turn__in=self._told, role=Message.Speaker.ASSISTANT)
        self._answers = {copy.pk for copy in copies_of(list(answers))} - self._work.messages
        for batch in batched(self._work.messages | self._answers, 500, strict=False):
            for session, sequence in Message.objects.filter(pk__in=batch).values_list("session_id", "sequence"):
                self._note_place(session, sequence)
        self._note_turns_from(self._places)

    def _note_place(self, session: int, sequence: int) -> None:
        self._places[session] = min(sequence, self._places.get(session, sequence))

    def _note_turns_from(self, first: Mapping[int, int]) -> None:
        for session, sequence in first.items():
            said = Message.objects.filter(session=session, sequence=sequence).select_related("turn").first()
            if said is not None:
                began = said.turn.created_at if said.turn else said.created_at  # a turn stores its message at its end
                later = ExplainabilityTurn.with_trials.filter(session=session, created_at__gte=began)
                self._touched |= _keys(later) - self._told

    # Remove or mask them.

    def _remove(self, table: TextTable, rows: Sequence[StoredRow]) -> None:
        remove = _REMOVALS.get(table.model)
        if remove is not None:
            remove(self, rows)
        elif table.model in _DELETED:
            self._delete(table, rows)
        elif table.model in _EXPERIMENT_MODELS:
            self._experiments |= {row.get("experiment_id", 0) if table.model is Trial else row["id"] for row in rows}
        else:
            self._mask(table, rows)

    def _erase_units(self, rows: Sequence[StoredRow]) -> None:
        erase_units([row["id"] for row in rows])

    @transaction.atomic
    def _delete_context_units(self, rows: Sequence[StoredRow]) -> None:
        now = timezone.now()
        lost: Counter[int] = Counter(row["session_id"] for row in rows if row["state"] == ContextUnit.State.COMMITTED)
        ContextUnit.objects.filter(pk__in=[row["id"] for row in rows]).delete()
        for session, count in lost.items():
            Session.objects.filter(pk=session).update(unit_count=F("unit_count") - count)
        UnitEvent.objects.bulk_create(
            UnitEvent(
                session_id=row["session_id"], unit_id=row["unit_id"], step=UnitEvent.Step.REMOVED, store="session",
                reason=f"forgotten by {self._act.created_by_name}", created_at=now,
            )
            for row in rows
        )  # fmt: skip

    def _empty_ledger(self, rows: Sequence[StoredRow]) -> None:
        UnitEvent.objects.filter(pk__in=[row["id"] for row in rows]).update(text="")
        self._mask(table_of(UnitEvent), [{**row, "text": ""} for row in rows])

    @transaction.atomic
    def _remove_messages(self, rows: Sequence[StoredRow]) -> None:
        gone = [row for row in rows if row["id"] in self._work.messages]
        for row in rows:
            self._note_place(row["session_id"], row["sequence"])
        lost = Counter(row["session_id"] for row in gone)
        Message.objects.filter(pk__in=[row["id"] for row in gone]).delete()
        for session, count in lost.items():
            Session.objects.filter(pk=session).update(removed_message_count=F("removed_message_count") + count)
        kept = [row for row in rows if row["id"] not in self._work.messages]
        self._mask(table_of(Message), kept)

    @transaction.atomic
    def _mask_sessions(self, rows: Sequence[StoredRow]) -> None:
        """Mask the rows, and tell open pages of them."""
        self._mask(table_of(Session), rows)
        for session in Session.objects.select_for_update().filter(pk__in=[row["id"] for row in rows]):
            events.append(session, ("session.renamed", events.SessionRenamed(title=session.title)))

    def _mask_turns(self, rows: Sequence[StoredRow]) -> None:
        meant = {row["id"]: row["trial_number"] for row in rows}
        self._experiments |= set(Trial.objects.filter(pk__in=meant.values()).values_list("experiment_id", flat=True))
        self._touched |= set(meant) - self._told
        self._mask(table_of(ExplainabilityTurn), rows)

    def _mask_events(self, rows: Sequence[StoredRow]) -> None:
        self._touched |= {row["turn_id"] for row in rows} - self._told
        self._mask(table_of(TurnEvents), [{**row, "payloads": b""} for row in rows])

    def _remove_sources(self, rows: Sequence[StoredRow]) -> None:
        whole = [row for row in rows if row["id"] in self._work.sources]
        for source in KnowledgeSource.objects.filter(pk__in=[row["id"] for row in whole]):
            erase_source(source, MASK)
        for row in rows:
            if row["id"] not in self._work.sources:
                self._mask(table_of(KnowledgeSource), [row])
                content = self._looked_for.masked(row["content"])
                KnowledgeSource.objects.filter(pk=row["id"]).update(hash=text_hash(content))
                SourceArtifact.objects.filter(source_id=row["id"]).delete()

    @transaction.atomic
    def _delete(self, table: TextTable, rows: Sequence[StoredRow]) -> None:
        table.model._base_manager.filter(pk__in=[table.key_of(row) for row in rows]).delete()
        if table.model is RememberedText:
            for session, count in Counter(row["session_id"] for row in rows).items():
                Session.objects.filter(pk=session).update(remembered_count=F("remembered_count") - count)

    def _mask(self, table: TextTable, rows: Sequence[StoredRow]) -> None:
        for row in rows:
            changes = {}
            for name, size in table.columns.items():
                if not row[name] or isinstance(row[name], bytes | memoryview):
                    continue
                masked = self._masked(row[name], size)
                if masked is not row[name] and masked != row[name]:
                    changes[name] = masked
            if changes:
                _update(table, table.key_of(row), changes)

    def _masked(self, value: Any, size: int | None) -> Any:
        if isinstance(value, str):
            return self._looked_for.masked(value, is_cut=len(value) == size)[:size]
        return self._looked_for.masked_value(value)

    # Turns, and what a session derives from its messages.

    def _blank_turns(self) -> None:
        """Remove the payloads of turns that saw a removed unit, and the texts of turns that stated it."""
        self._note_turns_from(self._places)
        Message.objects.filter(pk__in=self._answers).update(content=MASK, payload=None)
        for batch in batched(sorted(self._told | self._touched), _ROWS_A_TRANSACTION, strict=False):
            with transaction.atomic():
                self._blank_batch(batch)
            self._watch("emptying turns", len(batch))

    def _blank_batch(self, turns: Sequence[int]) -> None:
        rows = ExplainabilityTurn.with_trials.filter(pk__in=turns)
        TurnEvents.objects.filter(turn__in=turns).update(payloads=b"")
        rows.update(view=None)
        rows.filter(payloads_removed_at__isnull=True).update(payloads_removed_at=self._act.began_at)
        self._experiments |= _keys(Experiment.objects.filter(turn__in=turns))
        self._experiments |= set(Trial.objects.filter(trace__in=turns).values_list("experiment_id", flat=True))
        for turn in rows:
            is_told = turn.pk in self._told
            turn.context_report = None
            if is_told:
                turn.assistant_preview = MASK if turn.assistant_preview else ""
                turn.response_document = blanked_value(turn.response_document)
                turn.unit_changes = blanked_value(turn.unit_changes)
                turn.error, turn.client_request = blanked_value(turn.error), blanked_value(turn.client_request)
                turn.command_result = blanked_value(turn.command_result)
            if turn.pk in self._work.turns:
                turn.user_message = MASK
            turn.save(update_fields=_BLANKED)
        for batch in TurnEvents.objects.filter(turn__in=[pk for pk in turns if pk in self._told]):
            batch.events, batch.judged = blanked_value(batch.events), blanked_value(batch.judged)
            batch.save(update_fields=["events", "judged"])

    @transaction.atomic
    def _forget_places(self) -> None:
        """Delete what was derived from removed or changed messages: summaries, memories, recognised conversations."""
        for session in Session.objects.select_for_update().filter(pk__in=self._places):
            session.conversation_points.filter(sequence__gte=self._places[session.pk]).delete()
            SessionMemory.objects.filter(project_id=session.project_id, owner=session.session_id).delete()
            is_first = self._places[session.pk] == 1
            session.summary, session.first_message = None, MASK if is_first else session.first_message
            session.save(update_fields=["summary", "first_message"])
            events.append(session, ("messages.changed", events.NoFacts()))


_BLANKED = (
    "context_report", "assistant_preview", "response_document", "unit_changes", "error", "client_request",
    "command_result", "user_message",
)  # fmt: skip
_REMOVALS: Mapping[type[Model], Callable[[Removal, Sequence[StoredRow]], None]] = {
    LayerUnit: Removal._erase_units,
    ContextUnit: Removal._delete_context_units,
    UnitEvent: Removal._empty_ledger,
    Message: Removal._remove_messages,
    Session: Removal._mask_sessions,
    ExplainabilityTurn: Removal._mask_turns,
    TurnEvents: Removal._mask_events,
    KnowledgeSource: Removal._remove_sources,
}


def _ordered() -> list[TextTable]:
    """Return the tables in the order of removal: units first, because their index needs their text, then turns."""
    first = (LayerUnit, ContextUnit, TurnEvents)
    return sorted(text_tables(), key=lambda table: first.index(table.model) if table.model in first else len(first))


def _keys(rows: Any) -> set[int]:
    return set(rows.values_list("pk", flat=True))


def _update(table: TextTable, key: Any, changes: Mapping[str, Any]) -> None:
    rows = table.model._base_manager.filter(pk=key)
    try:
        with transaction.atomic():
            rows.update(**changes)
    except IntegrityError:  # two names that differed only in the masked text
        rows.update(**{name: f"{value}-{key}" if isinstance(value, str) else value for name, value in changes.items()})
