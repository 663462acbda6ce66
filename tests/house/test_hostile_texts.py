"""No text that somebody sends keeps a pattern busy for long: the interpreter's lock is held all the while."""

import subprocess
import sys

SECONDS = 120
"""A few are needed; a pattern that takes cubic time needs hours for its text."""


def test_no_pattern_runs_away_on_a_long_run_of_anything() -> None:
    subprocess.run([sys.executable, "-m", "tests.house.hostile_texts"], check=True, timeout=SECONDS)
