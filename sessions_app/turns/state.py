"""What a turn reads of its session before it runs: rows in, one frozen value out."""

from collections.abc import Mapping
from copy import replace
from typing import Any, Literal

from django.conf import settings
from django.utils import timezone

from mrpvm.conversation.flags import Flags
from mrpvm.conversation.preparation import ConversationState, Guidance, TurnInput
from mrpvm.conversation.summary import PlacedMessage, Summary, summary_of
from mrpvm.values import Limits, Selection, SessionState
from sessions_app.language_model import is_configured
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.models.named_sql import select_conversation
from sessions_app.queries.sessions.frozen_content import active_persona_of, agents_of
from sessions_app.queries.sessions.memory import usable_memory
from sessions_app.queries.sessions.remembered import remembered_texts
from sessions_app.queries.settings.plugin_statistics import utilities_for
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import turn_limits

INDEX_OUTDATED = "index_outdated"
"""A warning: another version has indexed some of what the turn searches, so words may be missed."""


GUIDED_SOLVER = "gs-llm-fast"
"""Answers a turn with a skill that names no solver: one without a model could not follow the skill."""


def read_state(turn: ExplainabilityTurn, call: TurnCall, flags: Flags, *, index_is_outdated: bool) -> ConversationState:
    """Return the conversation as it is stored, for a turn that holds its slot; at most four statements.

    While the slot is held nobody adds to the conversation: what is read here still holds in the commit.
    """
    session = turn.session
    turn_input, summary = _turn_input(turn, call, flags), summary_of(session.summary)
    said, memory = select_conversation(
        session,
        0 if turn_input.history is not None else _message_count(session, flags, summary),
        with_memory=_may_remember(turn, flags),
    )
    return ConversationState(
        asked=turn_input,
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
        messages=tuple(stored_message(*message) for message in said),
        last_place=session.message_sequence,
        summary=summary,
        memory=memory and usable_memory(session, memory, timezone.now(), flags.session_memory_ttl_hours),
        guidance=_guidance(session),
        utilities=utilities_for(session),
        warnings=(INDEX_OUTDATED,) if index_is_outdated else (),
    )


def _turn_input(turn: ExplainabilityTurn, call: TurnCall, flags: Flags) -> TurnInput:
    """Return what is asked, each choice resolved: the request's, else the session's, the project's, the server's."""
    choices = call.choices
    solver = choices.goal_solver or (GUIDED_SOLVER if call.skill is not None else None)
    return TurnInput(
        request_id=turn.request_id,
        message=call.message,
        flags=flags,
        system_prompt=call.system_prompt,
        skill=call.skill,
        skill_choice=call.skill_choice,
        history=call.history,
        added=call.added,
        pins=Selection(planner=choices.planner, seed_detector=choices.seed_detector, kb=choices.kb, goal_solver=solver),
        deliberation_level=turn.deliberation_level,
        model=choices.model,
        grounding=_grounding(turn.session, choices.grounding),
        is_streamed=call.is_streamed,
        limits=_limits(call.limits),
        max_history_chars=settings.MRPVM_MAX_HISTORY_CHARS,
    )


def _limits(chosen: Mapping[str, int]) -> Limits:
    """Return the limits of a turn: the chosen ones, as far as the server's are not lower by now."""
    server = turn_limits()
    if not chosen:
        return server
    return replace(server, **{name: min(value, getattr(server, name)) for name, value in chosen.items()})


def _grounding(session: Session, requested: str | None) -> Literal["strict", "open"]:
    """Return whether answers may go beyond evidence; without a model they never do."""
    if not is_configured():
        return "strict"
    chosen = requested or session.grounding or session.project.grounding or settings.MRPVM_GROUNDING
    return "strict" if chosen == "strict" else "open"


def stored_message(place: int, role: str, content: str, payload: Mapping[str, Any] | None) -> PlacedMessage:
    """Return a message as a turn's preparation takes it."""
    called = payload or {}
    return PlacedMessage(
        sequence=place, role=role, content=content,
        tool=str(called.get("tool", "")), tool_input=str(called.get("input", "")),
    )  # fmt: skip


def _message_count(session: Session, flags: Flags, summary: Summary) -> int:
    """Return how many of the newest messages a model may see: a window, or all not yet summarised."""
    window = 2 * flags.history_max_turns + 1
    return max(window, session.message_sequence - summary.through) if flags.enable_history_summarization else window


def _may_remember(turn: ExplainabilityTurn, flags: Flags) -> bool:
    """Return whether earlier turns may have left a memory; a session's first turn has none and asks for none."""
    return flags.enable_session_memory and (turn.turn_index > 1 or turn.session.forked_from_id is not None)


def _guidance(session: Session) -> Guidance | None:
    if not is_configured():
        return None
    return Guidance(
        persona=active_persona_of(session),
        style=session.active_style,
        agent=agents_of(session).get(session.active_agent),
        remembered=tuple(remembered_texts(session)) if session.remembered_count else (),
    )
