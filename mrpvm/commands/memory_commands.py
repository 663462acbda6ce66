"""`/remember`, `/forget` and `/memory`."""

import re
from copy import replace
from dataclasses import dataclass

from mrpvm.commands.evidence_commands import evidence
from mrpvm.commands.facts import MemoryQuery, MemoryRecord, Ports, SessionFacts
from mrpvm.commands.remembered import (
    CONSOLIDATED_MESSAGES,
    DOMAINS,
    TASK,
    USER_PROFILE,
    names_secret,
    user_facts_in,
)
from mrpvm.commands.result import CommandOutcome, error, invalid_args, ok
from mrpvm.preview import counted

SHOWN_COUNT = 10
"""How many records are listed, the newest; the message says when there are more."""
PERSONALITY = tuple(sorted(domain for domain in DOMAINS if domain != TASK))
_SWITCHES = ("--include-archived", "--include-expired", "--include-conflicted", "--dry-run")
_VALUED = ("--domain", "--namespace", "--hours")
_HOURS = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?")
_MOST_HOURS = 87_600


class _BadFlags(Exception):
    """The flags do not fit; carries the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    """What a subcommand was given; flags may stand anywhere among its words."""

    words: tuple[str, ...]
    switches: frozenset[str]
    domain: str | None
    namespace: str | None
    hours: str | None


def remember(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Keep a text; one that speaks of credentials is refused."""
    content = " ".join(args)
    if not content:
        return invalid_args("/remember requires memory content.", "remember")
    if names_secret(content):
        return error("memory_policy_denied", "memory content that names credentials is not kept.")
    record = ports.memory.remember(content)
    return ok("memory_saved", f"Remembered ({record.id}): {record.content}", {"id": record.id})


