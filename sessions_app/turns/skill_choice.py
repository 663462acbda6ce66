"""A model's choice of the turn's skill, made while the turn is prepared, where that is switched on [L-114]."""

import logging
from dataclasses import replace
from typing import Any

from mrpvm import registry
from mrpvm.conversation.commands import Orchestration
from mrpvm.conversation.skills.choice import (
    INSTRUCTIONS,
    SkillChoice,
    not_chosen,
    offered_skills,
    read_choice,
    request_for_choice,
)
from mrpvm.conversation.skills.snapshot import SkillEntry
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.flags import flags_of
from sessions_app.queries.frozen_content import skills_of
from sessions_app.turns.call import TurnCall
from sessions_app.turns.preparation_model import PreparationModel, Record
from sessions_app.turns.skills import GUIDED_SOLVER, guided_by

logger = logging.getLogger(__name__)

PLUGIN_ID, ROLE = "skill-choice", "planner"
TIMEOUT_MS = 10_000


def consider_skills(
    turn: ExplainabilityTurn, call: TurnCall, model: PreparationModel
) -> tuple[TurnCall, list[dict[str, Any]]]:
    """Give the call with the skill that a model chose for it, and what was sent for that, redacted.

    Nobody is asked where the choice is switched off, a command named the skill, no skill could guide the
    solver, or the snapshot offers none: the turn is then the one without the feature. A model that fails chooses none,
    and the choice says so.
    """
    offered: list[SkillEntry] = []
    if call.skill is None and model.available and _is_asked(turn, call):
        offered = offered_skills(skills_of(turn.session))
    if not offered:
        return call, []
    sent: list[dict[str, Any]] = []
    choice = _choice(turn, call, offered, model, sent.extend)
    call = replace(call, skill_choice=choice)
    if choice.skill is not None:
        reason = f"The model chose it from {len(choice.offered)} skills: {choice.reason or 'it gave no reason'}"
        call = guided_by(call, Orchestration(skill=choice.skill, payload=call.message, reason=reason))
    return call, sent


def _is_asked(turn: ExplainabilityTurn, call: TurnCall) -> bool:
    if not flags_of(turn.session, call.flags).enable_skill_selection:
        return False
    solver = call.choices.goal_solver or GUIDED_SOLVER
    return any(item.id == solver and item.uses_llm for item in registry.installed.descriptors("gs-plugin"))


def _choice(
    turn: ExplainabilityTurn, call: TurnCall, offered: list[SkillEntry], model: PreparationModel, record: Record
) -> SkillChoice:
    asked = request_for_choice(offered, call.message)
    try:
        reply = model.ask(PLUGIN_ID, ROLE, INSTRUCTIONS, asked, timeout_ms=TIMEOUT_MS, record=record)
    except Exception as error:
        logger.warning("no skill was chosen in session %s", turn.session.session_id, exc_info=True)
        return not_chosen(offered, f"The model could not be asked ({type(error).__name__}).")
    return read_choice(offered, reply)
