"""A session's frozen content on pages: identity, snapshot, findings, and completions after a slash."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mrpvm.assistants.agents import Agent
from mrpvm.assistants.personas import STYLES, Persona, resolve_style
from mrpvm.assistants.personas.style import INSTRUCTIONS, ResolvedStyle
from mrpvm.assistants.skills import SkillSnapshot, difference
from mrpvm.assistants.skills.difference import ChangedSkill
from mrpvm.commands import BUILTINS
from mrpvm.errors import MRPError
from sessions_app.models import Session
from sessions_app.queries.sessions.frozen_content import active_persona_of, agents_of, personas_of, skills_of
from sessions_app.queries.sessions.skill_files import current_skills


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who acts and how it talks; `agent` is None when the active one is not among the session's."""

    agent_id: str
    agent: Agent | None
    persona: Persona
    style: ResolvedStyle


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCompletion:
    """Something that can be typed: how it is written, what is put into the field, what it does.

    One with `after` is an argument: it is offered once that much of the command is there.
    """

    usage: str
    insert: str
    summary: str
    after: str = ""


def frozen_context(session: Session) -> dict[str, Any]:
    """Return who acts, how it talks, and how many skills there are."""
    persona = active_persona_of(session)
    identity = Identity(
        agent_id=session.active_agent,
        agent=agents_of(session).get(session.active_agent),
        persona=persona,
        style=resolve_style(session.active_style, persona.default_style),
    )
    return {"identity": identity, "skill_count": len(skills_of(session).skills)}


def completion_context(session: Session) -> dict[str, Any]:
    """Return the built-in commands, the skills of this session's snapshot, and what commands take of what it holds."""
    builtins = [
        CommandCompletion(usage=item.usage, insert=f"/{name} ", summary=item.summary) for name, item in BUILTINS.items()
    ]
    skills = skills_of(session)
    return {"session": session, "completions": [*builtins, *_skill_completions(skills), *_arguments(session, skills)]}


def _arguments(session: Session, skills: SkillSnapshot) -> Iterator[CommandCompletion]:
    taken = (
        ("/skill ", " ", ((item.skill_name, item.summary) for item in skills.skills if item.command)),
        ("/help ", "", ((item.skill_name, item.summary) for item in skills.skills)),
        ("/agent use ", "", ((item.id, item.summary) for item in agents_of(session).agents)),
        ("/persona use ", "", ((item.id, item.summary) for item in personas_of(session).personas)),
        ("/style ", "", ((name, INSTRUCTIONS[name].partition(". ")[2]) for name in STYLES)),
    )
    for after, end, items in taken:
        for name, summary in items:
            yield CommandCompletion(usage=f"{after}{name}", insert=f"{after}{name}{end}", summary=summary, after=after)


def _skill_completions(snapshot: SkillSnapshot) -> Sequence[CommandCompletion]:
    return [
        CommandCompletion(
            usage=f"/{item.command}" if item.command else f"/skill {item.skill_name}",
            insert=f"/{item.command} " if item.command else f"/skill {item.skill_name} ",
            summary=item.summary,
        )
        for item in snapshot.skills
    ]


def skills_context(session: Session) -> dict[str, Any]:
    """Return the snapshot with everything that was found, and what a reload would change now."""
    snapshot = skills_of(session)
    personas, agents = personas_of(session), agents_of(session)
    return {
        "session": session,
        "snapshot": snapshot,
        "findings": _findings(snapshot),
        "personas": personas,
        "agents": agents,
        "file_findings": [*personas.diagnostics, *agents.diagnostics],
        **_change(session, snapshot),
    }


def _changed_fields(item: ChangedSkill) -> list[tuple[str, str, str]]:
    """Return name, text before and text after of every field that differs."""
    return [(name, _text(getattr(item.before, name)), _text(getattr(item.after, name))) for name in item.fields]


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value)


def _findings(snapshot: SkillSnapshot) -> list[tuple[str, str, list[Any]]]:
    shadowed = [item for item in snapshot.diagnostics if item.code == "precedence_conflict"]
    remarks = [item for item in snapshot.diagnostics if not item.excludes and item not in shadowed]
    return [
        ("Excluded", "These folders give no skill, and no other folder of the same name stands in.",
         list(snapshot.excluded)),
        ("Shadowed", "The nearest folder wins: workspace over user over bundled.", shadowed),
        ("Remarks", "These skills are used all the same.", remarks),
    ]  # fmt: skip


def _change(session: Session, snapshot: SkillSnapshot) -> dict[str, Any]:
    try:
        change = difference(snapshot, current_skills(session.project))
    except MRPError as error:
        return {"change": None, "changed": [], "problem": error.message}
    return {"change": change, "changed": [(item, _changed_fields(item)) for item in change.changed], "problem": ""}
