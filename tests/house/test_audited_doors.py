"""No door changes anything without the audit log, unless what it changes is a conversation and its own record."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path("sessions_app")
DOORS = ("api", "web", "admin", "mcp", "management", "commands")
WRITERS = ("actions", "ingest", "interchange", "experiments")

type Name = tuple[str, str]
"""A module and a function in it."""

LOG = "sessions_app.actions.settings.audit"

OF_CONVERSATIONS = {
    "append_messages", "change_model_config", "change_session", "choose_policies", "clear_preference", "continue_after",
    "continue_from", "load_context", "mount_base", "note_metadata", "rate_turn", "reload_skills", "remove_source",
    "rename_session", "resume_session", "skip_turn", "stage_file",
}  # fmt: skip
"""What changes a session: its own events tell what was done when."""
OF_SUITES = {"add_test", "change_test", "create_suite", "import_suite", "keep_turns", "order_tests", "rename_suite"}
"""What changes the tests of answers: neither knowledge nor access depends on it."""
UPKEEP = {"claim_key", "close_abandoned_experiments", "reindex", "sweep_staged"}
"""What changes nothing that anybody sees."""

ALLOWED = OF_CONVERSATIONS | OF_SUITES | UPKEEP


def modules(*packages: str) -> Iterator[tuple[str, ast.Module]]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(path.with_suffix("").parts).removesuffix(".__init__"), ast.parse(path.read_text())


def imports(tree: ast.Module) -> dict[str, Name]:
    """Return what each imported name of a module stands for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sessions_app"):
            found |= {item.asname or item.name: (node.module, item.name) for item in node.names}
    return found


def called(function: ast.AST, module: str, known: dict[str, Name]) -> Iterator[Name]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield known.get(node.id, (module, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield ".".join(known[node.value.id]), node.attr


@cache
def calls() -> dict[Name, frozenset[Name]]:
    """Return for every function and class below the doors what it names."""
    return {
        (module, node.name): frozenset(called(node, module, imports(tree)))
        for module, tree in modules(*WRITERS)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def is_recorded(name: Name, seen: frozenset[Name] = frozenset()) -> bool:
    """Return whether a function records something, itself or by one that it calls."""
    if name[0] == LOG:
        return True
    further = seen | {name}
    return any(is_recorded(other, further) for other in calls().get(name, frozenset()) - seen)


def writers_of_doors() -> set[Name]:
    """Return the functions of lower layers that write in a transaction, and that some door calls."""
    used = set()
    for _, tree in modules(*DOORS):
        known = imports(tree)
        used |= set(known.values()) | {name for node in ast.walk(tree) for name in called(node, "", known)}
    return {name for name in used if name in calls() and writes(name)}


def writes(name: Name, seen: frozenset[Name] = frozenset()) -> bool:
    """Return whether a function opens a transaction, itself or by one that it calls."""
    named = calls().get(name, frozenset())
    if ("", "transaction") in named or any(other[1] == "transaction" for other in named):
        return True
    return any(writes(other, seen | {name}) for other in named - seen if other in calls() and other != name)


def test_every_write_of_a_door_is_recorded_or_a_conversations() -> None:
    # Record what a new one does, or say that it is a conversation's.
    assert {name for module, name in writers_of_doors() if not is_recorded((module, name))} == ALLOWED


def test_a_function_that_records_nothing_is_found() -> None:
    assert not is_recorded(("sessions_app.actions.sessions.session", "rename_session"))
    assert is_recorded(("sessions_app.actions.settings.projects", "remove_member"))
    assert is_recorded(("sessions_app.ingest.load", "load_source"))
