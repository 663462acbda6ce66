"""The registry of turns, their graphs and payloads."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import batched
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from mrpvm.conversation.answers import cited_units, stored_answer
from mrpvm.english.messages.kinds import kind_of
from mrpvm.errors import NotFound
from mrpvm.llm.recorder import ModelExchange
from mrpvm.trace.events import Event, Record, event_of
from mrpvm.trace.graph import Graph, fold_graph
from mrpvm.trace.response import ResponseDocument, ResponseGroup, UnitValue, has_parts, sources_of
from mrpvm.wire import to_wire
from sessions_app.models import ExplainabilityTurn, Message, Project, Session, TurnEvents, UnitEvent
from sessions_app.models.turns.payload_frames import PayloadPlace, payload_texts, places
from sessions_app.queries.sessions.lookups import session_reference

_DOCUMENTS = ("response_document", "context_report", "unit_changes", "command_result", "client_request")
_TURNS_A_QUERY = 500


def turns(session: Session) -> QuerySet[ExplainabilityTurn]:
    """Return the registry's entries without their documents, oldest first."""
    return session.turns.defer("response_document").order_by("turn_index")


def registry(session: Session) -> QuerySet[ExplainabilityTurn]:
    """Return the registry's entries with their documents and ratings, oldest first."""
    return session.turns.select_related("rating").order_by("turn_index")


def turn(project: Project, session_id: str, request_id: str) -> ExplainabilityTurn:
    """Return one turn with its session.

    Raises:
        NotFound: SESSION_NOT_FOUND, TURN_NOT_FOUND.
    """
    row = turn_or_trial(project, session_id, request_id)
    if row.trial_number:
        raise _missing(request_id)
    return row


def turn_or_trial(project: Project, session_id: str, request_id: str) -> ExplainabilityTurn:
    """Return one turn, or the trace of a trial, with its session.

    Raises:
        NotFound: SESSION_NOT_FOUND, TURN_NOT_FOUND.
    """
    rows = ExplainabilityTurn.with_trials.select_related("session").filter(session__deleted_at=None)
    try:
        row = rows.get(session__project=project, session__session_id=session_id, request_id=request_id)
    except ExplainabilityTurn.DoesNotExist:
        session_reference(project, session_id)  # an unknown session is the error then
        raise _missing(request_id) from None
    row.session.project = project
    return row


def _missing(request_id: str) -> NotFound:
    return NotFound(f"There is no turn '{request_id}' in this session.", code="TURN_NOT_FOUND")


def ended_turns(session_id: str | None, since: datetime | None, until: datetime | None) -> QuerySet[ExplainabilityTurn]:
    """Return ended turns and commands of a session, or of all, that began within these times; the oldest first."""
    kinds = (ExplainabilityTurn.Kind.CHAT, ExplainabilityTurn.Kind.COMMAND)
    turns = ExplainabilityTurn.objects.filter(kind__in=kinds).order_by("created_at", "pk")
    turns = turns.exclude(status=ExplainabilityTurn.Status.RUNNING)
    if session_id is not None:
        turns = turns.filter(session__session_id=session_id)
    if since is not None:
        turns = turns.filter(created_at__gte=since)
    if until is not None:
        turns = turns.filter(created_at__lt=until)
    return turns.select_related("session__project", "conditions")


def turn_by_key(turn_pk: int) -> ExplainabilityTurn:
    """Return a turn by its key, without asking whose it is."""
    return ExplainabilityTurn.with_trials.select_related("session").get(pk=turn_pk)


def events(turn: ExplainabilityTurn) -> list[Event]:
    """Return the turn's machine events as far as they are stored."""
    return _events_of(turn.pk)


def _events_of(turn_pk: int) -> list[Event]:
    return list(map(event_of, _records_of(turn_pk)))


def event_records(turn: ExplainabilityTurn) -> list[Record]:
    """Return the turn's machine events as they are stored, in the order of frames."""
    return _records_of(turn.pk)


def _records_of(turn_pk: int) -> list[Record]:
    batches = TurnEvents.objects.filter(turn_id=turn_pk).order_by("first_sequence").values_list("events", flat=True)
    return [record for batch in batches for record in batch]


