"""The structure of the code: the machine runs without Django, and names are standard terms."""

import ast
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.pages import ROOT, nodes, relative

# One process parses the sources.
pytestmark = pytest.mark.xdist_group("sources")

BOOT_FILES = {"settings.py", "urls.py", "asgi.py"}
FOREIGN = {"django", "rest_framework", "channels", "asgiref", "sessions_app"}
VAGUE = ("manager", "handler", "processor", "service", "utils", "helpers", "common")


def modules(*packages: str) -> list[Path]:
    """Return the source files of the packages, migrations left out."""
    files = (path for package in packages for path in (ROOT / package).rglob("*.py"))
    return sorted(path for path in files if "migrations" not in path.parts)


PRODUCT = modules("mrpvm", "sessions_app")
MACHINE = [path for path in modules("mrpvm") if path.parent.name != "mrpvm" or path.name not in BOOT_FILES]


def test_the_machine_loads_no_django() -> None:
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in MACHINE]
    if find_spec("tokenizers") is None:  # the one module of the embeddings extra
        names.remove("mrpvm.knowledge.embedding.minilm")
    code = (
        f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\n"
        f"print(*sorted({FOREIGN!r} & {{name.split('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_addresses_need_no_other_module_to_be_there_first() -> None:
    names = ("sessions_app.api.urls", "sessions_app.api.openai.urls", "sessions_app.web.urls")
    code = (
        "import importlib, os, django\ndjango.setup()\n"
        f"for name in {names}:\n"
        "    if not (child := os.fork()):\n"
        "        importlib.import_module(name)\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0, name"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.rule("DECISION-39")
def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for package in ("mrpvm", "sessions_app") for path in (ROOT / package).rglob("*.py")}
    assert [relative(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_no_two_modules_import_each_other() -> None:
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in modules("mrpvm", "sessions_app", "bench")
    }
    imports = {
        (name, imported)
        for name, path in paths.items()
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module
        for imported in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        if imported in paths
    }
    assert [pair for pair in sorted(imports) if pair < pair[::-1] and pair[::-1] in imports] == []


def test_migrations_import_nothing_of_this_project() -> None:
    imported = {
        name
        for path in (ROOT / "sessions_app" / "migrations").glob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [item.name for item in node.names])
    }
    assert {name.split(".")[0] for name in imported} == {"django"}


MANAGERS = {"objects", "with_trials", "_base_manager", "_default_manager"}
ROOMS_OF_ROWS = ("models", "queries", "actions", "layers", "migrations")


def test_rows_are_read_by_queries_and_written_by_actions() -> None:
    found = {
        f"{relative(path)}:{node.lineno}"
        for path in modules("sessions_app")
        if path.relative_to(ROOT).parts[1] not in ROOMS_OF_ROWS
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr in MANAGERS
    }
    assert found == set()


def test_doors_write_no_sql() -> None:
    found = {
        relative(path)
        for path in modules(*(f"sessions_app/{door}" for door in ("admin", "api", "mcp", "management", "web")))
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sessions_app.models.named_sql")
    }
    assert found == set()


def test_no_name_says_nothing() -> None:
    vague = [relative(path) for path in PRODUCT if any(word in path.stem.split("_") for word in VAGUE)]
    assert vague == []


@pytest.mark.rule("DECISION-39")
def test_the_pinned_packages_carry_hashes_and_no_addresses() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        pins = [line for line in text.splitlines() if line and line[0].isalnum()]
        assert pins, path.name
        assert all(line.endswith("\\") for line in pins), path.name
        assert "://" not in text, path.name


@pytest.mark.rule("DECISION-39")
def test_a_larger_set_of_packages_holds_the_smaller_one() -> None:
    pins = {
        name: {
            line.split()[0]  # a larger set may need it on more platforms
            for line in (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8").splitlines()
            if line and line[0].isalnum()
        }
        for name in ("run", "scale", "dev")
    }
    assert pins["run"] < pins["scale"] < pins["dev"]


def test_the_vendored_files_are_the_pinned_ones() -> None:
    vendored = sorted((ROOT / "static" / "vendor").iterdir())
    assert vendored
    for folder in vendored:
        sums = "\n".join((folder / "VERSIONS").read_text(encoding="utf-8").splitlines()[1:]) + "\n"
        done = subprocess.run(
            ["sha256sum", "--check", "--strict", "--quiet", "-"], input=sums, cwd=folder, text=True, check=False
        )
        assert done.returncode == 0, folder.name
        listed = {line.split()[1] for line in sums.splitlines()}
        assert {path.name for path in folder.iterdir()} == listed | {"VERSIONS"}
