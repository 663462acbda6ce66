"""A recorded turn with everything that running it again needs, read from rows; nothing is written."""

from collections.abc import Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from mrpvm.conversation.answers import stored_answer
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.preparation import ConversationState
from mrpvm.conversation.rewriting import term_of
from mrpvm.conversation.session_memory import Memory, after_turn, memory_of
from mrpvm.conversation.summary import PlacedMessage, Summary, summary_of
from mrpvm.errors import Conflict
from mrpvm.llm.recorder import ModelExchange
from mrpvm.trace.events import Event, PluginFinished, Record, TurnStarted, event_of, said
from mrpvm.values import HistoryMessage
from mrpvm.wire import from_wire
from sessions_app.layers import EffectiveView, LayersGone, Marks, SeenLayers, past_view
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.queries.experiments.forgetting.acts import took_payloads
from sessions_app.queries.experiments.rerun import remembered_turns, views_before
from sessions_app.queries.turns import registry as turn_queries
from sessions_app.turns.state import stored_message
from sessions_app.turns.view import TurnView

type Conditions = Mapping[str, Any]
_STOPPED = ("TURN_CANCELLED", "TURN_INTERRUPTED")


class NotReplayable(Conflict):
    """What the turn saw is not stored, or not any more; the details say what is missing and since when."""

    def __init__(self, message: str, missing: str, since: datetime | None = None) -> None:
        details = {"missing": missing, "since": since.isoformat() if since else None}
        super().__init__(message, code="NOT_REPLAYABLE", details=details)


@dataclass(frozen=True)
class RecordedTurn:
    """One ended turn: what it saw, and what it did.

    `records` are its stored events in the order of frames, up to where somebody stopped it.
    """

    turn: ExplainabilityTurn
    view: TurnView
    conditions: Conditions
    records: Sequence[Record]

    @cached_property
    def events(self) -> Sequence[Event]:
        """The recorded events as values."""
        return [event_of(record) for record in self.records]

    @cached_property
    def state(self) -> ConversationState:
        """The conversation as the turn's preparation saw it."""
        return _state_of(self)

    @cached_property
    def knowledge(self) -> EffectiveView:
        """What its searches saw."""
        return knowledge_of(self.turn.session, self.view)

    @cached_property
    def payloads(self) -> Mapping[str, turn_queries.Detail]:
        """The payloads of its nodes by their ids."""
        return {item.ref: item for _, item in turn_queries.all_details([self.turn])}

    @property
    def message(self) -> str:
        """Return the message of the turn: the payload of a command for a skill, else what the user wrote."""
        return message_of(self.turn, self.view)

    @property
    def stopped_by(self) -> str | None:
        """Return the error code of a turn that was stopped."""
        code = (self.turn.error or {}).get("code")
        return code if code in _STOPPED else None


@dataclass(frozen=True)
class SupposedTurn(RecordedTurn):
    """A turn that never ran: its state and knowledge are given, and it has no records."""

    given_state: ConversationState
    given_knowledge: EffectiveView

    @property
    def state(self) -> ConversationState:
        """Return the conversation as it is given."""
        return self.given_state

    @property
    def knowledge(self) -> EffectiveView:
        """Return what its searches see."""
        return self.given_knowledge