def all_events(turns: Collection[ExplainabilityTurn]) -> dict[int, list[Event]]:
    """Return the events of each turn under its key; one query for any number of them."""
    events_by_turn: dict[int, list[Event]] = {turn.pk: [] for turn in turns}
    rows = TurnEvents.objects.filter(turn__in=turns).order_by("turn_id", "first_sequence")
    for turn_pk, records in rows.values_list("turn_id", "events"):
        events_by_turn[turn_pk].extend(map(event_of, records))
    return events_by_turn


def registry_page(session: Session, limit: int, before: int | None = None) -> tuple[list[ExplainabilityTurn], bool]:
    """Return the newest `limit` entries below turn index `before`, oldest first; and whether older ones exist."""
    turns = session.turns.order_by("-turn_index")
    if before is not None:
        turns = turns.filter(turn_index__lt=before)
    page = list(turns[: limit + 1])
    return page[limit - 1 :: -1] if len(page) > limit else page[::-1], len(page) > limit


def graph(turn: ExplainabilityTurn) -> Graph:
    """Return the structure of the turn's graph, live or finished.

    The graph of an ended turn is cached, because a reader requests it for every node.
    """
    return fold_graph(events(turn)) if turn.is_running else ended_graph(*turn.record_key)


@lru_cache(maxsize=4)
def ended_graph(turn_pk: int, *version: object) -> Graph:
    """Return the graph of a turn that has ended, by its `record_key`."""
    return fold_graph(_events_of(turn_pk))


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A node's payload; `text` is its JSON, `size` its bytes, `cut_bytes` the bytes that a limit removed."""

    ref: str
    text: str
    size: int
    cut_bytes: int
    is_pruned: bool = False

    @property
    def payload(self) -> dict[str, Any] | None:
        """Return the payload as data; None when it was cut and is no longer whole JSON."""
        return json.loads(self.text) if not self.cut_bytes and not self.is_pruned else None

    @property
    def requests(self) -> list[ModelExchange]:
        """Return what the execution sent to models, as far as its payload is still there and whole."""
        meta = (self.payload or {}).get("meta") or {}
        return list(meta.get("requests", ()))

    @property
    def is_truncated(self) -> bool:
        """Return whether the payload is longer than what is shown inline."""
        return bool(self.cut_bytes) or self.size > settings.MRPVM_INLINE_DETAIL_BYTES

    @property
    def inline_text(self) -> str:
        """Return the JSON text as far as it is shown inline; a character on the edge is left out."""
        return self.text.encode("utf-8", "replace")[: settings.MRPVM_INLINE_DETAIL_BYTES].decode("utf-8", "ignore")


def detail(turn: ExplainabilityTurn, ref: str) -> Detail:
    """Return the payload behind one node: stored, or for control nodes and running ones taken from the events.

    Raises:
        NotFound: DETAIL_NOT_FOUND, the turn has no such node.
    """
    stored = details(turn, [ref])
    if ref in stored:
        return stored[ref]
    recorded = _prepared(turn, ref) or next((item for item in _recorded(events(turn)) if item.ref == ref), None)
    if recorded is None:
        raise NotFound(f"The turn has no node '{ref}'.", code="DETAIL_NOT_FOUND")
    return recorded


def _prepared(turn: ExplainabilityTurn, ref: str) -> Detail | None:
    """Return the payload of a model call that prepared the turn; the ref `prepare-1` is the first."""
    exchanges = (turn.context_report or {}).get("requests", ())
    exchange = next((exchange for number, exchange in enumerate(exchanges, 1) if ref == f"{PREPARED}{number}"), None)
    if exchange is None:
        return None
    response = exchange.get("response") or {}
    payload = {
        "input": exchange.get("body"),
        "output": response.get("text"),
        "error": response.get("error"),
        "meta": {"requests": [exchange]},
    }
    text = json.dumps(payload, ensure_ascii=False)
    return Detail(ref=ref, text=text, size=len(text.encode("utf-8", "replace")), cut_bytes=0)


PREPARED = "prepare-"
"""The prefix of the refs of calls that prepared a turn."""


