"""No received text takes a pattern long, since matching holds the interpreter's lock."""

import re
import subprocess
import sys

import pytest

from tests.house.hostile_patterns import Found, slow_text

SECONDS = 120
"""A few are needed; a pattern that takes cubic time needs hours for its text."""


def test_no_pattern_runs_away_on_a_long_run_of_anything() -> None:
    subprocess.run([sys.executable, "-m", "tests.house.hostile_texts"], check=True, timeout=SECONDS)


def test_every_pattern_is_quick_on_texts_that_it_nearly_matches() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.house.hostile_patterns"], capture_output=True, text=True, timeout=5 * SECONDS
    )
    assert (found.returncode, found.stderr) == (0, ""), found.stdout


@pytest.mark.parametrize(
    "pattern", [r"^(a|a)*$", r"(\w+\s*)+:", r"^(?P<said>.+?) to (?P<place>.+?) by (?P<time>.+?)[.!]*$"]
)
def test_a_pattern_that_runs_away_is_found(pattern: str) -> None:
    assert slow_text(Found("some.module", re.compile(pattern))) is not None