def recorded_turn(turn: ExplainabilityTurn) -> RecordedTurn:
    """Return what is stored of an ended turn.

    Raises:
        Conflict: TURN_IN_PROGRESS, it still runs; NOT_REPLAYABLE.
    """
    if turn.is_running:
        raise Conflict("The turn is still running.", code="TURN_IN_PROGRESS", details={"request_id": turn.request_id})
    if turn.is_trial:
        raise NotReplayable("A trial is run again by running its experiment's turn with its changes.", "view")
    if turn.kind == ExplainabilityTurn.Kind.COMMAND:
        raise NotReplayable("A command is answered without the machine: it replays, and has nothing to try.", "machine")
    if turn.kind == ExplainabilityTurn.Kind.IMPORTED:
        raise NotReplayable(
            "Another application sent this turn as a trace: what its models and tools saw is not here.", "machine"
        )
    check_kept(turn)
    if not turn.view or turn.conditions is None or not turn.conditions.content:
        raise NotReplayable("What this turn saw was not recorded: it is older than replay, or it never began.", "view")
    records = turn_queries.event_records(turn)
    if turn.exchanges_removed_at is not None and _has_asked_models(turn, records):
        raise NotReplayable(
            f"What this turn sent to models was removed on {turn.exchanges_removed_at:%Y-%m-%d}, as the project's"
            " retention says. It cannot be run again.",
            "model-exchanges",
            turn.exchanges_removed_at,
        )
    if (turn.error or {}).get("code") in _STOPPED:
        records = list(_until_stopped(records))
    return RecordedTurn(
        turn=turn, view=TurnView.of_record(turn.view), conditions=turn.conditions.content, records=records
    )


def check_kept(turn: ExplainabilityTurn) -> None:
    """Refuse a turn whose payloads were removed.

    Raises:
        NotReplayable: by retention, or with something that was forgotten.
    """
    if turn.payloads_removed_at is None:
        return
    if took_payloads(turn):
        raise forgotten(turn.payloads_removed_at)
    raise NotReplayable(
        f"The payloads of this turn were removed on {turn.payloads_removed_at:%Y-%m-%d}, as the project's retention"
        " says. It cannot be run again.",
        "payloads",
        turn.payloads_removed_at,
    )


def _has_asked_models(turn: ExplainabilityTurn, records: Sequence[Record]) -> bool:
    return bool((turn.context_report or {}).get("modelCalls")) or any(
        ended.llm_calls for ended in said(PluginFinished, map(event_of, records))
    )


def forgotten(since: datetime) -> NotReplayable:
    """Return the refusal of a turn that saw what was forgotten at a moment."""
    reason = f"Something that this turn saw was forgotten on {since:%Y-%m-%d}. It cannot be run again."
    return NotReplayable(reason, "forgotten", since)


def message_of(turn: ExplainabilityTurn, view: TurnView) -> str:
    """Return the message that the turn's machine got."""
    return view.skill.message if view.skill is not None else turn.user_message


def _until_stopped(records: Sequence[Record]) -> Iterator[Record]:
    """Return the events before the stop; those after it were written by the process that stopped the turn."""
    for record in records:
        if error_code(record) in _STOPPED:
            return
        yield record


def error_code(record: Record) -> str | None:
    """Return the code of the error that an event describes."""
    error = record[2].get("error")
    return error.get("code") if isinstance(error, Mapping) else None


def knowledge_of(session: Session, view: TurnView) -> EffectiveView:
    """Return what the searches of a turn with this view saw.

    Raises:
        Conflict: NOT_REPLAYABLE.
    """
    *own, mounted = view.layers
    seen = SeenLayers(
        own=tuple(own),
        drafts=tuple(own[len(own) - view.draft_count :]),
        mounted=mounted,
        marks=Marks(*view.marks),
        evidence_count=view.evidence_count,
        term_count=view.term_count,
    )
    try:
        return past_view(session, seen)
    except LayersGone as error:
        raise NotReplayable("The knowledge base that this turn saw was removed.", "layers") from error


def _state_of(recorded: RecordedTurn) -> ConversationState:
    turn, view = recorded.turn, recorded.view
    shared = from_wire(ConversationState, recorded.conditions["state"])
    summary = _summary_before(turn, view.summary_through)
    omitted = (HistoryMessage(role="user", content=""),) * view.history_omitted_count
    turn_input = replace(
        shared.asked,
        request_id=turn.request_id,
        message=recorded.message,
        history=None if view.history is None else (*omitted, *view.history),
        added=view.added,
        skill=view.skill,
        skill_choice=view.skill_choice,
    )
    session = replace(
        shared.session,
        session_id=_session_id(recorded),
        message_count=view.message_count,
        session_context_unit_count=view.unit_count,
    )
    return replace(
        shared,
        asked=turn_input,
        session=session,
        messages=messages_before(turn.session, view, shared.asked.flags, summary.through)
        if view.history is None
        else (),
        last_place=view.last_place,
        summary=summary,
        memory=None if view.memory_turn_count is None else memory_before(turn, view, view.memory_turn_count),
        utilities=_utilities(recorded.conditions, view),
    )