def details(turn: ExplainabilityTurn, refs: Collection[str]) -> dict[str, Detail]:
    """Return the stored payloads of some nodes by their ids; two queries, and only what holds them is decompressed."""
    wanted: dict[int, list[PayloadPlace]] = {}
    for batch_pk, index in turn.event_batches.values_list("pk", "payload_index"):
        wanted_places = [place for place in places(index) if place.ref in refs]
        if wanted_places:
            wanted[batch_pk] = wanted_places
    columns = dict(turn.event_batches.filter(pk__in=wanted).values_list("pk", "payloads")) if wanted else {}
    return {
        item.ref: item
        for batch_pk, batch_places in wanted.items()
        for item in _stored(turn, columns[batch_pk], batch_places)
    }


def all_details(turns: Collection[ExplainabilityTurn]) -> Iterator[tuple[int, Detail]]:
    """Return every payload of the turns with the turn's key; two queries for any number of them."""
    stored: set[tuple[int, str]] = set()
    by_key = {turn.pk: turn for turn in turns}
    batches = TurnEvents.objects.filter(turn__in=by_key).order_by("turn_id", "first_sequence").defer("events")
    for batch in batches.iterator():
        for item in _stored(by_key[batch.turn_id], batch.payloads, places(batch.payload_index)):
            stored.add((batch.turn_id, item.ref))
            yield batch.turn_id, item
    for turn_pk, recorded in all_events(turns).items():
        yield from ((turn_pk, item) for item in _recorded(recorded) if (turn_pk, item.ref) not in stored)


def _stored(turn: ExplainabilityTurn, column: bytes | memoryview, wanted: Sequence[PayloadPlace]) -> Iterator[Detail]:
    is_pruned = turn.payloads_removed_at is not None
    texts = {} if is_pruned else payload_texts(column, wanted)
    for place in wanted:
        text = texts.get(place.ref, b"").decode("utf-8", "replace")
        yield Detail(ref=place.ref, text=text, size=place.size, cut_bytes=place.cut_bytes, is_pruned=is_pruned)


def _recorded(recorded: Iterable[Event]) -> Iterator[Detail]:
    """Yield the payload that the events give for each node; control nodes and running ones have no stored one."""
    known: dict[str, dict[str, Any]] = {}
    for event in recorded:
        ref = next((own for name in _ID_NAMES if (own := getattr(event.data, name, None))), None)
        if ref is not None:
            known.setdefault(ref, {}).update(to_wire(event.data))
    for ref, meta in known.items():
        error = meta.pop("error", None)
        text = json.dumps({"input": None, "output": None, "error": error, "meta": meta}, ensure_ascii=False)
        yield Detail(ref=ref, text=text, size=len(text.encode("utf-8", "replace")), cut_bytes=0)


_ID_NAMES = (
    "failure_id", "candidate_id", "result_id", "branch_id", "policy_id", "seed_id", "execution_id", "frame_id",
)  # fmt: skip
"""The members with an event's node id, the most specific first; a branch's failure has two of them."""


def unit_events(turn: ExplainabilityTurn) -> list[UnitEvent]:
    """Return the ledger of the turn in order: the steps of its own units, then its steps for all units."""
    return [*own_unit_events(turn), *judged_units([turn])]


def own_unit_events(turn: ExplainabilityTurn) -> QuerySet[UnitEvent]:
    """Return the steps of the units that the turn staged, in order."""
    return turn.unit_events.order_by("id")


def judged_units(turns: Iterable[ExplainabilityTurn], unit_id: str | None = None) -> list[UnitEvent]:
    """Return what retrieval and solving of these turns did to units, or to one, turn by turn; unsaved rows."""
    by_key = {turn.pk: turn for turn in turns}
    batches = TurnEvents.objects.filter(judged__isnull=False).order_by("turn_id", "first_sequence")
    judged: dict[int, list[Any]] = {turn_pk: [] for turn_pk in by_key}
    for some in batched(by_key, _TURNS_A_QUERY, strict=False):
        for turn_pk, steps in batches.filter(turn__in=some).values_list("turn_id", "judged"):
            judged[turn_pk] += steps or ()
    return [
        event
        for turn_pk, turn in by_key.items()
        for event in _judgements(turn, judged[turn_pk])
        if unit_id in (None, event.unit_id)
    ]


