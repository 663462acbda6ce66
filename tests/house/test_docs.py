"""The lists in the documentation equal those in the code."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrpvm.trace.events import EVENT_TYPES
from sessions_app.api.shell.docs import openapi_document
from sessions_app.api.shell.errors import STATUS_BY_CODE
from sessions_app.events import EVENT_KINDS
from sessions_app.experiments.trials.documents import ChangesDocument, ChoicesDocument
from tests.house.pages import ROOT, bare, nodes, page, relative, rows, section

# One process parses the sources.
pytestmark = pytest.mark.xdist_group("sources")

CODE = sorted(path for package in ("mrpvm", "sessions_app") for path in (ROOT / package).rglob("*.py"))
COMMANDS_PAGE = (ROOT / "docs/commands.md").read_text(encoding="utf-8").replace("\\|", "\N{BROKEN BAR}")


def calls(path: Path) -> Iterator[ast.Call]:
    """Return every call in a source file."""
    return (node for node in nodes(path) if isinstance(node, ast.Call))


def text_of(node: ast.AST | None) -> str | None:
    """Return the text of a literal, None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


# --- settings.md ---------------------------------------------------------------------------------------


def variables_read() -> dict[str, str]:
    """Return every variable that the settings read, with its default as the page spells it."""
    tree = nodes(ROOT / "mrpvm/settings.py")
    found: dict[str, str] = {}
    for node in tree:
        if isinstance(node, ast.BoolOp) and _variable(node.values[0]):
            found[_variable(node.values[0]) or ""] = text_of(node.values[-1]) or ""
    for node in tree:
        name = _variable(node)
        if name is not None and isinstance(node, ast.Call) and name not in found:
            found[name] = _default(node)
    return found


def _variable(node: ast.AST) -> str | None:
    is_reader = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "ENVIRONMENT"
        and node.func.attr != "refuse"
    )
    return text_of(node.args[0]) if is_reader else None  # type: ignore[attr-defined]


def _default(call: ast.Call) -> str:
    reader = call.func.attr  # type: ignore[attr-defined]
    match reader:
        case "limit_or_none":
            return "off"
        case "flag":
            return str(int(ast.literal_eval(call.keywords[0].value)))
        case "choice":
            return str(ast.literal_eval(call.args[1])[0])
        case "whole_number":
            return str(ast.literal_eval(call.args[1]))
        case "data_directory" | "database":
            return next(text for node in ast.walk(call.args[1]) if (text := text_of(node)))
        case "path":
            return str(ast.literal_eval(call.args[1].right))  # type: ignore[attr-defined]
    return "not set"


@pytest.mark.rule("DECISION-14", "KERNEL-20")
def test_every_variable_is_documented_with_its_default() -> None:
    documented = {bare(row[0]): bare(row[1]) for row in rows(page("docs/settings.md"), "variable", "default")}
    assert documented == variables_read()


def test_no_other_module_reads_the_environment() -> None:
    # They set the settings module and a variable of numpy, and read a server's key for pytest.
    allowed = {
        "mrpvm/settings.py",
        "mrpvm/asgi.py",
        "sessions_app/management/command_line.py",
        "mrpvm/knowledge/arrays.py",
        "sessions_app/management/pytest_suites.py",
    }
    readers = {
        relative(path)
        for path in CODE
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    }
    assert readers <= allowed


@pytest.mark.rule("DECISION-14")
@pytest.mark.parametrize(("place", "value"), [row[:2] for row in rows(page("docs/settings.md"), "constant", "value")])
def test_a_fixed_bound_has_the_value_on_its_page(place: str, value: str) -> None:
    path, name = re.findall(r"`([^`]+)`", place)
    module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    assert bare(value) == str(getattr(module, name))


# --- api.md --------------------------------------------------------------------------------------------


@pytest.mark.rule("API-20")
def test_the_error_table_is_the_one_the_api_answers_by() -> None:
    documented = {bare(row[0]): int(row[1]) for row in rows(page("docs/api.md"), "code", "status")}
    assert documented == dict(STATUS_BY_CODE)


def raised_codes() -> set[str]:
    """Return every error code in the product: of `code=`, of a class's default, or a text in the form of a code."""
    found: set[str | None] = set()
    families = {code.split("_")[0] for code in STATUS_BY_CODE}
    for path in CODE:
        has_codes = relative(path) not in NO_CODES
        for node in nodes(path):
            found.add(stated_code(node))
            if has_codes and looks_like_a_code(text_of(node) or "", families):
                found.add(text_of(node))
    return {code for code in found if code}


def stated_code(node: ast.AST) -> str | None:
    """Return the code in a call's `code=` or a class's `default_code`."""
    if isinstance(node, ast.keyword) and node.arg == "code":
        code = text_of(node.value)
        return code if code and code.isupper() else None  # codes of commands and files are lower case
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return text_of(node.value) if getattr(target, "id", "") == "default_code" else None
    return None


NO_CODES = {"mrpvm/settings.py", "mrpvm/lang/diagnostics.py"}
"""Names of Django's settings; codes of what is wrong inside a control document."""


