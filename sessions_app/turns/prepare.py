"""Prepare: read the session of a turn that holds its slot, and freeze what the turn may look at."""

from collections.abc import Iterator
from copy import replace
from functools import partial

from django.conf import settings
from msgspec import Struct

from mrpvm import registry
from mrpvm.assistants.skills.choice import choose_skill, offered_skills
from mrpvm.commands import Orchestration
from mrpvm.conversation.context import ContextReport
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.guarded_model import GuardedModels
from mrpvm.conversation.preparation import ConversationState, prepare_turn
from mrpvm.conversation.session_memory import Memory
from mrpvm.conversation.summary import Summary
from mrpvm.knowledge.port import TurnKnowledge
from mrpvm.llm.port import ModelSource
from mrpvm.llm.provider_thread import ProviderThread
from mrpvm.llm.redaction import note_secrets
from mrpvm.values import TurnRequest
from sessions_app.actions.knowledge.artifacts import keep_artifacts
from sessions_app.language_model import model_source
from sessions_app.layers import SessionKnowledge
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.provider_threads import provider_thread_of
from sessions_app.queries.sessions.flags import flags_of
from sessions_app.queries.sessions.frozen_content import skills_of
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import end_on_defect
from sessions_app.turns.preparation_model import TurnPreparationModel
from sessions_app.turns.state import GUIDED_SOLVER, read_state
from sessions_app.turns.view import note_view

SKILL_CHOICE_TIMEOUT_MS = 10_000


class Prepared(Struct, frozen=True, kw_only=True):
    """A turn that holds its session's slot, with everything that running and committing it needs.

    `call` is what was asked, with the skill that a model chose for it. `memory` is what earlier turns left.
    """

    turn: ExplainabilityTurn
    call: TurnCall
    flags: Flags
    request: TurnRequest
    report: ContextReport
    new_summary: Summary | None
    knowledge: TurnKnowledge
    models: ModelSource
    memory: Memory | None
    provider_thread: ProviderThread | None = None


def prepare(turn: ExplainabilityTurn, call: TurnCall) -> Prepared:
    """Return the turn with everything it may look at.

    Raises:
        TurnError: what it may look at could not be read; the turn is closed.
    """
    model = TurnPreparationModel(turn)
    # A request that brings a history of its own does not follow what this session said before.
    provider_thread = provider_thread_of(turn.session) if call.history is None else None
    try:
        flags = flags_of(turn.session, call.flags)
        call = _with_chosen_skill(turn.session, call, flags, model)
        knowledge = SessionKnowledge.of(turn.session, keep_artifacts)
        state = read_state(turn, call, flags, index_is_outdated=knowledge.view.is_outdated)
        note_secrets(_said(state))
        prepared = prepare_turn(state, model)
        note_view(turn, state, knowledge.view, prepared, call.sampling)
        models = model_source(turn.session.model_config, call.sampling, provider_thread)
        return Prepared(
            turn=turn,
            call=call,
            flags=flags,
            request=prepared.request,
            report=prepared.report,
            new_summary=prepared.new_summary,
            knowledge=knowledge,
            models=GuardedModels(models) if settings.MRPVM_GUARDRAILS else models,
            memory=state.memory,
            provider_thread=provider_thread,
        )
    except Exception as defect:
        end_on_defect(turn, call, defect, "context-pack")


def _with_chosen_skill(session: Session, call: TurnCall, flags: Flags, model: TurnPreparationModel) -> TurnCall:
    """Return the call with the skill that a model chose for it.

    No model is asked where the choice is switched off, a command named the skill, no skill could guide the solver, or
    the snapshot offers none: the turn is then the one without the feature.
    """
    if call.skill is not None or not model.available or not flags.enable_skill_selection:
        return call
    solver = call.choices.goal_solver or GUIDED_SOLVER
    guides = any(item.id == solver and item.uses_llm for item in registry.installed.descriptors("gs-plugin"))
    offered = offered_skills(skills_of(session)) if guides else []
    if not offered:
        return call
    ask = partial(model.ask, "skill-choice", "planner", timeout_ms=SKILL_CHOICE_TIMEOUT_MS)
    choice = choose_skill(offered, call.message, ask)
    if choice.skill is None:
        return replace(call, skill_choice=choice)
    reason = f"The model chose it from {len(choice.offered)} skills: {choice.reason or 'it gave no reason'}"
    chosen = Orchestration(skill=choice.skill, payload=call.message, reason=reason)
    return replace(call, skill=chosen, skill_choice=choice)


def _said(state: ConversationState) -> Iterator[str]:
    """Yield earlier messages and prompts; what is stored of this turn may repeat words of them."""
    turn_input = state.asked
    yield from (item.content for item in state.messages)
    yield from (item.content for item in (*(turn_input.history or ()), *turn_input.added))
    yield from filter(None, (state.system_prompt, turn_input.system_prompt))
