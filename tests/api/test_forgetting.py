"""Forgetting by the API and the command; every answer is validated against the schema."""

from collections.abc import Callable
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from sessions_app.experiments.running import experiments as running
from sessions_app.management.commands import experiment
from sessions_app.models import Experiment, Session
from tests.api.conftest import Caller


@pytest.fixture
def admin(caller: Callable[..., Caller]) -> Caller:
    return caller("admin")


def test_a_plan_is_confirmed_and_proved(admin: Caller, talked: Session) -> None:
    body = {"kind": "message", "session_id": talked.session_id, "sequence": 1, "wait_ms": 60_000}
    plan = admin.post("/api/forget/plan", body)
    assert plan.status_code == 201, plan.content
    found = plan.json()
    assert (found["status"], found["subject"]["sequence"]) == ("planned", 1)
    assert {place["place"] for place in found["places"]} >= {"messages", "context units", "layer units"}
    wrong = admin.post("/api/forget", {"forgetting_id": found["forgetting_id"], "confirm": "something"})
    assert wrong.status_code == 400
    asked = {"forgetting_id": found["forgetting_id"], "confirm": found["name"], "wait_ms": 60_000}
    done = admin.post("/api/forget", asked)
    assert done.status_code == 202, done.content
    certificate = done.json()
    assert (certificate["status"], certificate["name"]) == ("finished", "")
    assert {place["after"] for place in certificate["places"]} == {0}
    assert admin.get(f"/api/forget/{found['forgetting_id']}").json() == certificate
    assert [item["forgetting_id"] for item in admin.get("/api/forget").json()["forgettings"]] == [
        found["forgetting_id"]
    ]
    again = admin.post("/api/forget", asked)
    assert again.json()["error"]["code"] == "FORGETTING_NOT_PLANNED"
    stopped = admin.post(f"/api/forget/{found['forgetting_id']}/cancel")
    assert stopped.json()["error"]["code"] == "FORGETTING_NOT_RUNNING"


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_only_an_admin_sees_or_does_it(caller: Callable[..., Caller], talked: Session, role: str) -> None:
    client = caller(role)
    assert client.get("/api/forget").status_code == 403
    assert client.post("/api/forget/plan", {"kind": "text", "text": "My dog"}).status_code == 403


def test_what_is_not_there_is_said(admin: Caller, talked: Session) -> None:
    missing = admin.post("/api/forget/plan", {"kind": "message", "session_id": talked.session_id, "sequence": 99})
    assert missing.status_code == 404
    assert admin.post("/api/forget/plan", {"kind": "text", "text": "."}).status_code == 400
    assert admin.get("/api/forget/forget-1").json()["error"]["code"] == "FORGETTING_NOT_FOUND"


def test_the_command_shows_and_removes(talked: Session) -> None:
    told = StringIO()
    call_command("forget", "session", talked.session_id, "--plan", stdout=told)
    assert "is planned" in told.getvalue()
    assert Session.objects.filter(pk=talked.pk).exists()
    with pytest.raises(CommandError, match="Nothing was forgotten"):
        call_command("forget", "session", talked.session_id, "--confirm", "no", stdout=told)
    call_command("forget", "session", talked.session_id, "--confirm", talked.label, stdout=told)
    assert "is finished" in told.getvalue()
    assert not Session.objects.filter(pk=talked.pk).exists()


def test_nothing_is_forgotten_where_nobody_can_type(talked: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))
    with pytest.raises(CommandError, match=r"Nothing was forgotten.*--confirm"):
        call_command("forget", "session", talked.session_id, stdout=StringIO())
    assert Session.objects.filter(pk=talked.pk).exists()
    assert talked.project.forgettings.get().status == "cancelled"


def test_the_command_tries_and_searches(talked: Session) -> None:
    def said(*arguments: str) -> str:
        told = StringIO()
        call_command("experiment", *arguments[:1], talked.session_id, "2", *arguments[1:], stdout=told)
        return told.getvalue()

    assert "succeeded" in said("try", "--message", "Who is Rex?")
    assert "decides the answer" in said("diagnose")
    assert "Since turn 1" in said("bisect")
    for number in ("9", "²"):
        with pytest.raises(CommandError, match="no turn"):
            call_command("experiment", "try", talked.session_id, number)


def test_an_interrupted_command_stops_its_experiment(talked: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment, "time", SimpleNamespace(sleep=interrupt))
    monkeypatch.setattr(running, "run_experiment", lambda experiment: None)
    with pytest.raises(CommandError, match="kept"):
        call_command("experiment", "diagnose", talked.session_id, "2")
    assert Experiment.objects.get().cancel_requested_at is not None
