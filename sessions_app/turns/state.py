"""What a turn reads of its session before it runs: rows in, one frozen value out."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone

from mrpvm.conversation.flags import Flags
from mrpvm.conversation.preparation import ConversationState, Guidance, TurnInput
from mrpvm.conversation.session_memory import Memory
from mrpvm.conversation.summary import Said, Summary, summary_of
from mrpvm.values import Selection, SessionState
from sessions_app.language_model import grounding_of, is_configured
from sessions_app.models import ExplainabilityTurn, Message, Session
from sessions_app.models.plain_sql import select_rows
from sessions_app.queries.sessions.frozen_content import active_persona_of, agents_of
from sessions_app.queries.sessions.memory import stored_memory
from sessions_app.queries.sessions.remembered import remembered_texts
from sessions_app.queries.settings.plugin_statistics import utilities_for
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import turn_limits

INDEX_OUTDATED = "index_outdated"
"""A warning: another version has indexed some of what the turn searches, so words may be missed [O-35]."""


def read_state(turn: ExplainabilityTurn, call: TurnCall, flags: Flags, *, index_is_outdated: bool) -> ConversationState:
    """Return the conversation as it is stored, for a turn that holds its slot; at most four statements.

    While the slot is held nobody adds to the conversation: what is read here still holds in the commit.
    """
    session = turn.session
    summary = summary_of(session.summary)
    return ConversationState(
        asked=_turn_input(turn, call, flags),
        session=SessionState(
            session_id=session.session_id,
            mounted_kb_id=session.mounted_kb.kb_id,
            mounted_kb_name=session.mounted_kb.name,
            message_count=session.message_count,
            session_context_unit_count=session.unit_count,
            deliberation_level=session.preferred_deliberation_level,
        ),
        preferences=Selection(
            planner=session.preferred_planner_plugin,
            seed_detector=session.preferred_seed_detector_plugin,
            kb=session.preferred_kb_plugin,
            goal_solver=session.preferred_goal_solver_plugin,
        ),
        preferred_model=session.preferred_model,
        system_prompt=session.system_prompt,
        messages=_messages(session, flags, summary) if call.history is None else (),
        last_place=session.message_sequence,
        summary=summary,
        memory=_memory(turn, flags),
        guidance=_guidance(session),
        utilities=utilities_for(session),
        warnings=(INDEX_OUTDATED,) if index_is_outdated else (),
    )


def _turn_input(turn: ExplainabilityTurn, call: TurnCall, flags: Flags) -> TurnInput:
    """Return what is asked, each choice resolved: the request's, else the session's, the project's, the server's."""
    choices = call.choices
    return TurnInput(
        request_id=turn.request_id,
        message=call.message,
        flags=flags,
        system_prompt=call.system_prompt,
        skill=call.skill,
        skill_choice=call.skill_choice,
        history=call.history,
        added=call.added,
        pins=Selection(
            planner=choices.planner, seed_detector=choices.seed_detector, kb=choices.kb, goal_solver=choices.goal_solver
        ),
        deliberation_level=turn.deliberation_level,
        model=choices.model,
        grounding=grounding_of(turn.session, choices.grounding),
        is_streamed=call.is_streamed,
        limits=turn_limits(),
        max_history_chars=settings.MRPVM_MAX_HISTORY_CHARS,
    )


def _messages(session: Session, flags: Flags, summary: Summary) -> tuple[Said, ...]:
    """Return the newest messages that a model may see, the newest first: a window, or all not yet summarised."""
    limit = 2 * flags.history_max_turns + 1
    if flags.enable_history_summarization:
        limit = max(limit, session.message_sequence - summary.through)
    rows = select_rows(
        Message,
        ("sequence", "role", "content", "payload"),
        highest="sequence",
        limit=limit,
        session_id=session.pk,
    )
    return tuple(stored_message(*row) for row in rows)


def stored_message(place: int, role: str, content: str, payload: Mapping[str, Any] | None) -> Said:
    """Return a message as a turn's preparation takes it."""
    called = payload or {}
    return Said(
        sequence=place, role=role, content=content,
        tool=str(called.get("tool", "")), tool_input=str(called.get("input", "")),
    )  # fmt: skip


def _memory(turn: ExplainabilityTurn, flags: Flags) -> Memory | None:
    """Return what earlier turns left, None with the policy off; a session's first turn has none and asks for none."""
    session = turn.session
    if not flags.enable_session_memory or (turn.turn_index == 1 and session.forked_from_id is None):
        return None
    return stored_memory(session, timezone.now(), flags.session_memory_ttl_hours)


def _guidance(session: Session) -> Guidance | None:
    if not is_configured():
        return None
    return Guidance(
        persona=active_persona_of(session),
        style=session.active_style,
        agent=agents_of(session).get(session.active_agent),
        remembered=tuple(remembered_texts(session)) if session.remembered_count else (),
    )
