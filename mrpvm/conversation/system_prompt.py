"""The system prompt: how the model talks, who acts, the client's wish, one skill."""

from collections.abc import Iterable

from msgspec import Struct

from mrpvm.assistants.agents import Agent
from mrpvm.assistants.personas import Persona
from mrpvm.assistants.personas.style import INSTRUCTIONS, ResolvedStyle
from mrpvm.assistants.skills import SkillEntry


class Instruction(Struct, frozen=True, kw_only=True):
    """One part of the system prompt: what it is, where it comes from, and how many texts were not chosen for it."""

    name: str
    source: str
    text: str
    kept_count: int | None = None
    omitted_count: int = 0


class KeptTexts(Struct, frozen=True, kw_only=True):
    """Texts that the session was told to keep, the most fitting first, and how many others it holds."""

    texts: tuple[str, ...] = ()
    omitted_count: int = 0


def instructions(
    persona: Persona,
    style: ResolvedStyle,
    agent: Agent | None,
    own: Instruction | None,
    texts: KeptTexts,
    skill: SkillEntry | None = None,
) -> tuple[Instruction, ...]:
    """Return the parts in their fixed order, empty ones left out.

    Args:
        own: the system prompt of the client's request or of the session.
        skill: the one skill whose body guides this turn.
    """
    remembered = "\n".join(("Remembered on the user's request:", *(f"- {text}" for text in texts.texts)))
    parts = (
        Instruction(name="persona", source=f"persona {persona.id}", text=persona.instructions),
        Instruction(name="style", source=f"the {style.basis}", text=INSTRUCTIONS[style.style]),
        Instruction(name="agent", source=f"agent {agent.id}", text=agent.instructions) if agent else None,
        Instruction(
            name="remembered", source="this session", text=remembered if texts.texts else "",
            kept_count=len(texts.texts), omitted_count=texts.omitted_count,
        ),
        own,
        _of_skill(skill) if skill else None,
    )  # fmt: skip
    return tuple(part for part in parts if part is not None and part.text.strip())


def client_prompt(requested: str | None, stored: str | None) -> Instruction | None:
    """Return the client's own system prompt: this request's, else the session's."""
    text = requested or stored
    return Instruction(name="system prompt", source="request" if requested else "stored", text=text) if text else None


def system_prompt(parts: Iterable[Instruction]) -> str | None:
    """Return the parts as one text, None for none."""
    return "\n\n".join(part.text.strip() for part in parts) or None


def _of_skill(skill: SkillEntry) -> Instruction:
    text = f"For this turn, follow the skill '{skill.skill_name}':\n{skill.instructions}"
    return Instruction(name="skill", source=f"skill {skill.skill_name}", text=text)
