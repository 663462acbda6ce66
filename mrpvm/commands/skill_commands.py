"""`/skills`, `/help` and `/reload_skills`; the first two read the snapshot and nothing else."""

from collections.abc import Iterable

from mrpvm.assistants.skills import SkillEntry
from mrpvm.commands.facts import Ports, SessionFacts
from mrpvm.commands.result import CommandOutcome, error, invalid_args, ok
from mrpvm.errors import MRPError


def skills(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """List the skills of the snapshot, then what was found while it was made."""
    if args:
        return invalid_args("/skills does not accept arguments.", "skills")
    listed, diagnostics = facts.skills.skills, facts.skills.diagnostics
    lines = [f"{item.skill_name} - {item.summary}" if item.summary else item.skill_name for item in listed]
    lines = lines or ["No skills available in snapshot."]
    if diagnostics:
        lines += ["", "Diagnostics:", *(f"- {item.skill_name} [{item.code}] {item.message}" for item in diagnostics)]
    data = {"count": len(listed), "diagnostics_count": len(diagnostics)}
    return ok("skills_listed" if listed else "skills_empty", "\n".join(lines), data)


def help_(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Return the help of one skill of the snapshot."""
    if len(args) != 1:
        return invalid_args("/help requires exactly one skill name.", "help")
    skill = facts.skills.skill(args[0])
    if skill is None:
        return skill_not_found(args[0])
    return ok("skill_help", "\n".join(_described(skill)), {"skill": skill.skill_name})


def skill_not_found(name: str) -> CommandOutcome:
    """Return the refusal of a name that the snapshot has not; it suggests none."""
    return error("skill_not_found", f"skill '{name}' not found in snapshot.", {"skill": name})


def _described(item: SkillEntry) -> Iterable[str]:
    yield f"# /help {item.skill_name}"
    fields = (
        ("name", item.skill_name),
        ("summary", item.summary),
        ("source", item.source),
        ("invocation_mode", item.invocation_mode),
        ("command_alias", item.command),
        ("command_tool_provider", item.command_tool_provider),
        ("command_tool", item.command_tool),
        ("requires_tools", ", ".join(item.requires_tools)),
    )
    for name, value in fields:
        yield f"- `{name}`: {value or '(none)'}"
    yield "- `plugin`: (none)"
    yield "- `eligibility`:"
    for name, values in (("os", item.allowed_os), ("env", item.required_env), ("binaries", item.required_binaries)):
        yield f"  - `{name}`: {', '.join(values) or '(none)'}"


def reload_skills(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Replace the session's snapshot by what the files say now; its number goes up even if nothing changed."""
    if args:
        return invalid_args("/reload_skills does not accept arguments.", "reload_skills")
    try:
        loaded = ports.load_skills()
    except MRPError:
        return error("reload_unavailable", "/reload_skills is unavailable for this session.")
    version, count = facts.snapshot_version + 1, len(loaded.skills)
    message = f"Reloaded skills for current session. version={version} count={count}"
    return ok("skills_reloaded", message, {"version": version, "count": count}, skills=loaded, snapshot_version=version)
