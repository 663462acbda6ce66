"""A skill that guides a model for one turn: what the model is told, and the envelope of what came of it [L-90]."""

from dataclasses import replace

from mrpvm.conversation.commands import Orchestration
from mrpvm.conversation.memory import recalled
from mrpvm.conversation.personas import resolve_style
from mrpvm.conversation.system_prompt import Instruction, Told, client_prompt, instructions
from sessions_app.language_model import is_configured
from sessions_app.models import Session
from sessions_app.queries.frozen_content import active_persona_of, agents_of
from sessions_app.queries.remembered import remembered_texts
from sessions_app.turns.call import TurnCall


def told_before(
    session: Session, message: str, requested: str | None, chosen: Orchestration | None
) -> tuple[Instruction, ...]:
    """Give what a turn's system prompt is made of, from the session's frozen state [L-11].

    Without a model it is the client's own alone.
    """
    own = client_prompt(requested, session.system_prompt)
    if not is_configured():
        return (own,) if own else ()
    persona = active_persona_of(session)
    known = remembered_texts(session) if session.remembered_count else []
    texts = recalled(known, message)
    return instructions(
        persona,
        resolve_style(session.active_style, persona.default_style, message),
        agents_of(session).get(session.active_agent),
        own,
        Told(texts=texts, omitted_count=len(known) - len(texts)),
        chosen.skill if chosen else None,
    )


GUIDED_SOLVER = "gs-llm-fast"


def guided_call(call: TurnCall, chosen: Orchestration) -> TurnCall:
    """Give the turn that a command for a skill asks for."""
    return replace(guided_by(call, chosen), message=chosen.message, typed=call.message)


def guided_by(call: TurnCall, chosen: Orchestration) -> TurnCall:
    """Give the call with its skill; a solver without a model could not follow it [L-24]."""
    named = call.choices.goal_solver
    return replace(call, skill=chosen, choices=replace(call.choices, goal_solver=named or GUIDED_SOLVER))