def _session_id(recorded: RecordedTurn) -> str:
    """Return what the session was called when the turn ran: an import keeps a client's own name in what it recorded."""
    named = (began.session_id for began in said(TurnStarted, recorded.events) if began.session_id)
    return next(named, recorded.turn.session.session_id)


def _utilities(conditions: Conditions, view: TurnView) -> dict[tuple[str, str], float]:
    keys = [(kind, plugin_id) for kind, plugin_id, _ in conditions["utilities"]]
    utilities = {(kind, plugin_id): value for kind, plugin_id, value in conditions["utilities"]}
    return utilities | {keys[place]: value for place, value in view.utilities}


def _summary_before(turn: ExplainabilityTurn, through: int) -> Summary:
    """Return the summary that reached so far when the turn began: the session's present one, or an earlier turn's.

    Raises:
        Conflict: NOT_REPLAYABLE, the turn that made it was removed.
    """
    if not through:
        return Summary()
    present = summary_of(turn.session.summary)
    if present.through == through:
        return present
    for record in views_before(turn):
        summary = TurnView.of_record(record).new_summary
        if summary is not None and summary.through == through:
            return summary
    raise NotReplayable("The turn that made the summary which this one saw was removed.", "summary")


def messages_before(session: Session, view: TurnView, flags: Flags, through: int) -> tuple[PlacedMessage, ...]:
    """Return what was said before the turn, the newest first, as much as its window or summary can need.

    Raises:
        Conflict: NOT_REPLAYABLE, a message was taken out since.
    """
    before = session.messages.filter(sequence__lte=view.last_place)
    if before.count() != view.message_count:
        raise NotReplayable("A message that this turn saw was taken out of the conversation.", "messages")
    limit = 2 * flags.history_max_turns + 1
    if flags.enable_history_summarization:
        limit = max(limit, view.last_place - through)
    rows = before.order_by("-sequence").values_list("sequence", "role", "content", "payload")
    return tuple(stored_message(*row) for row in rows[:limit])


def memory_before(turn: ExplainabilityTurn, view: TurnView, turn_count: int) -> Memory:
    """Return what the session remembered when the turn began: what its last `turn_count` turns left.

    Raises:
        Conflict: NOT_REPLAYABLE, some of them were removed, and none since then keeps what they left.
    """
    turns, kept = list[tuple[ExplainabilityTurn, TurnView]](), view.memory
    earlier_turns = remembered_turns(turn)
    while kept is None and len(turns) < turn_count:
        earlier = next(earlier_turns, None)
        if earlier is None or earlier.view is None:
            raise NotReplayable("Turns that this one remembered were removed or are older than replay.", "memory")
        earlier_view = TurnView.of_record(earlier.view)
        turns.append((earlier, earlier_view))
        kept = earlier_view.memory
    memory = memory_of(kept or {}, turn_count - len(turns), turn.created_at, turn.created_at)
    for earlier, earlier_view in reversed(turns):
        memory = after_turn(
            memory,
            turn_index=earlier.turn_index,
            subject=term_of(message_of(earlier, earlier_view)),
            answer=stored_answer(earlier.response_document, with_evidence=True),
            now=earlier.finished_at or earlier.created_at,
        )
    return memory


def recorded_requests(recorded: RecordedTurn) -> list[ModelExchange]:
    """Return each request of the turn to a model, with its answer."""
    return list(_requests(recorded))


def _requests(recorded: RecordedTurn) -> Iterator[ModelExchange]:
    yield from (recorded.turn.context_report or {}).get("requests", ())
    if recorded.conditions["models"] is not None:
        for ended in said(PluginFinished, recorded.events):
            if detail := recorded.payloads.get(ended.execution_id):
                yield from detail.requests
