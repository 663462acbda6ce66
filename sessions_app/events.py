"""Session events: the only way by which browsers are notified.

An event is a row written in the same transaction as the state it describes, numbered without gaps within its
session. After the commit the last one is sent to the channel group `session.<pk>`, and its receivers read the rows up
to it. Payloads hold ids and small facts only; a reader that needs more reads the rows that these name. A reader that
missed a message asks for every event after the last number it saw, or is told that those were compacted.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args

from asgiref.sync import async_to_sync
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from mrpvm.contracts import WorkspaceStats
from sessions_app.metrics import meters
from sessions_app.models import KBMount, KnowledgeBase, Session, SessionEvent
from sessions_app.models.named_sql import Write, value_insertions, write_all

logger = logging.getLogger(__name__)


class NoFacts(TypedDict):
    """The payload of an event whose kind says everything."""


class SessionCreated(TypedDict, total=False):
    """Empty unless the session is a fork."""

    forked_from: str
    reason: str


class SessionRenamed(TypedDict):
    title: str | None


class TurnFacts(TypedDict):
    request_id: str
    turn_index: int


class TurnCommitted(TurnFacts):
    answer_status: str | None
    message_sequence: int


class TurnEnded(TurnFacts):
    """`code` is that of the error, or of a command's result."""

    code: str


class TurnRated(TypedDict):
    request_id: str
    value: str


class UnitCount(TypedDict):
    request_id: str
    count: int


class UnitChanged(TypedDict):
    unit_id: str
    change: Literal["retracted", "restored", "corrected"]


class ContextLoaded(TypedDict):
    source_name: str
    unit_count: int


class PreferencesChanged(TypedDict, total=False):
    """Those that changed."""

    preferred_planner_plugin: str
    preferred_seed_detector_plugin: str
    preferred_kb_plugin: str
    preferred_goal_solver_plugin: str
    preferred_deliberation_level: int
    preferred_model: str
    style: str | None
    flags: Mapping[str, Any]
    grounding: str | None


class ModelConfigChanged(TypedDict):
    took_current_roles: bool


class AgentChanged(TypedDict):
    agent: str


class PersonaChanged(TypedDict):
    persona: str
    style: str | None


class SnapshotReloaded(TypedDict):
    version: int
    hash: str


class MemoryUpdated(TypedDict):
    count: int


class BaseMounted(TypedDict):
    kb_id: str
    kb_name: str
    revision: int
    reason: str


class BaseStored(TypedDict):
    kb_id: str
    kb_name: str
    revision: int
    parent_kb_id: str | None


def mounted_facts(mount: KBMount) -> BaseMounted:
    """Return the payload of `kb.mounted`."""
    base = mount.knowledge_base
    return BaseMounted(kb_id=base.kb_id, kb_name=base.name, revision=mount.revision, reason=mount.reason)


def stored_facts(base: KnowledgeBase) -> BaseStored:
    """Return the payload of `kb.saved` and `kb.forked`."""
    parent_kb_id = base.parent.kb_id if base.parent else None
    return BaseStored(kb_id=base.kb_id, kb_name=base.name, revision=base.revision, parent_kb_id=parent_kb_id)


def draft_facts(session: Session) -> WorkspaceStats:
    """Return the payload of `draft.changed`, which retrievers are told too."""
    draft = session.draft
    return WorkspaceStats(dirty=session.is_dirty, source_count=draft.source_count, unit_count=draft.unit_count)


