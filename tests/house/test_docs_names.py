"""Names in the documentation exist, its links have targets, and its examples run."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mrpvm.testing import check_plugin
from sessions_app.actions.knowledge.bases import ensure_default_base
from sessions_app.actions.settings.api_keys import ensure_key
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import Project
from tests.house.pages import PAGES, ROOT, blocks, page, relative
from tests.live import LiveServer

KEY = "mrp_0123456789abcdefghijklmnopqrstuvwxyz"
EXAMPLE_ADDRESS = "http://127.0.0.1:8000"


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, in the form of code hosts."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    broken = []
    for path in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
            if target.startswith("https://"):
                continue
            name, _, anchor = target.partition("#")
            linked = (path.parent / name) if name else path
            if not linked.exists() or (anchor and anchor not in anchors(linked)):
                broken.append((relative(path), target))
    assert broken == []


def test_files_that_are_named_exist() -> None:
    top = "mrpvm|sessions_app|tests|static|templates|docs|bench|scripts"
    named = re.compile(rf"`((?:{top})/[\w./-]*)`")
    missing = [
        (relative(path), name)
        for path in PAGES
        for name in named.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        current = waiting.pop()
        if current in reached or current.suffix != ".md":
            continue
        reached.add(current)
        links = re.findall(r"\]\(([^)#\s]+)", current.read_text(encoding="utf-8"))
        waiting += [(current.parent / link).resolve() for link in links if not link.startswith("https://")]
    assert set(PAGES) <= reached


def test_the_decisions_are_numbered_without_gaps() -> None:
    names = sorted(path.name for path in (ROOT / "docs/adr").glob("*.md"))
    assert [name[:4] for name in names] == [f"{number:04d}" for number in range(1, len(names) + 1)]
    for number, name in enumerate(names, start=1):
        assert page(f"docs/adr/{name}").startswith(f"# {number}. ")


def test_the_make_commands_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", page("Makefile"), re.MULTILINE))
    for path in PAGES:
        named = set(re.findall(r"(?:`|^)make ([a-z]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= targets, relative(path)


# --- Examples -------------------------------------------------------------------------------------------


def test_the_example_plugin_keeps_its_contract() -> None:
    plugin, tests = blocks("docs/plugins.md", "python")
    names: dict[str, Any] = {}
    exec(compile(plugin + tests, "docs/plugins.md", "exec"), names)  # noqa: S102  the repository's own page
    check_plugin(names["BrevityValidator"]())
    for name in [name for name in names if name.startswith("test_")]:
        names[name]()


def run_python(source: str, captured: pytest.CaptureFixture[str]) -> str:
    """Run an example, which must not fail; return its output."""
    captured.readouterr()
    exec(compile(source, "<example>", "exec"), {"__name__": "__main__"})  # noqa: S102  the repository's own page
    return captured.readouterr().out


def run_shell(source: str) -> str:
    """Run an example, which must not fail; return its output."""
    done = subprocess.run(["sh", "-c", source], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_calls_of_the_pages_work_as_they_stand(
    live_asgi: LiveServer, live_project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ensure_key(live_project, "From MRPVM_API_KEY", KEY, "admin")
    monkeypatch.setenv("MRPVM_API_KEY", KEY)
    for name in ("README.md", "docs/api.md"):
        for example in blocks(name, "python"):
            printed = run_python(example.replace(EXAMPLE_ADDRESS, live_asgi.url), capsys)
            assert ("turn.committed" if "/live/" in example else "My dog is called Rex. [1]") in printed
        for example in (block for block in blocks(name, "sh") if block.startswith("curl")):
            printed = run_shell(example.replace(EXAMPLE_ADDRESS, live_asgi.url))
            assert "Noted: My " in printed or '"unitCount":' in printed
            assert '"code":' not in printed


def test_the_assistant_for_a_web_site_answers_from_its_base(
    live_asgi: LiveServer, live_project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the role that the page names, commands of visitors are ordinary messages."""
    ensure_key(live_project, "Site", KEY, "chat")
    monkeypatch.setenv("MRPVM_API_KEY", KEY)
    base = ensure_default_base(live_project)
    load_source(base, Upload(data=b"The office is in Lund.", name="office.txt", declared_type="text/plain"))
    (example,) = blocks("docs/web-site.md", "python")
    example = example.replace(EXAMPLE_ADDRESS, live_asgi.url)
    asked = example.replace("visit-1", "visit-2").replace("Where is the office?", "/help")
    assert run_python(example, capsys).strip() == "('The office is in Lund.', True)"
    assert not run_python(asked, capsys).startswith("('Error")
