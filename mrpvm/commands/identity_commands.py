"""`/agent`, `/persona`, `/reload_persona` and `/style`: who acts, how it talks; each leaves the others alone."""

import math

import yaml

from mrpvm.assistants.identifiers import clean_id
from mrpvm.assistants.personas import STYLES, resolve_style
from mrpvm.commands.facts import Ports, SessionFacts
from mrpvm.commands.result import CommandOutcome, error, invalid_args, ok

_STYLE_CHOICES = "|".join(STYLES)


def agent(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """List, switch or show agents; any other single word is the agent to switch to."""
    match args:
        case ():
            return invalid_args("/agent requires one subcommand: list|use|show.", "agent")
        case ("list",):
            return _agent_list(facts)
        case ("show",):
            return _agent_show(facts)
        case ("list" | "show" as subcommand, *_):
            return invalid_args(f"/agent {subcommand} does not accept arguments.", "agent", subcommand)
        case ("use", name):
            return _agent_use(facts, name)
        case ("use", *_):
            return invalid_args("/agent use requires exactly one agent name.", "agent", "use")
        case (name,):
            return _agent_use(facts, name)
    return invalid_args(f"unsupported /agent subcommand '{args[0]}'.", "agent", args[0])


def _agent_list(facts: SessionFacts) -> CommandOutcome:
    listed = [(item.id, item.summary) for item in facts.agents.agents]
    data = {"count": len(listed), "active_agent": facts.active_agent}
    return ok("agent_listed", _listed(listed, facts.active_agent) or "No agents available.", data)


def _agent_show(facts: SessionFacts) -> CommandOutcome:
    agent = facts.agents.get(facts.active_agent)
    if agent is None:
        return error(
            "agent_not_found", f"active agent '{facts.active_agent}' is missing.", {"agent": facts.active_agent}
        )
    return ok("agent_shown", f"Agent: {agent.id}\nSummary: {agent.summary or '(none)'}", {"agent": agent.id})


def _agent_use(facts: SessionFacts, name: str) -> CommandOutcome:
    agent_id = clean_id(name)
    if facts.agents.get(agent_id) is None:
        return error("agent_not_found", f"agent '{agent_id}' was not found.", {"agent": agent_id})
    return ok("agent_set", f"Active agent set to '{agent_id}'.", {"agent": agent_id}, active_agent=agent_id)


def _listed(items: list[tuple[str, str]], active: str) -> str:
    marked = (f"{'*' if item_id == active else ' '} {item_id}{f' - {summary}' if summary else ''}"
              for item_id, summary in items)  # fmt: skip
    return "\n".join(marked)


def persona(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """List, switch, show or export personas."""
    match args:
        case ():
            return invalid_args("/persona requires one subcommand: list|use|show|export|import.", "persona")
        case ("list",):
            return _persona_list(facts)
        case ("show",):
            return _persona_show(facts)
        case ("list" | "show" as subcommand, *_):
            return invalid_args(f"/persona {subcommand} does not accept arguments.", "persona", subcommand)
        case ("use", name):
            return _persona_use(facts, name)
        case ("use", *_):
            return invalid_args("/persona use requires exactly one persona name.", "persona", "use")
        case ("export", *rest):
            return _persona_export(facts, tuple(rest))
        case ("import", _):
            reason = "this server reads persona files from its own folders alone; put it there and /reload_persona."
            return error("persona_import_failed", f"persona import failed: {reason}", {"path": args[1]})
        case ("import", *_):
            return invalid_args("/persona import requires exactly one path.", "persona", "import")
    return invalid_args(f"unsupported /persona subcommand '{args[0]}'.", "persona", args[0])


def _persona_list(facts: SessionFacts) -> CommandOutcome:
    listed = [(item.id, item.summary) for item in facts.personas.personas]
    if not listed:
        return error("persona_not_found", "no persona profiles are available.")
    data = {"count": len(listed), "active_persona": facts.active_persona}
    return ok("persona_listed", _listed(listed, facts.active_persona), data)


def _persona_show(facts: SessionFacts) -> CommandOutcome:
    persona = facts.personas.get(facts.active_persona)
    if persona is None:
        return error(
            "persona_not_found",
            f"active persona '{facts.active_persona}' is missing from persona catalog.",
            {"persona": facts.active_persona},
        )
    effective = resolve_style(facts.active_style, persona.default_style).style
    lines = (
        f"Persona: {persona.id}",
        f"Summary: {persona.summary or '(none)'}",
        f"Default style: {persona.default_style}",
        f"Effective style: {effective}",
        "Instructions:",
        persona.instructions,
    )
    data = {"persona": persona.id, "default_style": persona.default_style, "effective_style": effective}
    return ok("persona_shown", "\n".join(lines), data)


def _persona_use(facts: SessionFacts, name: str) -> CommandOutcome:
    persona_id = clean_id(name)
    persona = facts.personas.get(persona_id)
    if persona is None:
        return _persona_not_found(persona_id)
    message = f"Active persona set to '{persona_id}' (default style: {persona.default_style})."
    data = {"persona": persona_id, "default_style": persona.default_style}
    return ok("persona_set", message, data, active_persona=persona_id, active_style=None)


def _persona_not_found(persona_id: str) -> CommandOutcome:
    return error("persona_not_found", f"persona '{persona_id}' was not found.", {"persona": persona_id})


def _persona_export(facts: SessionFacts, args: tuple[str, ...]) -> CommandOutcome:
    """Return a persona as the text of its file; a client's path is never written to."""
    if not args or len(args) > 2:
        return invalid_args("/persona export requires a persona name and at most one path.", "persona", "export")
    persona_id = clean_id(args[0])
    persona = facts.personas.get(persona_id)
    if persona is None:
        return _persona_not_found(persona_id)
    if len(args) == 2:
        reason = "this server writes no file of a client's choosing; leave the path out."
        return error("persona_export_failed", f"persona export failed: {reason}", {"persona": persona_id})
    summary = yaml.safe_dump(persona.summary, default_style="'", allow_unicode=True, width=math.inf).strip()
    head = f"---\nid: {persona.id}\nsummary: {summary}\ndefault_style: {persona.default_style}\n---\n"
    return ok("persona_exported", f"{head}{persona.instructions}", {"persona": persona_id})


def reload_persona(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Replace the session's personas by what the files say now; if the active one is gone, the first becomes active."""
    if args:
        return invalid_args("/reload_persona does not accept arguments.", "reload_persona")
    loaded = ports.load_personas()
    if not loaded.personas:
        return error("persona_reload_failed", "no persona profiles are available after reload.")
    switched = loaded.get(facts.active_persona) is None
    active = loaded.personas[0].id if switched else facts.active_persona
    count = len(loaded.personas)
    message = f"Reloaded personas. active={active} count={count} switched={str(switched).lower()}"
    changes = {"personas": loaded} | ({"active_persona": active, "active_style": None} if switched else {})
    return ok("persona_reloaded", message, {"active_persona": active, "count": count, "switched": switched}, **changes)


def style(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Set the session's style, which wins over the message's and the persona's."""
    if len(args) != 1:
        return invalid_args(f"/style requires exactly one value: {_STYLE_CHOICES}.", "style")
    value = clean_id(args[0])
    if value not in STYLES:
        return error("style_invalid", f"invalid style '{value}'. Use {_STYLE_CHOICES}.", {"style": value})
    return ok("style_set", f"Session style set to '{value}'.", {"style": value}, active_style=value)