type News = (
    tuple[Literal["session.created"], SessionCreated]
    | tuple[Literal["session.renamed"], SessionRenamed]
    | tuple[
        Literal["session.expired", "session.deleted", "session.restored", "messages.changed", "memory.cleared"], NoFacts
    ]
    | tuple[Literal["turn.started"], TurnFacts]
    | tuple[Literal["turn.committed"], TurnCommitted]
    | tuple[Literal["turn.failed", "turn.cancelled", "turn.interrupted", "command.recorded"], TurnEnded]
    | tuple[Literal["turn.rated"], TurnRated]
    | tuple[Literal["units.promoted", "units.discarded", "units.evicted"], UnitCount]
    | tuple[Literal["units.changed"], UnitChanged]
    | tuple[Literal["context.loaded"], ContextLoaded]
    | tuple[Literal["preferences.changed"], PreferencesChanged]
    | tuple[Literal["model-config.changed"], ModelConfigChanged]
    | tuple[Literal["agent.changed"], AgentChanged]
    | tuple[Literal["persona.changed"], PersonaChanged]
    | tuple[Literal["snapshot.reloaded"], SnapshotReloaded]
    | tuple[Literal["memory.updated"], MemoryUpdated]
    | tuple[Literal["draft.changed"], WorkspaceStats]
    | tuple[Literal["kb.mounted"], BaseMounted]
    | tuple[Literal["kb.saved", "kb.forked"], BaseStored]
)
"""An event with a number and its payload. `turn.progressed`, `turn.drafted`, `units.pending` and
`context.progressed` have no number: they tell the progress of something not stored yet. Nor has `kb.revised`, which
is about a base and not about one session. `events.compacted` has the number of the last event: the page that asked
for older ones than there are reads everything afresh."""


def _kinds_of_news() -> tuple[str, ...]:
    """Return the kinds of all numbered events, in the order of `News`."""
    return tuple(kind for member in get_args(News.__value__) for kind in get_args(get_args(member)[0]))


EVENT_KINDS = _kinds_of_news()


class EventMessage(TypedDict):
    """What a browser gets; `sequence` is None for events that only report progress."""

    sequence: int | None
    kind: str
    payload: Mapping[str, Any]
    created_at: str | None


_server_loop: asyncio.AbstractEventLoop | None = None


def use_server_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Remember the loop that sockets live on: an in-memory layer is woken at once only from there."""
    global _server_loop
    _server_loop = loop


def channel_group_of(session_pk: int) -> str:
    """Return the channel group of a session."""
    return f"session.{session_pk}"


def group_of_base(base_pk: int) -> str:
    """Return the channel group of the sessions that have a base mounted."""
    return f"base.{base_pk}"


def append(session: Session, news: News) -> None:
    """Add one event to the session; see `append_all`."""
    append_all(session, [news])


def append_all(session: Session, news: Sequence[News]) -> None:
    """Add events to the session; must run inside the transaction of the change they announce.

    Effects: a row each, the session's `event_sequence`, and a message to the group after the commit.
    """
    session.event_sequence = F("event_sequence") + len(news)
    session.save(update_fields=["event_sequence"])  # reads the number back
    append_counted(session, news)


def append_to_locked(session: Session, news: Sequence[News]) -> None:
    """Add events to a session whose row this transaction has locked; the caller saves `event_sequence` with the rest.

    Effects: those of `append_all`, without a query for the number.
    """
    session.event_sequence += len(news)
    append_counted(session, news)


def append_counted(session: Session, news: Sequence[News]) -> None:
    """Add events that the session's `event_sequence` counts already.

    Effects: those of `append_all`, without a query for the number.
    """
    write_all(event_writes(session, news))


def event_writes(session: Session, news: Sequence[News]) -> list[Write]:
    """Return the writes of events that the session's `event_sequence` counts already, for the running transaction.

    Effects: a message to the group after the commit.
    """
    first = session.event_sequence - len(news) + 1
    now = timezone.now()
    rows = [(session.pk, first + place, kind, dict(payload), now) for place, (kind, payload) in enumerate(news)]
    _, sequence, kind, payload, _ = rows[-1]
    last: EventMessage = {"sequence": sequence, "kind": kind, "payload": payload, "created_at": now.isoformat()}
    transaction.on_commit(lambda: send(session.pk, last), robust=True)
    return value_insertions(SessionEvent, _COLUMNS, rows)


_COLUMNS = ("session_id", "sequence", "kind", "payload", "created_at")


def browser_message_of(event: SessionEvent) -> EventMessage:
    """Return the event as browsers get it."""
    return {
        "sequence": event.sequence,
        "kind": event.kind,
        "payload": event.payload,
        "created_at": event.created_at.isoformat(),
    }


def announce_progress(session_pk: int, request_id: str, event_count: int) -> None:
    """Notify open pages that a running turn's stored trace has grown to `event_count` events."""
    send(session_pk, _unnumbered("turn.progressed", {"request_id": request_id, "event_count": event_count}))


