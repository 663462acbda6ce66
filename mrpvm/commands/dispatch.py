"""Which command a text means, and what it gives.

Resolution looks at the text and the session's snapshot alone: a built-in of exactly this name, else the one skill with
this alias, else nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mrpvm.assistants.skills import SkillEntry
from mrpvm.assistants.skills.document import LLM_ORCHESTRATION
from mrpvm.commands.facts import Ports, SessionFacts
from mrpvm.commands.grammar import SlashCommand, parse
from mrpvm.commands.identity_commands import agent, persona, reload_persona, style
from mrpvm.commands.invocation import dispatch_tool
from mrpvm.commands.memory_commands import forget, memory, remember
from mrpvm.commands.orchestration import Orchestration, unavailable
from mrpvm.commands.result import CommandOutcome, error, invalid_args, ok
from mrpvm.commands.skill_commands import help_, reload_skills, skill_not_found, skills


def _new(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Start another session; this one stays as it is."""
    if args:
        return invalid_args("/new does not accept arguments.", "new")
    session_id = ports.start_session()
    return ok("session_started", f"Started session {session_id}.", {"session_id": session_id})


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtin:
    """A built-in command: how it is written, what it does in a few words, and the function that answers it."""

    usage: str
    summary: str
    answer: Callable[[SessionFacts, tuple[str, ...], Ports], CommandOutcome] | None


SKILL = "skill"
BUILTINS: Mapping[str, Builtin] = {
    "skills": Builtin(usage="/skills", summary="List this session's skills", answer=skills),
    SKILL: Builtin(usage="/skill <name> [payload]", summary="Run one skill", answer=None),
    "help": Builtin(usage="/help <skill>", summary="Tell about one skill", answer=help_),
    "reload_skills": Builtin(usage="/reload_skills", summary="Read the skills again", answer=reload_skills),
    "agent": Builtin(usage="/agent list|use|show", summary="See or switch who acts", answer=agent),
    "persona": Builtin(usage="/persona list|use|show|export|import", summary="See or switch how it talks",
                       answer=persona),
    "reload_persona": Builtin(usage="/reload_persona", summary="Read the personas again", answer=reload_persona),
    "style": Builtin(usage="/style focus|balanced|playful", summary="Set the style", answer=style),
    "new": Builtin(usage="/new", summary="Start another session", answer=_new),
    "remember": Builtin(usage="/remember <text>", summary="Keep a text", answer=remember),
    "forget": Builtin(usage="/forget <id>", summary="Drop what was kept", answer=forget),
    "memory": Builtin(usage="/memory show|short|long|evidence", summary="Show what was kept", answer=memory),
}  # fmt: skip
"""Every built-in by its name; `/skill` is answered by the skill it names."""
RESERVED = frozenset(BUILTINS) | {"jobs"}
"""Names that no skill may take for its alias."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedCommand:
    """What a text means. At most one of `skill` and `refusal` is set, neither for a built-in.

    `route` is builtin, skill, alias, unknown or invalid; `reason` says why in words, for the trace.
    """

    route: str
    reason: str
    name: str = ""
    args: tuple[str, ...] = ()
    skill: SkillEntry | None = None
    payload: str = ""
    refusal: CommandOutcome | None = None

    @property
    def orchestration(self) -> Orchestration | None:
        """Return the model turn that this asks for, None for what is answered without one."""
        if self.skill is None or self.skill.invocation_mode != LLM_ORCHESTRATION:
            return None
        return Orchestration(skill=self.skill, payload=self.payload, reason=self.reason)


def resolve(text: str, facts: SessionFacts) -> ResolvedCommand:
    """Return what a command's text means in this session.

    Raises:
        ValueError: the text is no command.
    """
    command = parse(text)
    if command is None:
        refusal = error("parse_error", "command name is required after '/'.", {"input": text})
        return ResolvedCommand(
            route="invalid", reason="The first character is '/', and no name follows.", refusal=refusal
        )
    if command.name == SKILL:
        return _named_skill(command, facts)
    if command.name in BUILTINS:
        reason = f"The first character is '/'; '{command.name}' is a built-in command."
        return ResolvedCommand(route="builtin", reason=reason, name=command.name, args=command.args)
    return _alias(command, facts)


def _named_skill(command: SlashCommand, facts: SessionFacts) -> ResolvedCommand:
    if not command.args:
        refusal = invalid_args("/skill requires a skill name.", SKILL)
        return ResolvedCommand(route="builtin", reason="/skill names no skill.", name=SKILL, refusal=refusal)
    name, *rest = command.args
    skill = facts.skills.skill(name)
    if skill is None:
        reason = f"/skill names '{name}', which the snapshot has not."
        return ResolvedCommand(
            route="skill", reason=reason, name=SKILL, args=command.args, refusal=skill_not_found(name)
        )
    reason = f"/skill names '{name}'; the snapshot has it from {skill.source}."
    return ResolvedCommand(
        route="skill", reason=reason, name=SKILL, args=command.args, skill=skill, payload=" ".join(rest)
    )


def _alias(command: SlashCommand, facts: SessionFacts) -> ResolvedCommand:
    name = command.name
    skills = facts.skills.with_alias(name)
    if len(skills) == 1:
        reason = f"'{name}' is the alias of the skill '{skills[0].skill_name}' from {skills[0].source}."
        return ResolvedCommand(
            route="alias", reason=reason, name=name, args=command.args, skill=skills[0], payload=command.payload
        )
    if skills:
        refusal = error("alias_ambiguous", f"command alias '/{name}' is ambiguous in snapshot.", {"alias": name})
        shared = ", ".join(item.skill_name for item in skills)
        return ResolvedCommand(route="alias", reason=f"'{name}' is the alias of several skills: {shared}.", name=name,
                        args=command.args, refusal=refusal)  # fmt: skip
    refusal = error("unknown_command", f"unknown command '/{name}'.", {"command": name})
    reason = f"'{name}' is neither a built-in command nor an alias in the snapshot."
    return ResolvedCommand(route="unknown", reason=reason, name=name, args=command.args, refusal=refusal)


def answer(resolved: ResolvedCommand, facts: SessionFacts, ports: Ports) -> CommandOutcome:
    """Return what the command gives without any model; what only a model can do is refused.

    Equal facts, text and files give an equal outcome.
    """
    if resolved.refusal is not None:
        return resolved.refusal
    if resolved.orchestration is not None:
        return CommandOutcome(result=unavailable(resolved.orchestration))
    if resolved.skill is not None:
        return dispatch_tool(facts, resolved.skill, resolved.payload)
    builtin = BUILTINS[resolved.name].answer
    if builtin is None:
        raise ValueError("a skill's command resolves to the skill or to a refusal")
    return builtin(facts, resolved.args, ports)
