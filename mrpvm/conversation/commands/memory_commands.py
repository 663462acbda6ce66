"""`/remember`, `/forget` and `/memory` [L-130 to L-139]."""

import re

from mrpvm.conversation.commands.facts import Ports, SessionFacts
from mrpvm.conversation.commands.result import Outcome, error, invalid_args, ok

SHOWN_COUNT = 10
"""How many records `/memory show` lists, the newest; the message says when there are more [L-131]."""
_SECRET = re.compile(r"\b(?:api[ _-]?keys?|tokens?|passwords?|secrets?|ssn)\b", re.IGNORECASE)


def remember(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> Outcome:
    """Keep a text; one that speaks of credentials is refused [L-117]."""
    content = " ".join(args)
    if not content:
        return invalid_args("/remember requires memory content.", "remember")
    if _SECRET.search(content):
        return error("memory_policy_denied", "memory content that names credentials is not kept.")
    record = ports.memory.remember(content)
    return ok("memory_saved", f"Remembered ({record.id}): {record.content}", {"id": record.id})


def forget(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> Outcome:
    """Drop one record."""
    if len(args) != 1:
        return invalid_args("/forget requires exactly one memory id.", "forget")
    if not ports.memory.forget(args[0]):
        return error("memory_not_found", f"memory record '{args[0]}' was not found.", {"id": args[0]})
    return ok("memory_deleted", f"Forgot memory record '{args[0]}'.", {"id": args[0]})


def memory(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> Outcome:
    """Show what was remembered; longer-lived stores do not exist here and say so."""
    match args:
        case ():
            return invalid_args("/memory requires a subcommand.", "memory")
        case ("show", *query) | ("long", "show", *query):
            return _shown(" ".join(query), ports)
        case ("short", "show" | "checkpoints"):
            message = f"Short-term memory is checkpoint-managed for thread '{facts.session_id}'."
            return ok("memory_short_shown", message, {"session_id": facts.session_id})
        case ("long", "tool", *_):
            return error("memory_tooling_disabled", "memory tooling is disabled.")
        case ("evidence", *_):
            return error("memory_unavailable", "evidence memory is unavailable; load sources into the session instead.")
    return invalid_args(f"unsupported /memory subcommand '{args[0]}'.", "memory", args[0])


def _shown(query: str, ports: Ports) -> Outcome:
    found = ports.memory.records("" if query == "*" else query, SHOWN_COUNT + 1)
    if not found:
        return ok("memory_empty", "No memory records found.", {"count": 0})
    lines = [f"- {record.id}: {record.content}" for record in found[:SHOWN_COUNT]]
    if len(found) > SHOWN_COUNT:
        lines.append(f"Older records are left out; {SHOWN_COUNT} are shown.")
    return ok("memory_listed", "\n".join(lines), {"count": min(len(found), SHOWN_COUNT)})
