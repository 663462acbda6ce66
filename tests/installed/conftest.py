"""The server as users install it: a wheel in a new environment outside of the checkout."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.server import ROOT, ServerProcess


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test of this folder."""
    item.add_marker(pytest.mark.installed)


def output_of(*command: str | Path, cwd: Path = ROOT, **options: dict[str, str]) -> str:
    """Return the output of a command; fail with the output if the command fails."""
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, an empty working directory and a new home directory."""

    scripts: Path
    folder: Path
    home: Path

    def server(self, **variables: str) -> ServerProcess:
        """Return `mrpvm serve`, not yet started, without a setting for the data directory."""
        server = ServerProcess(self.folder, HOME=str(self.home), **variables)
        del server.environment["MRPVM_DATA_DIR"]
        server.command = [str(self.scripts / "mrpvm"), "serve"]
        server.cwd = self.folder
        return server

    def run(self, *arguments: str) -> str:
        """Return the output of `mrpvm ARGUMENTS`."""
        environment = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        return output_of(self.scripts / "mrpvm", *arguments, cwd=self.folder, env=environment)


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the sdist and of the wheel built from it."""
    built = tmp_path_factory.mktemp("dist")
    output_of("make", "dist", f"DIST={built}")
    return built


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    """Return the wheel."""
    return next(distributions.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return the wheel's environment, with only the pinned packages that it requires."""
    place = tmp_path_factory.mktemp("installed")
    python = place / "env" / "bin" / "python"
    uv = ROOT / "scripts" / "uv"
    output_of(uv, "venv", "--no-project", "--python", sys.executable, place / "env")
    for command in (
        ("pip", "install", "--require-hashes", "--requirement", ROOT / "requirements" / "run.txt"),
        ("pip", "install", "--no-deps", "--no-index", wheel),
        ("pip", "check"),  # all requirements of the wheel are installed
    ):
        output_of(uv, *command[:2], "--python", python, *command[2:])
    for name in ("folder", "home"):
        (place / name).mkdir()
    return Installed(scripts=python.parent, folder=place / "folder", home=place / "home")
