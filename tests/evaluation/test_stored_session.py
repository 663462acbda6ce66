"""A stored session gives the same answers to a story's questions as the evaluation in memory."""

import pytest

from bench.evaluation.session import EvaluatedSession
from bench.evaluation.suites import DEVELOPMENT, Suite, load_suites
from sessions_app import shutdown
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.ingest.load import Upload, load_context
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn

SUITES = {suite.suite_id: suite for suite in load_suites(DEVELOPMENT)}


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES.keys())
def test_stored_sessions_give_the_evaluated_answers(suite: Suite) -> None:
    shutdown.reset()
    session = create_session(ensure_default_project())
    load_context(session, Upload(name=suite.story_name, data=suite.story.encode()))
    with EvaluatedSession() as evaluated:
        evaluated.load(suite.story, suite.story_name)
        for question in suite.questions:
            session.refresh_from_db()
            stored = run_turn(session, TurnCall(message=question.input)).outcome
            expected = evaluated.say(question.input)
            assert stored.answer is not None
            assert expected.answer is not None
            assert stored.answer.basis == expected.answer.basis, question.input
            if expected.answer.basis != "quoted":  # the two searches order weak matches differently
                assert stored.answer_text == expected.answer_text, question.input


@pytest.mark.usefixtures("transactional_db")
def test_a_correction_is_the_later_one_of_two_stored_turns() -> None:
    shutdown.reset()
    session = create_session(ensure_default_project())
    said = ""
    for message in ("My dog is called Rex.", "Actually, my dog is called Max.", "What is my dog called?"):
        session.refresh_from_db()
        said = run_turn(session, TurnCall(message=message)).outcome.answer_text
    assert said == "Actually, my dog is called Max. [1]"
