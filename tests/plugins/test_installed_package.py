"""A plugin of another package, installed beside the server as in docs/plugins.md."""

import os
import shutil
import subprocess
import sys
import zipfile
from ensurepip import _bundled  # type: ignore[attr-defined]
from pathlib import Path

import pytest

from tests.house.pages import ROOT, blocks

METADATA = "Metadata-Version: 2.1\nName: brevity\nVersion: 1.0.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def install(site: Path, source: str, entry_points: str) -> None:
    """Build a wheel of one module and install it into a directory."""
    wheel = site.parent / "brevity-1.0.0-py3-none-any.whl"
    info = "brevity-1.0.0.dist-info"
    files = {"brevity.py": source, f"{info}/METADATA": METADATA, f"{info}/WHEEL": WHEEL}
    files[f"{info}/entry_points.txt"] = entry_points
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    subprocess.run(
        [*installer(), "--no-deps", "--no-index", "--target", str(site), str(wheel)], check=True, timeout=120
    )


def installer() -> list[str]:
    """Return the command that installs packages: uv if the repository has it, else Python's pip."""
    uv = shutil.which("uv") or shutil.which(str(ROOT / ".uv" / "bin" / "uv"))
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    pip = next(Path(next(iter(_bundled.__path__))).glob("pip-*.whl")) / "pip"
    return [sys.executable, str(pip), "install", "--quiet"]


def run(site: Path, data: Path, code: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]),
        "MRPVM_DATA_DIR": str(data),
        "DJANGO_SETTINGS_MODULE": "mrpvm.settings",
    }
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, cwd=data, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "site"


@pytest.mark.rule("DECISION-39")
def test_the_plugin_of_the_page_is_found_registered_and_conforms(site: Path) -> None:
    plugin, tests = blocks("docs/plugins.md", "python")[:2]
    (declared,) = blocks("docs/plugins.md", "toml")
    entry_points = declared.replace('[project.entry-points."mrpvm.plugins"]', "[mrpvm.plugins]").replace('"', "")
    install(site, plugin, entry_points)
    done = run(
        site,
        site.parent / "data",
        "import django; django.setup()\n"
        "from mrpvm import registry\n"
        "print([item.id for item in registry.installed.descriptors('val-plugin')])\n"
        "from brevity import *\n"
        + tests
        + "\ntest_the_contract(); test_a_long_answer_is_rejected(); print('conforms')",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['val-brevity', 'val-constraints', 'val-llm']", "conforms"]


def test_one_that_is_not_acceptable_stops_the_start(site: Path) -> None:
    plugin = blocks("docs/plugins.md", "python")[0].replace('id="val-brevity"', 'id="val-constraints"')
    install(site, plugin, "[mrpvm.plugins]\nval-brevity = brevity:BrevityValidator\n")
    done = run(site, site.parent / "data", "import django; django.setup()")
    assert done.returncode == 1
    assert "A val-plugin named 'val-constraints' is registered already." in done.stderr