def _judgements(turn: ExplainabilityTurn, judged: Iterable[Any]) -> list[UnitEvent]:
    judgements = []
    for unit, step, store, execution_id, rank, score, reason, *parts in judged:
        event = UnitEvent(
            session_id=turn.session_id, turn=turn, unit_id=unit, step=step, store=store, execution_id=execution_id,
            rank=rank, score=score, reason=reason, created_at=turn.finished_at or turn.created_at,
        )  # fmt: skip
        event.score_parts = parts[0] if parts else {}
        judgements.append(event)
    return judgements


def events_and_judgements(turn: ExplainabilityTurn) -> tuple[list[Event], list[UnitEvent]]:
    """Return the turn's machine events, and what retrieval and solving did to units as unsaved rows; one query."""
    recorded: list[Event] = []
    judged: list[Any] = []
    batches = TurnEvents.objects.filter(turn_id=turn.pk).order_by("first_sequence")
    for records, steps in batches.values_list("events", "judged"):
        recorded.extend(map(event_of, records))
        judged.extend(steps or ())
    return recorded, _judgements(turn, judged)


def unit_life(session: Session, unit_id: str) -> list[UnitEvent]:
    """Return what happened to a unit in a session, the oldest first, each step with its turn.

    Judged steps are read from each turn; the size of the registry limits their number.
    """
    stored = session.unit_events.filter(unit_id=unit_id).select_related("turn").order_by("id")
    judged = judged_units(session.turns.defer(*_DOCUMENTS).order_by("turn_index"), unit_id)
    return sorted([*stored, *judged], key=lambda step: step.created_at)


def discarded_texts(turn: ExplainabilityTurn) -> list[str]:
    """Return the texts of the units that the turn discarded, in the order in which they were staged."""
    dropped = turn.unit_events.filter(step=UnitEvent.Step.DISCARDED).values("unit_id")
    staged = turn.unit_events.filter(step=UnitEvent.Step.STAGED, unit_id__in=dropped)
    return list(staged.order_by("id").values_list("text", flat=True))


def answer_of(turn: ExplainabilityTurn) -> str:
    """Return the turn's answer, its last message; empty where it has none or the answer was removed."""
    if turn.is_trial:
        return turn.trial.answer
    last = turn.messages.order_by("-sequence").values_list("role", "content").first()
    return last[1] if last is not None and last[0] == "assistant" else ""


def answers_of(turns: Sequence[ExplainabilityTurn]) -> dict[int, str]:
    """Return what each of some turns of conversations answered, by the turns' keys; one query."""
    answers = Message.objects.filter(turn__in=[turn.pk for turn in turns], role="assistant").order_by("sequence")
    return dict(answers.values_list("turn_id", "content"))


def cited_unit_ids(turn: ExplainabilityTurn) -> list[str]:
    """Return the units that the turn's answer cites, in the order of its source marks."""
    return cited_units(stored_answer(turn.response_document, with_evidence=False))


def deciding_reasons(document: ResponseDocument | None) -> list[str]:
    """Return what decided in each group of a response document, where the solver said it."""
    return [group["reason"] for group in (document["groups"] if document else ()) if group.get("reason")]


def document_evidence(document: ResponseDocument | None) -> list[UnitValue]:
    """Return the units that a response document's groups found in the session and its bases, the best score first.

    Statements only, each once: what a section or a source says as a whole repeats them.
    """
    return _evidence(document["groups"] if document else ())


def unanswered_evidence(document: ResponseDocument | None) -> list[UnitValue]:
    """Return the same of the groups whose question has no answer; an order asks nothing."""
    groups = [group for group in (document["groups"] if document else ()) if group["status"] == "no-context"]
    return _evidence([group for group in groups if kind_of(group["intent"], is_alone=True) != "order"])


def _evidence(groups: Sequence[ResponseGroup]) -> list[UnitValue]:
    sources = sorted((source for group in groups for source in sources_of(group)), key=lambda source: -source["score"])
    units = {source["unitId"]: source["unit"] for source in sources}
    return [unit for unit in units.values() if not has_parts(unit)]
