"""The judge: which answers count as right, wrong and refused, and how recall and precision are computed."""

from copy import replace
from typing import Any

import pytest

from bench.evaluation.judging import judge, mentions
from bench.evaluation.suites import Expected, Question, renamed
from mrpvm.values import Answer, AnswerGroup, EvidenceEntry, KnowledgeUnit, Selection, TurnOutcome

EXPECTED = Expected(
    answerable="yes", form="fact", intents=(("ship",),), answer_must_mention=("Vell",), context_must_mention=("Vell",)
)


def question(**changes: Any) -> Question:
    return Question(id="q01", input="Where is the ship?", expected=replace(EXPECTED, **changes))


def outcome(text: str, status: str = "answered", claim: str = "The ship is in Vell.") -> TurnOutcome:
    unit = KnowledgeUnit(id="u1", role="Description", topic="ship", claim=claim)
    group = AnswerGroup(
        intent_ref=1,
        act="identify",
        intent="Where is the ship?",
        status=status,  # type: ignore[arg-type]
        answer_markdown=text,
        evidence=(EvidenceEntry(unit=unit, score=1.0, store="session"),),
        cited_unit_ids=("u1",),
    )
    answer = Answer(groups=(group,))
    return TurnOutcome(
        status="succeeded",
        answer_status=answer.status,
        answer=answer,
        answer_text=text,
        staged_units=(),
        used=Selection(),
        stages=(),
    )


@pytest.mark.rule("EVAL-11")
@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        ("The ship is in Vell. [1]", {}, "right"),
        ("The ship is in Orm. [1]", {}, "wrong"),
        ("One. Two. The ship is in Vell. [1]", {}, "wrong"),
        ("One. Two. The ship is in Vell. [1]", {"form": "explanation"}, "right"),
        ("Vell", {"form": "one-word"}, "right"),
        ("In Vell", {"form": "one-word"}, "wrong"),
        ("Yes. The ship is in Vell. [1]", {"form": "yes-no", "verdict": "yes"}, "right"),
        ("Yes. The ship is in Vell. [1]", {"form": "yes-no", "verdict": "no"}, "wrong"),
        ("The ship is in Vell. [1]", {"form": "yes-no", "verdict": "yes"}, "wrong"),
        ("The ship is in Vell. [1]", {"answerable": "no"}, "wrong"),
        ("The ship is in Vell. [1]", {"answerable": "either", "answer_must_mention": ("Vell", "Orm")}, "wrong"),
        ("- Vell [1]\n- Orm [1]", {"form": "list"}, "right"),
        ("Vell and Orm [1]", {"form": "list"}, "wrong"),
        ("The ship is in Vell. [1]", {"answer_must_not_contain": ("ship",)}, "wrong"),
    ],
)
def test_answers(text: str, changes: dict[str, Any], said: str) -> None:
    assert judge(question(**changes), outcome(text)).outcome == said


@pytest.mark.rule("EVAL-11")
@pytest.mark.parametrize(("answerable", "said"), [("yes", "refused"), ("no", "right"), ("either", "right")])
def test_refusals(answerable: str, said: str) -> None:
    found = judge(question(answerable=answerable), outcome("nothing known", "no-context"))
    assert found.outcome == said


@pytest.mark.rule("EVAL-12")
def test_recall_precision_and_f1_count_answer_and_context() -> None:
    half = judge(question(), outcome("The ship is in Orm. [1]"))
    assert (half.recall, half.precision) == (0.5, 1.0)
    assert half.f1 == pytest.approx(2 / 3)
    forbidden = judge(question(answer_must_not_contain=("ship",)), outcome("The ship is in Vell. [1]"))
    assert (forbidden.recall, forbidden.precision, forbidden.f1) == (1.0, 0.0, 0.0)


@pytest.mark.rule("EVAL-11")
def test_a_right_answer_passes_only_with_its_intent_and_context() -> None:
    assert judge(question(), outcome("In Vell. [1]")).passed
    assert not judge(question(), outcome("In Vell. [1]", claim="The ship is there.")).passed
    assert not judge(question(intents=(("boat",),)), outcome("In Vell. [1]")).passed


@pytest.mark.rule("EVAL-10")
def test_mentions_are_whole_words() -> None:
    assert mentions("The OAK tree", "oak")
    assert not mentions("A cloak", "oak")


def test_names_change_all_at_once_and_keep_their_capital() -> None:
    assert renamed("Anna met Ben. Dogs bark.", {"Anna": "Ben", "Ben": "Anna", "dogs": "cats"}) == (
        "Ben met Anna. Cats bark."
    )