def looks_like_a_code(text: str, families: set[str]) -> bool:
    """Return whether a text has the form of a code and the first word of a known one."""
    return bool(re.fullmatch(r"[A-Z]+(_[A-Z]+)+", text)) and text.split("_")[0] in families


def test_every_code_that_is_raised_is_documented() -> None:
    inside = {bare(row[0]) for row in rows(page("docs/api.md"), "code", "where")}
    assert inside & set(STATUS_BY_CODE) == set()
    assert raised_codes() - set(STATUS_BY_CODE) == inside


def operations() -> set[str]:
    """Return the method and path of every operation in the OpenAPI document below `/api`."""
    paths = openapi_document()["paths"]
    return {f"{method.upper()} {path}" for path, item in paths.items() for method in item if path.startswith("/api/")}


@pytest.mark.rule("DECISION-6", "API-9")
def test_the_endpoints_are_those_of_the_schema() -> None:
    documented = {bare(row[0]) for row in rows(page("docs/api.md"), "call", "gives")}
    assert documented == operations()


# --- diagnosis.md --------------------------------------------------------------------------------------


def test_the_fields_of_a_trial_are_listed() -> None:
    table = rows(section("docs/diagnosis.md", "Over the API"), "field", "what is changed")
    listed = [name for names, _ in table for name in re.findall(r"`(\w+)`", names)]
    assert sorted(listed) == sorted(ChangesDocument.__annotations__ | ChoicesDocument.__annotations__)


# --- commands.md ---------------------------------------------------------------------------------------


def test_every_command_is_described_as_it_is_written() -> None:
    from mrpvm.commands import BUILTINS

    documented = [bare(row[0]).replace("\N{BROKEN BAR}", "|") for row in rows(COMMANDS_PAGE, "command", "does")]
    assert documented == [item.usage for item in BUILTINS.values()]


def findings() -> set[str]:
    """Return the codes of all diagnostics of the skill loader."""
    found: set[str | None] = set()
    for name in ("skills/loader", "files"):
        for call in calls(ROOT / f"mrpvm/assistants/{name}.py"):
            named = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if named in {"diagnostic", "_Refused"} and call.args:
                found.add(text_of(call.args[0]))
            found |= {text_of(item.value) for item in call.keywords if item.arg == "code"}
    return {code for code in found if code}


def test_every_finding_is_described_with_what_it_does() -> None:
    from mrpvm.assistants.skills.snapshot import INFORMATIONAL_CODES

    documented = {bare(row[0]): row[1] for row in rows(COMMANDS_PAGE, "finding", "gives a skill")}
    assert set(documented) == findings()
    assert {code for code, gives in documented.items() if gives == "yes"} == INFORMATIONAL_CODES


# --- architecture.md -----------------------------------------------------------------------------------


def stream_events() -> set[str]:
    """Return the names of server-sent events that the API's code sends."""
    found: set[str | None] = set()
    for path in (path for path in (ROOT / "sessions_app/api").rglob("*.py") if "openai" not in path.parts):
        for call in calls(path):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in {"put", "frame"} and call.args:
                found.add(text_of(call.args[0]))
        for node in nodes(path):
            if isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
                found.add(text_of(node.value.elts[0]))
    return {name for name in found if name}


def plugin_events() -> set[str]:
    """Return the lifecycle events of the contract, which are the only ones that the code may send."""
    from mrpvm.contracts import LifecycleEvent

    listed = re.search(r"`event_type`: ([^.]+)\.", LifecycleEvent.__doc__ or "")
    assert listed
    promised = set(re.findall(r"[a-z-]+", listed[1]))
    made = {
        text_of(keyword.value)
        for path in (ROOT / "sessions_app").rglob("*.py")
        for call in calls(path)
        for keyword in call.keywords
        if keyword.arg == "event_type"
    } - {None}
    assert made <= promised
    return promised


def session_events() -> set[str]:
    """Return the kinds of numbered events, and of those sent without a number."""
    source = ROOT / "sessions_app/events.py"
    sent = {
        text_of(value)
        for node in nodes(source)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if text_of(key) == "kind"
    }
    sent |= {text_of(call.args[0]) for call in calls(source) if getattr(call.func, "id", "") == "_unnumbered"}
    return set(EVENT_KINDS) | {kind for kind in sent if kind}


@pytest.mark.rule("DECISION-37", "PLUGIN-46")
def test_the_vocabulary_table_holds_every_event_and_nothing_else() -> None:
    documented: dict[str, set[str]] = {}
    listed = rows(page("docs/architecture.md"), "event", "vocabulary")
    for event, vocabulary, _ in listed:
        documented.setdefault(vocabulary, set()).add(bare(event))
    assert documented == {
        "machine": set(EVENT_TYPES),
        "session": session_events(),
        "stream": stream_events(),
        "plugin": plugin_events(),
    }
    assert len(listed) == sum(map(len, documented.values())), "an event stands twice"


def test_the_streams_table_names_the_same_events() -> None:
    assert {bare(row[0]) for row in rows(section("docs/api.md", "Streaming"), "event", "how often")} == stream_events()