def forget(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    if len(args) != 1:
        return invalid_args("/forget requires exactly one memory id.", "forget")
    if not ports.memory.forget(args[0]):
        return _not_found(args[0])
    return ok("memory_deleted", f"Forgot memory record '{args[0]}'.", {"id": args[0]})


def memory(facts: SessionFacts, args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    """Show, verify, put away and consolidate what is remembered; what does not exist here says so."""
    match args:
        case ():
            return invalid_args("/memory requires a subcommand.", "memory")
        case ("show", *query):
            return _shown(MemoryQuery(text=_wanted(query), domains=(USER_PROFILE,)), ports)
        case ("short", "show" | "checkpoints"):
            message = f"Short-term memory is checkpoint-managed for thread '{facts.session_id}'."
            return ok("memory_short_shown", message, {"session_id": facts.session_id})
        case ("long", *rest):
            return _long(tuple(rest), ports)
        case ("evidence", *rest):
            return evidence(tuple(rest), ports)
    return invalid_args(f"unsupported /memory subcommand '{args[0]}'.", "memory", args[0])


def _long(args: tuple[str, ...], ports: Ports) -> CommandOutcome:
    try:
        match args:
            case ("show", *rest):
                return _long_show(_arguments(rest), ports)
            case ("task", "show", *rest):
                return _task_show(_arguments(rest), ports)
            case ("verify", *rest):
                return _verify(_arguments(rest), ports)
            case ("archive", *rest):
                return _archive(_arguments(rest), ports)
            case ("expire", *rest):
                return _expire(_arguments(rest), ports)
            case ("consolidate", *rest):
                return _consolidate(_arguments(rest), ports)
            case ("tool", *_):
                return error("memory_tooling_disabled", "memory tooling is disabled.")
    except _BadFlags as problem:
        return invalid_args(str(problem), "memory", "long")
    return invalid_args(f"unsupported /memory subcommand '{' '.join(('long', *args[:1]))}'.", "memory", "long")


def _long_show(arguments: _Arguments, ports: Ports) -> CommandOutcome:
    domains = (arguments.domain,) if arguments.domain else PERSONALITY
    return _shown(_with_hidden(MemoryQuery(text=_wanted(arguments.words), domains=domains), arguments), ports)


def _task_show(arguments: _Arguments, ports: Ports) -> CommandOutcome:
    if arguments.namespace is None:
        raise _BadFlags("--namespace is required.")
    query = MemoryQuery(text=_wanted(arguments.words), domains=(TASK,), namespace=arguments.namespace)
    return _shown(_with_hidden(query, arguments), ports)


def _verify(arguments: _Arguments, ports: Ports) -> CommandOutcome:
    record_id = _one_id(arguments, "verify")
    if not ports.memory.verify(record_id, arguments.domain):
        return _not_found(record_id)
    return ok("memory_verified", f"Verified memory record '{record_id}'.", {"id": record_id})


def _archive(arguments: _Arguments, ports: Ports) -> CommandOutcome:
    record_id = _one_id(arguments, "archive")
    if not ports.memory.archive(record_id, arguments.domain):
        return _not_found(record_id)
    return ok("memory_archived", f"Archived memory record '{record_id}'.", {"id": record_id})


def _expire(arguments: _Arguments, ports: Ports) -> CommandOutcome:
    record_id = _one_id(arguments, "expire")
    if arguments.hours is None:
        raise _BadFlags("--hours is required.")
    if not _HOURS.fullmatch(arguments.hours) or not 0 < float(arguments.hours) <= _MOST_HOURS:
        raise _BadFlags(f"--hours must be a number above 0 and at most {_MOST_HOURS}.")
    if not ports.memory.expire(record_id, arguments.domain, float(arguments.hours)):
        return _not_found(record_id)
    message = f"Memory record '{record_id}' expires in {arguments.hours} hours."
    return ok("memory_expiry_set", message, {"id": record_id, "hours": float(arguments.hours)})


def _one_id(arguments: _Arguments, subcommand: str) -> str:
    if len(arguments.words) != 1:
        raise _BadFlags(f"/memory long {subcommand} requires exactly one memory id.")
    return arguments.words[0]


def _consolidate(arguments: _Arguments, ports: Ports) -> CommandOutcome:
    """Store the facts in the user's newest messages; only this command does."""
    if arguments.words:
        raise _BadFlags("/memory long consolidate does not accept arguments.")
    facts = user_facts_in(ports.said_by_user(CONSOLIDATED_MESSAGES))
    if "--dry-run" in arguments.switches:
        lines = [f"- {fact.content} [{fact.namespace or fact.domain}]" for fact in facts]
        data = {"found": len(facts), "saved": 0, "conflicted": 0, "dry_run": True}
        return ok(
            "memory_consolidation_shown", "\n".join((f"Would keep {counted(len(facts), 'record')}.", *lines)), data
        )
    kept = [ports.memory.keep(fact) for fact in facts]
    new = [record for record, is_new, _ in kept if is_new]
    conflicted_count = sum(count for _, _, count in kept)
    message = (
        f"Kept {counted(len(new), 'record')}; {len(kept) - len(new)} known, {conflicted_count} marked as conflicted."
    )
    data = {"found": len(facts), "saved": len(new), "conflicted": conflicted_count, "dry_run": False}
    return ok("memory_consolidated", "\n".join((message, *map(_line, new))), data)


def _shown(query: MemoryQuery, ports: Ports) -> CommandOutcome:
    records = ports.memory.records(query, SHOWN_COUNT + 1)
    if not records:
        return ok("memory_empty", "No memory records found.", {"count": 0})
    lines = [_line(record) for record in records[:SHOWN_COUNT]]
    if len(records) > SHOWN_COUNT:
        lines.append(f"Older records are left out; {SHOWN_COUNT} are shown.")
    return ok("memory_listed", "\n".join(lines), {"count": min(len(records), SHOWN_COUNT)})


def _line(record: MemoryRecord) -> str:
    standing = [record.status] if record.status != "active" else []
    standing += ["expired"] if record.is_expired else []
    return f"- {record.id}: {record.content}{f' [{", ".join(standing)}]' if standing else ''}"


def _wanted(words: tuple[str, ...] | list[str]) -> str:
    text = " ".join(words)
    return "" if text == "*" else text


def _with_hidden(query: MemoryQuery, arguments: _Arguments) -> MemoryQuery:
    """Return the query for those hidden records too that are wanted anyway."""
    return replace(
        query,
        with_conflicted="--include-conflicted" in arguments.switches,
        with_archived="--include-archived" in arguments.switches,
        with_expired="--include-expired" in arguments.switches,
    )


def _not_found(record_id: str) -> CommandOutcome:
    return error("memory_not_found", f"memory record '{record_id}' was not found.", {"id": record_id})


def _arguments(args: list[str]) -> _Arguments:
    """Return words and flags.

    Raises:
        _BadFlags: an unknown flag, one without its value, or no domain of the personality store.
    """
    words, switches, values = list[str](), set[str](), dict[str, str]()
    remaining = iter(args)
    for word in remaining:
        if word in _SWITCHES:
            switches.add(word)
        elif word in _VALUED:
            value = next(remaining, "--")
            if value.startswith("--"):
                raise _BadFlags(f"{word} requires a value.")
            values[word] = value
        elif word.startswith("--"):
            raise _BadFlags(f"unsupported flag '{word}'.")
        else:
            words.append(word)
    domain = values.get("--domain")
    if domain is not None and domain not in PERSONALITY:
        raise _BadFlags(f"--domain must be one of {'|'.join(PERSONALITY)}.")
    return _Arguments(
        words=tuple(words), switches=frozenset(switches), domain=domain, namespace=values.get("--namespace"),
        hours=values.get("--hours"),
    )  # fmt: skip
