"""systemd accepts the units of deploy/."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server import ROOT

NAMES = {"mrpvm.service": "mrpvm.service", "mrpvm@.service": "mrpvm@8001.service"}


def verified(place: Path, change: tuple[str, str] = ("", "")) -> tuple[int, str]:
    """Return the exit code and errors of `systemd-analyze verify`; the units start this Python instead of mrpvm."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    for name, instance in NAMES.items():
        text = (ROOT / "deploy" / name).read_text().replace("/opt/mrpvm/bin/mrpvm", sys.executable)
        (place / instance).write_text(text.replace(*change))
    command = [program, "verify", "--man=no", *(str(place / instance) for instance in NAMES.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def test_the_units_are_valid(tmp_path: Path) -> None:
    assert verified(tmp_path) == (0, "")


def test_a_wrong_unit_would_be_noticed(tmp_path: Path) -> None:
    assert "RestartSecs" in verified(tmp_path, ("RestartSec=2", "RestartSecs=2"))[1]
