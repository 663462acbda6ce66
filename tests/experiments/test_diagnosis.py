"""Diagnosis of planted causes: the right one is first, confirmed by its trial."""

import pytest

from bench.causes import CASES, Planted, planted, searched
from mrpvm.errors import MRPError
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.commands.messages import answer_message
from sessions_app.experiments.diagnosis.search import Bounds, Expectation, says
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import KnowledgeBase, Project, Session
from sessions_app.queries.experiments.experiments import ranked_findings
from sessions_app.turns.call import TurnCall
from tests.experiments.conftest import Talk, diagnosed, stored

RIGHT_FIRST = 27


def test_the_right_cause_is_first_in_27_of_30(talk: Talk) -> None:
    found = []
    for case in CASES:
        with planted(talk, case) as turn:
            found.append(searched(stored(turn), case))
    wrong = [(each.case.kind, each.case.question, each.first) for each in found if not each.is_right]
    assert len(CASES) - len(wrong) >= RIGHT_FIRST, wrong
    assert max(each.trial_count for each in found) <= 60
    assert {each.clicks for each in found if each.is_right} <= {0, 1}


def test_every_kind_is_planted_six_times() -> None:
    kinds = [case.kind for case in CASES]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        ("unit", "missing-base", "cut", "plugin", "rewrite"), 6
    )