def announce_draft(session_pk: int, request_id: str) -> None:
    """Notify open pages that a model has written more of a running turn's answer."""
    send(session_pk, _unnumbered("turn.drafted", {"request_id": request_id}))


def announce_pending(session_pk: int, request_id: str, count: int) -> None:
    """Notify open pages that a running turn stored units, which its end keeps or drops."""
    send(session_pk, _unnumbered("units.pending", UnitCount(request_id=request_id, count=count)))


def announce_loading(session_pk: int, source_name: str, done_chunks: int, chunk_count: int) -> None:
    """Notify open pages of the progress of a source that is being loaded into the session."""
    progress = {"source_name": source_name, "done_chunks": done_chunks, "chunk_count": chunk_count}
    send(session_pk, _unnumbered("context.progressed", progress))


def announce_experiment(session_pk: int, experiment_id: str, tried_count: int) -> None:
    """Send open pages how many trials an experiment over one of the session's turns has run, or that it has ended."""
    progress = {"experiment_id": experiment_id, "tried_count": tried_count}
    send(session_pk, _unnumbered("experiment.progressed", progress))


def base_revised(kb_id: str, revision: int) -> EventMessage:
    """Return the event for pages of sessions whose mounted base has a new revision."""
    return _unnumbered("kb.revised", {"kb_id": kb_id, "revision": revision})


def _unnumbered(kind: str, payload: Mapping[str, Any]) -> EventMessage:
    """Return an event that is no row: a page that misses it finds the same in what it reads."""
    return {"sequence": None, "kind": kind, "payload": payload, "created_at": None}


def compacted(sequence: int) -> EventMessage:
    """Return the event for a page that asks for removed events: it has to load its state again."""
    return {"sequence": sequence, "kind": "events.compacted", "payload": {}, "created_at": None}


def announce_revision(base: KnowledgeBase) -> None:
    """Wake the open pages of sessions that have the base mounted, one message for all of them, after the commit."""
    group, message = group_of_base(base.pk), base_revised(base.kb_id, base.revision)
    transaction.on_commit(lambda: _send(group, message), robust=True)


def send(session_pk: int, message: EventMessage) -> None:
    """Send to the session's group; if the layer is away, only live updates are lost."""
    _send(channel_group_of(session_pk), message)


def _send(group: str, message: EventMessage) -> None:
    layer = get_channel_layer()
    if layer is None or (isinstance(layer, InMemoryChannelLayer) and group not in layer.groups):
        return  # no page listens; one that joins now reads the rows afterwards
    if _server_loop is not None and _server_loop.is_running():
        _server_loop.call_soon_threadsafe(_start_delivery, layer, group, message, time.monotonic())
    else:
        async_to_sync(_deliver)(layer, group, message, time.monotonic())


_deliveries: set[asyncio.Task[None]] = set()
"""Deliveries under way: the loop itself would not keep them alive."""


def _start_delivery(layer: Any, group: str, message: EventMessage, sent: float) -> None:
    if len(_deliveries) >= settings.MRPVM_MAX_DELIVERIES:
        logger.warning("%s deliveries are under way, not published: %s", len(_deliveries), message["kind"])
        return
    delivery = asyncio.create_task(_deliver(layer, group, message, sent))
    _deliveries.add(delivery)
    delivery.add_done_callback(_deliveries.discard)


async def _deliver(layer: Any, group: str, message: EventMessage, sent: float) -> None:
    try:
        async with asyncio.timeout(settings.MRPVM_DELIVERY_SECONDS):
            await layer.group_send(group, {"type": "session.event", "message": message})
        if (counted := meters()) is not None:
            counted.event_delivery_seconds.observe(time.monotonic() - sent)
    except Exception as error:
        logger.warning("could not publish %s: %r", message["kind"], error)


def layer_answers() -> bool:
    """Return whether the layer delivers a message; for readiness checks.

    Raises:
        Exception: why the layer does not answer.
    """
    layer = get_channel_layer()
    return layer is not None and async_to_sync(_echo)(layer)


async def _echo(layer: Any) -> bool:
    channel = await layer.new_channel("readiness.")
    message = {"type": "readiness.echo"}
    async with asyncio.timeout(_ECHO_SECONDS):
        await layer.send(channel, message)
        return bool(await layer.receive(channel) == message)


_ECHO_SECONDS = 2
