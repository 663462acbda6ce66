"""The rewriting bench prints every figure with naive ones, and computes its measures as defined."""

import re
from math import isclose
from pathlib import Path

import pytest

from bench.rewriting.__main__ import OWN_DATA, main
from bench.rewriting.report import GATES, LEARNED, REWRITERS
from bench.rewriting.scores import Judgements, Rewrites, content
from bench.rewriting.turns import FollowUp, follow_ups
from mrpvm.conversation.rewriting.weights import learned


def test_it_measures_our_own_data(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(OWN_DATA)])
    lines = capsys.readouterr().out.splitlines()
    counts = [(gate.name, 2) for gate in GATES] + [(rewriter.name, 3) for rewriter in REWRITERS] + [(LEARNED, 5)]
    for name, count in counts:
        line = next(line for line in lines if line.startswith(f"  {name} "))
        figures = [float(found) for found in re.findall(r"\d\.\d{3}", line.removeprefix(f"  {name}"))]
        assert len(figures) == count
        assert all(0 <= figure <= 1 for figure in figures)
    assert "learned from others: skipped" in lines[-1]


@pytest.mark.rule("DECISION-38")
def test_a_directory_without_such_files_is_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(tmp_path)])
    assert "skipped" in capsys.readouterr().out


def test_a_follow_up_knows_what_was_said_before_it() -> None:
    found = list(follow_ups(OWN_DATA))
    assert [len(turn.history) for turn in found] == [2, 4, 6, 2, 4]
    assert found[0].history[0].role == "user"


def test_scores_are_those_of_their_definitions() -> None:
    assert content("How tall are the Lighthouses' lamps?") == {"tall", "lighthous", "lamp"}
    rewrites = Rewrites()
    rewrites.add("how tall", "how tall lighthouse skerry", "how tall lighthouse boat")
    f1, recall, precision = rewrites.figures
    assert (recall, precision) == (0.5, 0.5)
    assert isclose(f1, 2 * 2 / (3 + 3))
    judged = Judgements()
    for needed, probability in ((True, 0.9), (True, 0.4), (False, 0.4), (False, 0.1)):
        judged.add(needed, probability, probability > 0.5)
    assert judged.balanced_accuracy == (0.5 + 1.0) / 2
    assert judged.area == (1 + 1 + 0.5 + 1) / 4


def test_no_turn_is_judged_by_what_was_learned_from_its_part(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    from bench.rewriting import crossing

    turns = [
        FollowUp(dataset, f"{dataset}:{number}", "And it?", (), "And the lamp?")
        for dataset in ("cast19", "mtrag", "canard")
        for number in range(9)
    ]
    monkeypatch.setattr(crossing, "learn", lambda others: frozenset(turn.conversation for turn in others))
    assert crossing.can_be_crossed(turns)
    assert not crossing.can_be_crossed([turn for turn in turns if turn.dataset != "mtrag"])
    for part_of in crossing.PARTS.values():
        judged = dict(crossing.crossed(turns, part_of))
        assert judged.keys() == set(turns)
        for turn, seen in judged.items():
            if turn.dataset == "canard":
                assert seen is learned()
            else:
                assert seen == {
                    item.conversation for item in turns if item.dataset != "canard" and part_of(item) != part_of(turn)
                }
