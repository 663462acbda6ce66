"""Commands: answered from the session's own state, recorded beside the conversation, sent to no model."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from mrpvm.assistants.personas import PersonaCatalogue
from mrpvm.assistants.skills import SkillSnapshot
from mrpvm.commands import (
    CommandOutcome,
    Orchestration,
    SessionFacts,
    ToolCall,
    answer,
    resolve,
)
from mrpvm.commands.recorded import NotedPorts, frozen_record
from mrpvm.trace.events import ROOT_FRAME_ID, Event, record_of
from mrpvm.values import Selection, TurnOutcome
from sessions_app import events
from sessions_app.actions.sessions.conversation_points import mark_conversation
from sessions_app.actions.sessions.frozen_content import point_to_personas, point_to_skills, reloaded
from sessions_app.actions.sessions.histories import append_turn_message
from sessions_app.actions.sessions.remembered import LockedMemory
from sessions_app.actions.sessions.removal import trim_registry
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.actions.turns.commands import record_command
from sessions_app.actions.turns.conditions import product_version
from sessions_app.actions.turns.payloads import batch, payload
from sessions_app.commands.trace import payload_parts, trace_of
from sessions_app.language_model import is_configured
from sessions_app.models import ExplainabilityTurn, Message, Session
from sessions_app.queries.sessions.frozen_content import agents_of, personas_of, skills_of
from sessions_app.queries.sessions.lookups import newest_of_user
from sessions_app.queries.sessions.skill_files import current_personas, current_skills, evidence_text, tools


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTurn:
    """An answered command: its entry, what it gave, and its trace."""

    turn: ExplainabilityTurn
    outcome: TurnOutcome
    events: Sequence[Event]


@transaction.atomic
def answer_command(
    session: Session,
    text: str,
    conversation_hash: str | None = None,
    client_request: Mapping[str, Any] | None = None,
    *,
    sent: str | None = None,
) -> CommandTurn | Orchestration:
    """Answer a command, or give the turn that it asks a model for.

    Args:
        conversation_hash: that of what was said before the command, if the conversation is to be recognised by it.
        sent: the text as the client sent it, where it is not stored like that.
        client_request: kept with the entry as it is.

    Raises:
        Conflict, Expired, NotFound: the session is busy or over.

    Effects, unless a model is to be asked: the entry, its trace, the one thing that the command changes, activity, a
    tool's message; `command.recorded` and the news of the change. Other messages stay as they are.
    """
    began = time.monotonic()
    locked = lock_idle_session(session.pk)
    facts = facts_of(locked)
    resolved = resolve(text, facts)
    orchestration = resolved.orchestration
    if orchestration is not None and is_configured():
        return orchestration
    ports = NotedPorts(_ServerPorts(locked))
    outcome = answer(resolved, facts, ports)
    news = _apply(locked, outcome)
    duration_ms = round((time.monotonic() - began) * 1000)
    conditions = {"command": frozen_record(facts), "product": product_version()}
    turn = record_command(locked, text, outcome.result, duration_ms, client_request, conditions)
    trace = trace_of(turn, resolved, outcome, facts)
    parts = payload_parts(text, facts, ports.calls, resolved, outcome)
    batch(turn, 0, [record_of(event) for event in trace], [payload(ROOT_FRAME_ID, parts)]).save()
    if outcome.tool_call is not None:
        _add_tool_message(locked, turn, outcome.tool_call)
    if conversation_hash is not None:
        mark_conversation(locked, conversation_hash, sent or text, outcome.result.message)
    locked.touch()
    recorded = events.TurnEnded(request_id=turn.request_id, turn_index=turn.turn_index, code=outcome.result.code)
    events.append_to_locked(locked, [*news, ("command.recorded", recorded)])
    locked.save(update_fields=[*_CHANGEABLE, *Session.ACTIVITY_FIELDS])
    trim_registry(turn)
    return CommandTurn(turn=turn, outcome=_turn_outcome(outcome), events=trace)


_CHANGEABLE = (
    "active_agent", "active_persona", "active_style", "skills", "snapshot_version", "personas", "remembered_count",
    "turn_sequence", "message_sequence", "event_sequence",
)  # fmt: skip


def facts_of(session: Session) -> SessionFacts:
    """Return the session's frozen state as commands see it."""
    return SessionFacts(
        session_id=session.session_id,
        skills=skills_of(session),
        snapshot_version=session.snapshot_version,
        personas=personas_of(session),
        agents=agents_of(session),
        active_agent=session.active_agent,
        active_persona=session.active_persona,
        active_style=session.active_style,
        tools=tools(),
    )


class _ServerPorts:
    """What commands ask of this server on behalf of one locked session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.memory = LockedMemory(session)

    def said_by_user(self, limit: int) -> Sequence[str]:
        return newest_of_user(self._session, limit)

    def evidence_text(self, path: str) -> str:
        return evidence_text(self._session.project, path)

    def load_skills(self) -> SkillSnapshot:
        return current_skills(self._session.project)

    def load_personas(self) -> PersonaCatalogue:
        return current_personas(self._session.project)

    def start_session(self) -> str:
        return create_session(self._session.project).session_id


_MEMORY_CHANGED = (
    "memory_saved", "memory_deleted", "memory_verified", "memory_consolidated", "memory_archived", "memory_expiry_set",
    "memory_evidence_ingested",
)  # fmt: skip


def _apply(session: Session, outcome: CommandOutcome) -> list[events.News]:
    """Set what the command changes on the unsaved session and return the news of it."""
    changes = dict(outcome.changes)
    news: list[events.News] = []
    personas, skills = changes.pop("personas", None), changes.pop("skills", None)
    if skills is not None:
        point_to_skills(session, skills, changes.pop("snapshot_version"))
        news.append(reloaded(session))
    if personas is not None:
        point_to_personas(session, personas)
    for name, value in changes.items():
        setattr(session, name, value)
    if personas is not None or "active_persona" in changes:
        news.append(
            ("persona.changed", events.PersonaChanged(persona=session.active_persona, style=session.active_style))
        )
    elif "active_style" in changes:
        news.append(("preferences.changed", events.PreferencesChanged(style=session.active_style)))
    if "active_agent" in changes:
        news.append(("agent.changed", events.AgentChanged(agent=session.active_agent)))
    if outcome.result.code in _MEMORY_CHANGED:
        news.append(("memory.updated", events.MemoryUpdated(count=session.remembered_count)))
    return news


def _add_tool_message(session: Session, turn: ExplainabilityTurn, call: ToolCall) -> None:
    """Store the tool's input and output."""
    append_turn_message(
        session,
        turn,
        Message.Speaker.TOOL,
        call.output,
        {
            "tool": f"{call.provider}:{call.tool}",
            "call_id": turn.request_id,
            "input": call.input,
            "output": call.output,
        },
    )


def _turn_outcome(outcome: CommandOutcome) -> TurnOutcome:
    return TurnOutcome(
        status="succeeded",
        answer_status=None,
        answer=None,
        answer_text=outcome.result.message,
        staged_units=(),
        used=Selection(),
        stages=(),
    )
