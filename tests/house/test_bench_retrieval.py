"""The retrieval bench prints every figure, names what it skipped, and computes its measures as defined."""

import re
import subprocess
import sys
from math import isclose

import pytest

from bench.retrieval.report import FIGURES, RETURNED, REWRITTEN
from bench.retrieval.scores import discounted_gain, recall, reciprocal_rank
from tests.server import ROOT


@pytest.mark.rule("DECISION-38")
@pytest.mark.bench
def test_it_measures_our_own_data_and_names_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.retrieval"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    measured = ["memory", "passages", "personal"]
    assert [line.split(",")[0] for line in lines if line.endswith(" questions")] == measured
    assert [line.split(":")[0] for line in lines if "skipped" in line] == ["cranfield", "cisi"]
    figures = [line for line in lines if line.startswith("  ") and ("@" in line or "MRR" in line)]
    rewritten = [line for line in figures if REWRITTEN in line]
    assert [line.split("  ")[1] for line in rewritten] == [f"macro nDCG@10, {REWRITTEN}"]
    assert len(figures) == len(rewritten) + 2 * sum(len(FIGURES[name]) for name in measured)
    for line in figures:
        *plain, fast, without, balanced = (float(found) for found in re.findall(r"\d\.\d{3}", line))
        assert len(plain) == (f", {RETURNED}" not in line)
        assert all(0 <= found <= 1 for found in plain)
        assert 0 < fast <= 1
        assert 0 < without <= 1
        assert 0 < balanced <= 1


def test_scores_are_those_of_their_definitions() -> None:
    ranked, gold = ["a", "x", "b"], {"a", "b", "c", "d"}
    assert recall(ranked, gold, 2) == 0.25
    assert recall(ranked, gold, 10) == 0.5
    assert reciprocal_rank(["x", "a"], gold) == 0.5
    assert reciprocal_rank(["x"], gold) == 0
    assert isclose(discounted_gain(ranked, {"a", "b"}, 3), (1 + 1 / 2) / (1 + 1 / 1.584962500721156))
