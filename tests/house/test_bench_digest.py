"""The digest bench compares the summary with naive ones, and counts words of answers as defined."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from bench.digest import BUDGETS, OWN_DATA, WAYS, main


def figures(line: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d\.\d{3}", line)]


def test_it_measures_our_own_data(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(OWN_DATA)])
    lines = capsys.readouterr().out.splitlines()
    for name in WAYS:
        told = figures(next(line for line in lines if line.startswith(f"  {name} ")))
        assert len(told) == len(BUDGETS)
        assert all(0 <= less <= more <= 1 for less, more in pairwise(told)), "a larger budget tells no less"


def test_a_directory_without_such_files_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path)])
    assert "skipped" in capsys.readouterr().out


def test_every_way_keeps_within_its_words() -> None:
    lines = [
        (number // 7, f"Anna: The {number}th ship sailed with {number * 7} crates of tea.") for number in range(200)
    ]
    for way in WAYS.values():
        assert [len(way(lines, budget).split()) <= budget for budget in BUDGETS] == [True] * len(BUDGETS)
