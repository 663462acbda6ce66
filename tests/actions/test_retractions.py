"""Retracting, hiding, correcting and restoring a unit: the effect on later turns, and the record of earlier ones."""

import pytest
from django.contrib.auth.models import User

from mrpvm.errors import Conflict, InvalidInput, NotFound
from sessions_app.actions.knowledge.bases import create_base, ensure_default_base
from sessions_app.actions.knowledge.forks import save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.actions.sessions.retractions import restore_unit, retract_unit
from sessions_app.actions.sessions.session import create_session
from sessions_app.background.doctor import findings
from sessions_app.experiments.replays.replay import replay
from sessions_app.ingest.load import Upload, correct_unit, load_source
from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.queries.knowledge.provenance import life_of, provenance
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.experiments.conftest import stored

HANDBOOK = "Vehicles board at gate B. Boarding closes at noon."


@pytest.fixture
def actor(live_project: Project) -> User:
    return User.objects.create(username="ada")


@pytest.fixture
def session(live_project: Project) -> Session:
    base = create_base(live_project, "Handbook")
    load_source(base, Upload(name="handbook.txt", data=HANDBOOK.encode()))
    base.refresh_from_db()
    return create_session(live_project, base=base)


def said(session: Session, message: str) -> ExplainabilityTurn:
    run_turn(session, TurnCall(message=message))
    return session.turns.order_by("-turn_index")[0]


def fresh(session: Session) -> Session:
    return Session.objects.select_related("draft", "journal", "mounted_kb", "mounted_layer").get(pk=session.pk)


def cited(turn: ExplainabilityTurn) -> str:
    return turn.response_document["groups"][0]["citedUnitIds"][0]


def unit_id_of(session: Session, text: str) -> str:
    return session.context_units.get(claim=text).unit_id


def test_a_retracted_statement_is_known_no_more(session: Session, actor: User) -> None:
    told = said(session, "My dog is called Rex.")
    asked = said(session, "What is my dog called?")
    unit_id = unit_id_of(session, "My dog is called Rex.")
    now = retract_unit(session, unit_id, actor)
    assert now.unit_count == 0
    assert said(session, "What is my dog called?").outcome == "no-answer"
    found = provenance(session, unit_id)
    assert (found.state, found.text, found.turn, found.is_retracted) == (
        "retracted", "My dog is called Rex.", told, True,
    )  # fmt: skip
    newest = life_of(session, unit_id)[0][0]
    assert (newest.step, newest.turn, newest.reason) == ("removed", None, "retracted by ada")
    assert replay(stored(asked)).result == "identical"
    restore_unit(session, unit_id, actor)
    assert said(session, "What is my dog called?").assistant_preview.startswith("My dog is called Rex.")
    assert session.context_units.get(unit_id=unit_id).turn == told
    assert list(findings()) == []


@pytest.mark.parametrize("is_saved", [False, True])
def test_a_saved_statement_is_retracted_and_restored(session: Session, actor: User, is_saved: bool) -> None:
    said(session, "My dog is called Rex.")
    if is_saved:
        save_session_kb(session)
    session = fresh(session)
    unit_id = unit_id_of(session, "My dog is called Rex.")
    retract_unit(session, unit_id, actor)
    assert said(session, "What is my dog called?").outcome == "no-answer"
    mount_base(session, ensure_default_base(session.project), reason="mount-page")
    restore_unit(session, unit_id, actor)
    assert said(fresh(session), "What is my dog called?").outcome == "answered"
    assert list(findings()) == []


def test_a_unit_of_the_base_is_hidden_from_one_session(session: Session, actor: User) -> None:
    other = create_session(session.project, base=session.mounted_kb)
    asked = said(session, "Where do vehicles board?")
    unit_id = cited(asked)
    retract_unit(session, unit_id, actor)
    assert said(session, "Where do vehicles board?").outcome != "answered"
    assert said(other, "Where do vehicles board?").outcome == "answered"
    assert provenance(fresh(session), unit_id).state.label == "hidden from this session"
    assert replay(stored(asked)).result == "identical"
    with pytest.raises(NotFound, match="does not see"):
        retract_unit(session, unit_id, actor)
    restore_unit(session, unit_id, actor)
    assert said(session, "Where do vehicles board?").assistant_preview == asked.assistant_preview
    assert [step.reason for step in life_of(session, unit_id)[0] if step.turn is None] == [
        "shown again by ada", "hidden from this session by ada",
    ]  # fmt: skip
    assert list(findings()) == []


@pytest.mark.parametrize(
    ("told", "question", "wrong", "right"),
    [
        ("My dog is called Rex.", "What is my dog called?", "My dog is called Rex.", "My dog is called Max."),
        ("Hello.", "Where do vehicles board?", "Vehicles board at gate B.", "Vehicles board at gate D."),
    ],
)
def test_a_correction_answers_from_the_next_turn_on(
    session: Session, actor: User, told: str, question: str, wrong: str, right: str
) -> None:
    said(session, told)
    asked = said(session, question)
    assert asked.assistant_preview.startswith(wrong)
    correct_unit(session, cited(asked), right, actor)
    again = said(session, question)
    assert again.assistant_preview.startswith(right)
    assert wrong not in again.assistant_preview
    (newest,) = [step for step in life_of(session, cited(again))[0] if step.turn is None]
    assert newest.reason == f"correction by ada of “{wrong}”"
    assert life_of(session, cited(asked))[0][0].step == "removed"
    assert list(findings()) == []


@pytest.mark.parametrize(("text", "refusal"), [("  ", "Write what"), ("My dog is called Rex.", "knows that already")])
def test_a_correction_that_changes_nothing_is_refused(session: Session, actor: User, text: str, refusal: str) -> None:
    said(session, "My dog is called Rex.")
    unit_id = unit_id_of(session, "My dog is called Rex.")
    with pytest.raises(InvalidInput, match=refusal):
        correct_unit(session, unit_id, text, actor)
    with pytest.raises(Conflict, match="is not retracted"):
        restore_unit(session, unit_id, actor)
    assert session.context_units.count() == 1
