"""What a model is told before the conversation: how it talks, who acts, the client's wish, one skill [L-11, L-113]."""

from mrpvm.conversation.agents import Agent
from mrpvm.conversation.personas import Persona
from mrpvm.conversation.personas.style import INSTRUCTIONS
from mrpvm.conversation.skills import SkillEntry


def system_prompt(
    persona: Persona,
    style: str,
    agent: Agent | None,
    own: str | None,
    remembered: tuple[str, ...] = (),
    skill: SkillEntry | None = None,
) -> str:
    """Give the sections in their fixed order, empty ones left out.

    Args:
        own: the system prompt of the client's request or of the session.
        remembered: texts that the session was told to keep, the most fitting first.
        skill: the one skill whose body guides this turn [L-60].
    """
    sections = (
        persona.instructions,
        INSTRUCTIONS[style],
        agent.instructions if agent else "",
        "\n".join(("Remembered on the user's request:", *(f"- {text}" for text in remembered))) if remembered else "",
        own or "",
        f"For this turn, follow the skill '{skill.skill_name}':\n{skill.instructions}" if skill else "",
    )
    return "\n\n".join(section.strip() for section in sections if section.strip())
