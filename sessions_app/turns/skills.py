"""A skill that guides a model for one turn: what the model is told, and the envelope of what came of it [L-90]."""

from dataclasses import replace
from typing import Any

from mrpvm.conversation.commands import CommandResult, Orchestration
from mrpvm.conversation.memory import recalled
from mrpvm.conversation.personas import resolve_style
from mrpvm.conversation.system_prompt import Instruction, Told, client_prompt, instructions
from sessions_app.models import Session
from sessions_app.queries.frozen_content import active_persona_of, agents_of
from sessions_app.queries.remembered import remembered_texts
from sessions_app.turns.call import TurnCall
from sessions_app.turns.language_model import is_configured


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


def skill_use(chosen: Orchestration | None) -> dict[str, str] | None:
    """Give what the turn's trace says about its skill."""
    if chosen is None:
        return None
    skill = chosen.skill
    return {
        "name": skill.skill_name,
        "source": skill.source,
        "mode": skill.invocation_mode,
        "reason": chosen.reason,
    }


def skill_answer(chosen: Orchestration | None, text: str) -> dict[str, Any] | None:
    """Give the envelope of a skill's answer, None for a turn without one."""
    if chosen is None:
        return None
    return _envelope("ok", "llm_ok", text, chosen, None).as_record()


_FAILURES = {
    "LLM_NOT_AVAILABLE": ("llm_backend_unavailable", "Error: LLM backend is unavailable."),
    "LLM_PROVIDER_ERROR": ("llm_backend_unavailable", "Error: LLM backend is unavailable."),
    "LLM_TIMEOUT": ("llm_backend_timeout", "Error: LLM backend timed out."),
    "ENGINE_TIMEOUT": ("llm_backend_timeout", "Error: LLM backend timed out."),
    "ANSWER_DENIED": ("llm_backend_policy_blocked", "Error: response blocked by LLM policy."),
}
_OTHER_FAILURE = ("llm_backend_invalid_response", "Error: LLM backend returned invalid response.")


def skill_failure(chosen: Orchestration | None, code: str) -> dict[str, Any] | None:
    """Give the envelope of a skill whose turn ended with an error of this code, None for a turn without a skill."""
    if chosen is None:
        return None
    own_code, message = _FAILURES.get(code, _OTHER_FAILURE)
    return _envelope("error", own_code, message, chosen, code).as_record()


def unavailable(chosen: Orchestration) -> CommandResult:
    """Give the refusal of a skill that needs a model where none is configured."""
    code, message = _FAILURES["LLM_NOT_AVAILABLE"]
    return _envelope("error", code, message, chosen, "LLM_NOT_AVAILABLE")


def _envelope(status: Any, code: str, message: str, chosen: Orchestration, backend_code: str | None) -> CommandResult:
    data = {"skill": chosen.skill.skill_name, "backend_code": backend_code}
    return CommandResult(status=status, code=code, message=message, data=data)
