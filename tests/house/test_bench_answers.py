"""`python -m bench.answers` runs over the samples and names missing data."""

import subprocess
import sys
from copy import replace
from pathlib import Path

import pytest

from bench.answers.__main__ import OWN_DATA
from bench.answers.asking import Reply
from bench.answers.collections import ConditionQuestion
from bench.answers.judging import holds, outcome_of_condition
from bench.answers.unrelated import Matter, changes, matters, mounted_matters, pairs
from mrpvm.values import AnswerGroup
from tests.server import ROOT

CHAIR = "Where does the Birch chair stand?"


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


@pytest.mark.parametrize(
    ("verdict", "shown", "outcome"),
    [
        (None, "It depends. Pets may stay if they are quiet. [1]", "right"),
        (None, "Yes. Pets may stay if they are quiet. [1]", "wrong"),
        (None, "Pets may stay. [1]", "wrong"),
        ("yes", "Yes. Pets may stay if they are quiet. [1]", "right"),
        ("no", "Yes. Pets may stay if they are quiet. [1]", "wrong"),
        ("no", "Pets may stay if they are quiet. [1]", "right"),
    ],
)
def test_a_condition_is_judged_by_verdict_and_words(verdict: str | None, shown: str, outcome: str) -> None:
    group = AnswerGroup(
        intent_ref=1,
        act="verify",
        intent="May pets stay?",
        status="answered",
        answer_markdown=shown,
        cited_unit_ids=("one",),
    )
    question = ConditionQuestion("May pets stay?", "conditional", ("if they are quiet",), verdict)
    assert outcome_of_condition(question, Reply((group,), 0.0, 0.0)) == outcome
    quoted = replace(group, basis="quoted", status="no-context")
    assert outcome_of_condition(question, Reply((quoted,), 0.0, 0.0)) in ("refused", "lost")


def test_pairs_of_questions_are_of_two_matters() -> None:
    found = matters(OWN_DATA)
    matter_of = {question: matter.name for matter in found for question in matter.questions}
    drawn = list(pairs(found, 50))
    assert all(matter_of[before] != matter_of[asked] for before, asked in drawn)
    assert drawn == list(pairs(found, 50))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("recalls", [True, False])
def test_what_an_unrelated_question_changes_is_counted(recalls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if recalls:  # a question that shares its evidence with the one before counts in every pair
        monkeypatch.setattr("bench.answers.unrelated.pairs", lambda found, count: [(CHAIR, "Where is it?")] * count)
    found = [
        Matter("chairs", "The Birch chair stands in the hall.", [CHAIR]),
        Matter("keys", "Ann has the harbour keys.", ["Who has the harbour keys?"]),
    ]
    changed = changes(found, mounted_matters(found), 2, "kb-fast")
    assert (changed.either, changed.evidence) == ((1, 1) if recalls else (0, 0))


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
