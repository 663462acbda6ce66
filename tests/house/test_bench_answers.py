"""`python -m bench.answers`: runs over the samples and names what is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.answers.judging import holds
from tests.server import ROOT


@pytest.mark.parametrize(
    ("text", "wording", "is_held"),
    [
        ("It opened in 1398. [1]", "1398", True),
        ("Sealed by the sworn measurer.", "a sworn measurer", True),
        ("It opened in 1398.", "398", False),
        ("", "1398", False),
    ],
)
def test_a_wording_is_held_as_whole_words(text: str, wording: str, is_held: bool) -> None:
    assert holds(text, [wording]) is is_held


@pytest.mark.bench
def test_the_samples_are_asked_and_counted(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.answers", "--only", "passages", "--mode", "words"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "paragraphs: 7 answerable, 3 unanswerable questions" in done.stdout
    empty = subprocess.run(
        [sys.executable, "-m", "bench.answers", str(tmp_path), "--only", "passages", "--mode", "words"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "skipped, no squad*.json" in empty.stdout
