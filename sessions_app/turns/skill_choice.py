"""A model's choice of the turn's skill, made while the turn is prepared, where that is switched on."""

import logging
from dataclasses import replace

from mrpvm import registry
from mrpvm.assistants.skills.choice import (
    INSTRUCTIONS,
    SkillChoice,
    not_chosen,
    offered_skills,
    read_choice,
    request_for_choice,
)
from mrpvm.assistants.skills.snapshot import SkillEntry
from mrpvm.commands import Orchestration
from mrpvm.conversation.asking import PreparationModel
from mrpvm.conversation.flags import Flags
from sessions_app.models import Session
from sessions_app.queries.sessions.frozen_content import skills_of
from sessions_app.turns.call import GUIDED_SOLVER, TurnCall

logger = logging.getLogger(__name__)

PLUGIN_ID, ROLE = "skill-choice", "planner"
TIMEOUT_MS = 10_000


def with_chosen_skill(session: Session, call: TurnCall, flags: Flags, model: PreparationModel) -> TurnCall:
    """Return the call with the skill that a model chose for it.

    No model is asked where the choice is switched off, a command named the skill, no skill could guide the solver, or
    the snapshot offers none: the turn is then the one without the feature. A model that fails chooses none, and the
    choice says so.
    """
    if call.skill is not None or not model.available or not flags.enable_skill_selection or not _guides(call):
        return call
    offered = offered_skills(skills_of(session))
    if not offered:
        return call
    choice = _choose(session, call, offered, model)
    call = replace(call, skill_choice=choice)
    if choice.skill is None:
        return call
    reason = f"The model chose it from {len(choice.offered)} skills: {choice.reason or 'it gave no reason'}"
    return call.guided_by(Orchestration(skill=choice.skill, payload=call.message, reason=reason))


def _guides(call: TurnCall) -> bool:
    """Return whether the turn's solver asks a model, which alone can follow a skill."""
    solver = call.choices.goal_solver or GUIDED_SOLVER
    return any(item.id == solver and item.uses_llm for item in registry.installed.descriptors("gs-plugin"))


def _choose(session: Session, call: TurnCall, offered: list[SkillEntry], model: PreparationModel) -> SkillChoice:
    text = request_for_choice(offered, call.message)
    try:
        reply = model.ask(PLUGIN_ID, ROLE, INSTRUCTIONS, text, timeout_ms=TIMEOUT_MS)
    except Exception as error:
        logger.warning("no skill was chosen in session %s", session.session_id, exc_info=True)
        return not_chosen(offered, f"The model could not be asked ({type(error).__name__}).")
    return read_choice(offered, reply)