def test_an_answer_that_is_as_expected_needs_no_search(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    result = diagnosed(turn, Expectation(should_contain="rex")).result
    assert result is not None
    assert result["result"] == "met"


def test_a_passage_that_is_only_quoted_is_not_yet_the_answer(talk: Talk) -> None:
    turn = talk(
        "Anna works in Leeds. Maria works in Turin.",
        "Where does Anna work?",
        "And the town that Maria has her desk in?",
    )
    assert turn.answer_basis == "quoted"
    result = diagnosed(turn, Expectation(should_contain="Turin")).result
    assert result is not None
    assert result["result"] != "met"


def test_one_of_several_answers_that_differ_is_not_the_answer(talk: Talk) -> None:
    turn = talk("The meeting is on Monday.", "The meeting is on Tuesday.", "When is the meeting?")
    assert "Tuesday" in turn.assistant_preview
    assert turn.answer_status == "no-context"
    found = diagnosed(turn, Expectation(should_contain="Tuesday"))
    first = next(finding for _, finding in ranked_findings(found))
    assert (first["kind"], first["meets"]) == ("unit", True)
    assert "The meeting is on Monday." in first["text"]


def test_a_refusal_may_be_what_is_expected(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "Who has the key?")
    result = diagnosed(turn, Expectation(should_contain="I don't know")).result
    assert result is not None
    assert result["result"] == "met"


def test_earlier_settings_of_the_session_are_tried(talk: Talk) -> None:
    told, asked = "Anna works in Leeds. Maria works in Turin.", "And the town that Maria has her desk in?"
    turn = talk(told, "Where does Anna work?", asked, flags={"enable_quotes": False})
    found = diagnosed(turn, Expectation(should_contain="Turin"))
    (setting,) = [finding for _, finding in ranked_findings(found) if finding["kind"] == "setting"]
    assert setting["text"].startswith("Turn 2 was asked with quotes on; so again: ")
    assert setting["meets"]


def test_without_expectation_units_that_decide_are_found(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    findings = [finding for _, finding in ranked_findings(diagnosed(turn))]
    assert [finding["kind"] for finding in findings][:1] == ["unit"]
    assert "Rex" in findings[0]["text"]


def test_what_the_bounds_leave_out_is_named(talk: Talk) -> None:
    turn = talk("My dog is called Rex.", "What is my dog called?")
    found = diagnosed(turn, Expectation(should_contain="nothing of that"), Bounds(max_trials=1))
    assert found.tried_count == 1
    assert found.result is not None
    assert "other plugins" in found.result["not_tried"]


@pytest.mark.parametrize("case", CASES[:1])
def test_a_finding_tells_what_comes_instead(talk: Talk, case: Planted) -> None:
    expectation = Expectation(should_contain=case.expected, should_not_contain=case.unexpected)
    with planted(talk, case) as turn:
        (proof, first), *_ = ranked_findings(diagnosed(turn, expectation))
    assert case.expected.casefold() in proof.answer.casefold()
    assert first["links"][0]["kind"] == "unit"
    assert proof.trace is not None


@pytest.mark.parametrize(
    ("answer", "wanted", "is_said"),
    [
        ("It weighs  8 KG.", "8 kg", True),
        ("It weighs 18 kg.", "8 kg", False),
        ("It weighs 1.8 kg.", "8 kg", False),
        ("It holds 200 l.", "20", False),
        ("It costs 20,50 euros.", "20", False),
        ("It costs 20, not 30.", "20", True),
        ("Rex's bowl", "rex", True),
        ("加热器重八公斤", "八公斤", True),
        ("Anything.", "", True),
        ("I don't know: nothing I was told or given answers this.", "No", False),
        ("No, it is sold out.", "No", True),
        ("We rent two bikes.", "bike", True),
        ("Both classes are full.", "class", True),
        ("It is unsold.", "sold", False),
        ("The 8kg heater", "kg", True),
        ("المتجر مفتوح", "متجر", True),
    ],
)
def test_a_text_says_whole_numbers_and_words(answer: str, wanted: str, is_said: bool) -> None:
    assert says(answer, wanted) is is_said


def test_a_newer_revision_of_the_base_is_tried(project: Project, handbook: KnowledgeBase) -> None:
    session = create_session(project, base=handbook)
    question = "Where does the ferry to Nore leave from?"
    turn = stored(answer_message(session, TurnCall(message=question)).turn)
    upload = Upload(data=b"The ferry to Nore leaves from gate C.", name="f.md", declared_type=None, source_id="ferries")
    load_source(handbook, upload)
    found = diagnosed(turn, Expectation(should_contain="gate C"))
    ((_, first),) = ranked_findings(found)
    assert (first["kind"], first["meets"]) == ("old-revision", True)
    assert first["text"] == (
        "“Handbook” has a newer revision than the one that was seen; with it: "
        "“The ferry to Nore leaves from gate C. [1]”."
    )
    assert first["advice"] == "Mount revision 4"
    assert [(link["kind"], link["id"]) for link in first["links"]] == [("base", handbook.kb_id)]
    assert (found.result or {})["known"] == []


def test_the_newest_revision_is_no_cause(project: Project, handbook: KnowledgeBase) -> None:
    session = create_session(project, base=handbook)
    turn = stored(answer_message(session, TurnCall(message="Where does the ferry to Nore leave from?")).turn)
    kinds = [finding["kind"] for _, finding in ranked_findings(diagnosed(turn, bounds=Bounds(exhaustive=True)))]
    assert kinds
    assert "old-revision" not in kinds


def test_a_base_that_says_nothing_of_the_answer_is_no_cause(
    talk: Talk, project: Project, handbook: KnowledgeBase
) -> None:
    turn = talk("My dog is called Rex.", "My dog is called Max.", "What is my dog called?")
    expected = Expectation(should_contain="Rex", should_not_contain="Max")
    findings = [finding for _, finding in ranked_findings(diagnosed(turn, expected))]
    assert findings
    assert "missing-base" not in {finding["kind"] for finding in findings}


def test_what_says_the_expected_is_shown_with_its_way(talk: Talk) -> None:
    turn = talk("Anna Lind manages the warehouse.", "Olaf runs the mill.", "Who runs the mill?")
    (cited,) = (diagnosed(turn, Expectation(should_contain="Olaf", should_not_contain="mill")).result or {})["known"]
    assert (cited["text"], cited["place"], cited["rank"]) == ("Olaf runs the mill.", "cited", 1)
    (other,) = (diagnosed(turn, Expectation(should_contain="Anna Lind")).result or {})["known"]
    assert (other["text"], other["place"], other["rank"]) == ("Anna Lind manages the warehouse.", "not-found", None)
    assert (diagnosed(turn, Expectation(should_not_contain="Olaf")).result or {})["known"] is None


def test_a_pinned_plugin_is_one_cause(talk: Talk) -> None:
    case = next(case for case in CASES if case.kind == "plugin")
    with planted(talk, case) as turn:
        found = ranked_findings(diagnosed(turn, bounds=Bounds(exhaustive=True)))
    assert len({proof.position for proof, finding in found if finding["kind"] == "plugin"}) == sum(
        finding["kind"] == "plugin" for _, finding in found
    )


def test_a_plugin_that_failed_gave_no_answer(project: Project) -> None:
    session = create_session(project)
    answer_message(session, TurnCall(message="My dog is called Rex."))
    pinned = TurnCall(message="What is my dog called?", choices=Choices(goal_solver="gs-llm-fast"))
    with pytest.raises(MRPError, match="No language model is configured"):
        answer_message(Session.objects.get(pk=session.pk), pinned)
    found = diagnosed(stored(session.turns.get(turn_index=2)))
    first, *_ = [finding for _, finding in ranked_findings(found) if finding["kind"] == "plugin"]
    assert first["text"].startswith("The solver gs-llm-fast was asked for by name and gave no answer; with gs-")
