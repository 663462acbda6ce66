"""Processes that end at a given point, on a new database."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.server import ROOT


@dataclass(frozen=True, slots=True)
class KilledProcesses:
    """Runs Python in processes whose only environment variables are those of `environment`."""

    environment: dict[str, str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Return the completed process with its output."""
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)


@pytest.fixture
def killed(tmp_path: Path, own_services: dict[str, str]) -> KilledProcesses:
    """Return a runner of processes on a new, migrated database."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    processes = KilledProcesses(kept | {"MRPVM_DATA_DIR": str(tmp_path)} | own_services)
    assert processes.run("manage.py", "migrate", "--verbosity", "0").returncode == 0
    return processes
