"""A skill that guides a model in one turn: a line of the turn's trace, and the envelope of its result."""

from dataclasses import dataclass
from typing import Any

from mrpvm.assistants.skills import SkillEntry
from mrpvm.commands.result import CommandEnvelope, CommandResult
from mrpvm.values import SkillUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Orchestration:
    """A skill whose body guides the model in one turn, and why it was chosen."""

    skill: SkillEntry
    payload: str
    reason: str

    @property
    def message(self) -> str:
        """Return what the turn is about: the payload, else the skill itself applied to the conversation."""
        return self.payload or f"Apply the skill {self.skill.skill_name} to this conversation."


def skill_use(chosen: Orchestration | None) -> SkillUse | None:
    """Return what the turn's trace says about its skill."""
    if chosen is None:
        return None
    skill = chosen.skill
    return SkillUse(name=skill.skill_name, source=skill.source, mode=skill.invocation_mode, reason=chosen.reason)


def skill_answer(chosen: Orchestration | None, text: str) -> CommandEnvelope | None:
    """Return the envelope of a skill's answer, None for a turn without one."""
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


def skill_failure(chosen: Orchestration | None, code: str) -> CommandEnvelope | None:
    """Return the envelope of a skill whose turn ended with an error of this code, None for a turn without a skill."""
    if chosen is None:
        return None
    own_code, message = _FAILURES.get(code, _OTHER_FAILURE)
    return _envelope("error", own_code, message, chosen, code).as_record()


def unavailable(chosen: Orchestration) -> CommandResult:
    """Return the refusal of a skill that needs a model where none is configured."""
    code, message = _FAILURES["LLM_NOT_AVAILABLE"]
    return _envelope("error", code, message, chosen, "LLM_NOT_AVAILABLE")


def _envelope(status: Any, code: str, message: str, chosen: Orchestration, backend_code: str | None) -> CommandResult:
    data = {"skill": chosen.skill.skill_name, "backend_code": backend_code}
    return CommandResult(status=status, code=code, message=message, data=data)
