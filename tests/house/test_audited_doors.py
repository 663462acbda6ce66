"""Every change by the API, the pages, the admin or a command is in the audit log, unless a conversation records it."""

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.house.pages import ROOT, below, syntax_tree

# One process parses the sources.
pytestmark = pytest.mark.xdist_group("sources")

DOORS = ("api", "web", "admin", "mcp", "management", "commands")
WRITERS = ("layers", "actions", "ingest", "interchange", "experiments")

type Name = tuple[str, str]
"""A module and a function in it."""

ENTRY: Name = ("sessions_app.actions.settings.audit", "_entry")
"""What every record goes through."""

OF_CONVERSATIONS = {
    "LockedMemory", "append_messages", "append_turn_message", "change_model_config", "change_session",
    "choose_policies", "clear_preference", "continue_after", "continue_from", "load_context", "mark_conversation",
    "mount_base", "note_metadata", "point_to_personas", "point_to_skills", "rate_turn", "record_command",
    "reload_skills", "remove_source", "rename_session", "request_cancel", "resume_session", "skip_turn", "stage_file",
    "trim_registry",
}  # fmt: skip
"""What changes a session: its own events tell what was done when."""
OF_READERS = {"cancel_experiment", "show_project"}
"""What ends a member's own trials, and what a member wants to see."""
UPKEEP = {
    "begin_enrolment", "claim_key", "close_abandoned_experiments", "TraceExport", "find_key", "keep_answer",
    "record_version", "reindex", "release_key", "sweep_staged",
}  # fmt: skip
"""What changes nothing that anybody sees."""

RECORDED_ELSEWHERE = {"change_own_password", "copy_rows"}
"""What Django's signals of users record, and the command `restore`."""

ALLOWED = OF_CONVERSATIONS | OF_READERS | UPKEEP | RECORDED_ELSEWHERE


def modules(*packages: str) -> Iterator[tuple[str, ast.Module]]:
    for package in packages:
        for path in sorted((ROOT / "sessions_app" / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield name, syntax_tree(path)


def imports(tree: ast.Module) -> dict[str, Name]:
    """Return the module and name that each imported name refers to, through re-exports of packages."""
    return {alias: re_exports(module).get(name, (module, name)) for alias, (module, name) in imported(tree)}


@cache
def re_exports(module: str) -> dict[str, Name]:
    package = ROOT.joinpath(*module.split("."), "__init__.py")
    return dict(imported(syntax_tree(package))) if package.is_file() else {}


def imported(tree: ast.Module) -> Iterator[tuple[str, Name]]:
    for node in below(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sessions_app"):
            yield from ((item.asname or item.name, (node.module, item.name)) for item in node.names)


def called(function: ast.AST, module: str, known: dict[str, Name]) -> Iterator[Name]:
    notes = [getattr(node, name, None) for node in below(function) for name in ("annotation", "returns")]
    annotating = {inner for note in notes if note is not None for inner in below(note)}  # annotations call nothing
    for node in below(function):
        if node in annotating:
            continue
        if isinstance(node, ast.Name):
            yield known.get(node.id, (module, node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield ".".join(known[node.value.id]), node.attr


@cache
def calls() -> dict[Name, frozenset[Name]]:
    """Return the names that every function and class of the lower layers uses."""
    return {
        (module, node.name): frozenset(called(node, module, imported))
        for module, tree in modules(*WRITERS)
        for imported in [imports(tree)]
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def is_recorded(name: Name, seen: frozenset[Name] = frozenset()) -> bool:
    """Return whether a function, or one that it calls, writes to the audit log."""
    if name == ENTRY:
        return True
    further = seen | {name}
    return any(is_recorded(other, further) for other in calls().get(name, frozenset()) - seen)


WRITES = {"bulk_create", "bulk_update", "create", "delete", "get_or_create", "save", "update", "update_or_create"}
"""Methods of rows and querysets that write; others have the same names but are called otherwise."""


@cache
def writing() -> frozenset[Name]:
    """Return the functions of the lower layers that write rows themselves."""
    return frozenset(
        (module, node.name)
        for module, tree in modules(*WRITERS)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and any(is_write(inner) for inner in below(node))
    )


def is_write(node: ast.AST) -> bool:
    """Return whether a node opens a transaction or calls a method that writes rows."""
    if isinstance(node, ast.Name):
        return node.id == "transaction"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in WRITES:
        return False
    # `update` of a dictionary or digest has positional arguments, that of rows keyword arguments.
    return node.func.attr != "update" or bool(node.keywords)


def writers_of_doors() -> set[Name]:
    """Return the functions of the lower layers that write and that an entry point calls."""
    used = set()
    for _, tree in modules(*DOORS):
        known = imports(tree)
        used |= {*known.values(), *called(tree, "", known)}
    return {name for name in used if name in calls() and writes(name)}


def writes(name: Name, seen: frozenset[Name] = frozenset()) -> bool:
    """Return whether a function, or one that it calls, writes rows."""
    further = seen | {name}
    named = calls().get(name, frozenset()) - further
    return name in writing() or any(writes(other, further) for other in named if other in calls())


def test_every_write_of_a_door_is_recorded_or_a_conversations() -> None:
    # A new function must write to the audit log, or be added to `ALLOWED`.
    assert {name for module, name in writers_of_doors() if not is_recorded((module, name))} == ALLOWED


def test_a_function_that_records_nothing_is_found() -> None:
    assert not is_recorded(("sessions_app.actions.sessions.session", "rename_session"))
    assert is_recorded(("sessions_app.actions.settings.projects", "remove_member"))
    assert is_recorded(("sessions_app.ingest.load", "load_source"))
