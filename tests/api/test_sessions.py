"""Sessions by the API: created, listed, read, renamed, ended."""

import time
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from sessions_app.actions.sessions import slots
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ContextUnit, ExplainabilityTurn, KBMount, Project, Session
from tests.api.conftest import Caller


def ids(answer: Any) -> list[str]:
    """Return the session ids of a page."""
    assert answer.status_code == 200
    return [row["session_id"] for row in answer.json()["sessions"]]


@pytest.mark.rule("DECISION-6", "DECISION-16", "SESSION-6")
def test_a_session_is_made_with_its_choices(editor: Caller) -> None:
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    answer = editor.post(
        "/api/sessions",
        {
            "title": " Pets ", "kb_id": kb_id, "planner_plugin": "planner-default", "kb_plugin": "kb-fast",
            "seed_detector_plugin": "sd-symbolic", "goal_solver_plugin": "gs-symbolic", "deliberation_level": 2,
            "model": "fast",
        },
    )  # fmt: skip
    assert answer.status_code == 201
    made = answer.json()
    assert made["session_id"].startswith("sess-")
    assert len(made["session_id"]) == 5 + 32
    assert (made["title"], made["kb_name"], made["deliberation_level"], made["model"]) == ("Pets", "Alpha", 2, "fast")
    assert made.items() >= {"kb_plugin": "kb-fast", "expires_at": None, "workspace_dirty": False}.items()


@pytest.mark.rule("DECISION-46")
def test_a_session_is_made_with_its_planners_statistics_frozen(editor: Caller) -> None:
    for body, is_frozen in (({"freeze_planner_statistics": True}, True), ({}, False)):
        made = editor.post("/api/sessions", body).json()
        read = editor.get(f"/api/sessions/{made['session_id']}").json()
        assert made["planner_statistics_frozen"] is read["planner_statistics_frozen"] is is_frozen
    refused = editor.post("/api/sessions", {"freeze_planner_statistics": "yes"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "INVALID_INPUT")


@pytest.mark.rule("SESSION-1", "SESSION-23")
def test_a_session_is_made_of_nothing(editor: Caller) -> None:
    for body in ("{}", ""):
        made = editor.post("/api/sessions", body)
        assert made.status_code == 201
    assert made.json()["planner_plugin"] == "planner-default"
    assert made.json()["seed_detector_plugin"] is None


@pytest.mark.rule("SESSION-8", "SESSION-26")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"kb_id": "kb-none"}, 404, "KB_NOT_FOUND"),
        ({"planner_plugin": "nope"}, 400, "INVALID_PLANNER_PLUGIN"),
        ({"deliberation_level": 9}, 400, "INVALID_DELIBERATION_LEVEL"),
        ({"title": "x" * 201}, 400, "INVALID_INPUT"),
        ({"title": 5}, 400, "INVALID_INPUT"),
        ({"model": ["x"]}, 400, "INVALID_INPUT"),
    ],
)
def test_a_refused_session_leaves_nothing(editor: Caller, body: Any, status: int, code: str) -> None:
    answer = editor.post("/api/sessions", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not Session.objects.exists()


@pytest.mark.rule("SESSION-4")
def test_the_metadata_counts(editor: Caller, talked: Session) -> None:
    found = editor.get(f"/api/sessions/{talked.session_id}").json()
    assert found["message_count"] == 4
    assert found["session_context_unit_count"] == 1
    assert found["pending_turn_context_unit_count"] == 0
    assert found["explainability_turn_count"] == 2
    assert found["status"] == "active"
    assert found["label"] == "My dog is called Rex."
    ContextUnit.objects.update(state="pending")
    ExplainabilityTurn.objects.filter(turn_index=2).update(status="failed")
    found = editor.get(f"/api/sessions/{talked.session_id}").json()
    assert (found["pending_turn_context_unit_count"], found["status"]) == (1, "failed")


@pytest.mark.rule("SESSION-4")
def test_the_last_save_is_the_sessions_own(editor: Caller, talked: Session, session_id: str) -> None:
    """A save by another session into the same base does not change it."""

    def saved(which: str) -> Any:
        found = editor.get(f"/api/sessions/{which}").json()["workspace_last_saved_at"]
        listed = {row["session_id"]: row for row in editor.get("/api/sessions").json()["sessions"]}
        assert listed[which]["workspace_last_saved_at"] == found
        assert editor.get(f"/api/sessions/{which}/workspace").json()["workspace"]["lastSavedAt"] == found
        return found

    assert (saved(session_id), saved(talked.session_id)) == (None, None)
    assert editor.post(f"/api/sessions/{talked.session_id}/kb/save", {}).status_code == 200
    first = saved(talked.session_id)
    assert first is not None
    assert saved(session_id) is None
    assert editor.post(f"/api/sessions/{talked.session_id}/kb/load", {"kb_id": "default"}).status_code == 200
    assert saved(talked.session_id) == first
    assert editor.post(f"/api/sessions/{session_id}/kb/fork", {}).status_code == 200
    assert saved(session_id) is not None


@pytest.mark.rule("DECISION-52", "SESSION-2", "SESSION-4")
def test_the_metadata_names_all_that_a_session_reports(editor: Caller, talked: Session) -> None:
    """The fields of the predecessors are not among them."""
    found = editor.get(f"/api/sessions/{talked.session_id}").json()
    names = (
        "session_id created_at last_activity_at expires_at message_count session_context_unit_count"
        " pending_turn_context_unit_count planner_plugin seed_detector_plugin kb_plugin goal_solver_plugin"
        " deliberation_level model kb_id kb_name workspace_dirty workspace_source_count workspace_unit_count"
        " workspace_last_saved_at explainability_turn_count"
    )
    assert set(names.split()) <= set(found)
    assert not {"processing_mode", "retrieval_profile"} & set(found)
    assert (found["kb_name"], found["planner_plugin"], found["goal_solver_plugin"]) == (
        "Default KB", "planner-default", "gs-symbolic",
    )  # fmt: skip
    assert found["last_activity_at"] > found["created_at"]


@pytest.mark.rule("SESSION-5")
def test_what_one_session_holds_is_not_found_in_another(editor: Caller, talked: Session, session_id: str) -> None:
    turn, unit = talked.turns.get(turn_index=1), talked.context_units.get()
    paths = (f"turns/{turn.request_id}", f"turns/{turn.request_id}/details/frame-0", f"units/{unit.unit_id}")
    for path in paths:
        assert editor.get(f"/api/sessions/{talked.session_id}/{path}").status_code == 200
        assert editor.get(f"/api/sessions/{session_id}/{path}").status_code == 404
    assert editor.post(f"/api/sessions/{session_id}/{paths[0]}/cancel").status_code == 404
    for key in ("messages", "units"):
        assert editor.get(f"/api/sessions/{session_id}/{key}").json()[key] == []
    assert editor.get(f"/api/sessions/{session_id}/explainability").json()["turns"] == []
    answer = editor.chat("What is my dog called?", session_id).json()
    assert "Rex" not in answer["choices"][0]["message"]["content"]


CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "title": ("patch", "", {"title": "Pets"}),
    "policies": ("patch", "", {"enable_query_rewriting": False}),
    "models": ("patch", "/model-config", {"temperature": 0.5}),
    "load": ("post", "/kb/load", {"kb_id": "default"}),
    "mount": ("post", "/kb/mount", {"kb_id": "default"}),
    "save": ("post", "/kb/save", {"name": "Pets"}),
    "fork": ("post", "/kb/fork", {"name": "Pets"}),
    "context": ("post", "/context", {"content": "The pump is blue.", "name": "pump.txt"}),
    "source": ("post", "/workspace/sources", {"content": "The pump is blue.", "name": "pump.txt"}),
    "reload": ("post", "/skills/reload", {}),
}


@pytest.mark.rule("DECISION-47")
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_a_session_is_refused_while_a_turn_runs(editor: Caller, talked: Session, change: str) -> None:
    """It succeeds after the turn has ended."""
    method, path, body = CHANGES[change]
    address = f"/api/sessions/{talked.session_id}{path}"
    running = ExplainabilityTurn.objects.create(
        session=talked, turn_index=9, status="running", user_message="x",
        lease_until=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    before = everything_of(talked)
    refused = getattr(editor, method)(address, body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "TURN_IN_PROGRESS")
    assert refused.json()["error"]["details"] == {"running_request_id": running.request_id}
    assert everything_of(talked) == before
    ExplainabilityTurn.objects.filter(pk=running.pk).update(status="failed", lease_until=None)
    assert getattr(editor, method)(address, body).status_code == 200
    assert everything_of(talked) != before


PATIENT: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    **{change: (method, path, {**body, "wait_ms": 20_000}) for change, (method, path, body) in CHANGES.items()},
    "memory": ("delete", "/memory?wait_ms=20000", None),
    "removal": ("delete", "/workspace/sources/pump?wait_ms=20000", None),
    "file": ("upload", "/context", None),
    "staged file": ("upload", "/workspace/sources", None),
}


@pytest.mark.rule("DECISION-19", "DECISION-47")
@pytest.mark.parametrize("change", PATIENT)
def test_what_changes_a_session_waits_when_asked(
    editor: Caller, session_id: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The turn ends while the request waits."""
    method, path, body = PATIENT[change]
    address = f"/api/sessions/{session_id}"
    editor.post(f"{address}/workspace/sources", {"content": "The pump hums.", "name": "pump", "source_id": "pump"})
    if change in ("load", "mount"):
        editor.post(f"{address}/kb/save", {})
    running = ExplainabilityTurn.objects.create(
        session=Session.objects.get(session_id=session_id), turn_index=9, status="running", user_message="x",
        lease_until=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        ExplainabilityTurn.objects.filter(pk=running.pk).update(status="failed", lease_until=None)

    monkeypatch.setattr(slots, "time", SimpleNamespace(monotonic=time.monotonic, sleep=wait))
    if method == "upload":
        answer = editor.upload(f"{address}{path}", "notes.md", b"The pump is blue.", wait_ms="20000")
    else:
        answer = getattr(editor, method)(f"{address}{path}", *([] if body is None else [body]))
    assert (answer.status_code, len(waits)) == (204 if change == "memory" else 200, 1)


def everything_of(session: Session) -> list[Any]:
    """Return the session's row and the numbers of its events, mounts and units."""
    counts = [rows.count() for rows in (session.events, session.context_units)]
    return [Session.objects.filter(pk=session.pk).values().get(), KBMount.objects.count(), *counts]


@pytest.mark.rule("DECISION-16")
def test_a_title_is_given_and_taken_away(editor: Caller, talked: Session) -> None:
    path = f"/api/sessions/{talked.session_id}"
    assert editor.patch(path, {"title": "<script>alert(1)</script>"}).json()["label"] == "<script>alert(1)</script>"
    assert editor.patch(path, {"title": ""}).json()["title"] is None
    assert editor.patch(path, {"title": None}).json()["title"] is None
    assert editor.patch(path, {}).json()["error"]["code"] == "INVALID_INPUT"
    assert editor.patch(path, {"title": "x" * 201}).status_code == 400


@pytest.mark.rule("SESSION-16", "SESSION-18", "API-2")
def test_ending_is_idempotent(editor: Caller, talked: Session) -> None:
    path = f"/api/sessions/{talked.session_id}"
    for _ in range(2):
        answer = editor.delete(path)
        assert (answer.status_code, answer.content) == (204, b"")
    assert editor.delete("/api/sessions/sess-never").status_code == 204
    assert editor.get(path).json()["error"]["code"] == "SESSION_NOT_FOUND"
    assert editor.chat("Hello", talked.session_id).status_code == 404
    assert ids(editor.get("/api/sessions")) == []


@pytest.fixture
def many(editor: Caller, project: Project) -> list[str]:
    """Return the ids of seven sessions, the latest activity first; three have the same time."""
    made = [create_session(project, title=f"Title {number}") for number in range(7)]
    base = timezone.now() - timedelta(days=1)
    for number, row in enumerate(made):
        Session.objects.filter(pk=row.pk).update(last_activity_at=base + timedelta(minutes=min(number, 4)))
    return [row.session_id for row in reversed(made)]


@pytest.mark.rule("DECISION-22")
def test_pages_follow_each_other_without_gap_or_repeat(editor: Caller, project: Project, many: list[str]) -> None:
    seen: list[str] = []
    path = "/api/sessions?limit=2"
    while True:
        answer = editor.get(path)
        seen += ids(answer)
        if len(seen) == 4:
            create_session(project, title="comes in between")
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            break
        path = f"/api/sessions?limit=2&cursor={cursor}"
    assert seen == many


@pytest.mark.rule("DECISION-22")
def test_filters(editor: Caller, project: Project, many: list[str]) -> None:
    assert ids(editor.get("/api/sessions?q=title 3")) == [many[3]]
    assert ids(editor.get(f"/api/sessions?q={many[0][:20]}")) == [many[0]]
    assert ids(editor.get("/api/sessions?q=100%25")) == []
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    mounted = editor.post("/api/sessions", {"kb_id": kb_id}).json()["session_id"]
    assert ids(editor.get(f"/api/sessions?kb_id={kb_id}")) == [mounted]
    assert ids(editor.get("/api/sessions?kb_id=default")) == many
    Session.objects.filter(session_id=many[0]).update(expires_at=timezone.now() - timedelta(seconds=1))
    ExplainabilityTurn.objects.create(
        session=Session.objects.get(session_id=many[1]), turn_index=1, status="interrupted", user_message="x"
    )
    ExplainabilityTurn.objects.create(
        session=Session.objects.get(session_id=many[2]), turn_index=1, status="running", user_message="x"
    )
    assert ids(editor.get("/api/sessions?status=expired")) == [many[0]]
    assert ids(editor.get("/api/sessions?status=failed")) == [many[1]]
    assert ids(editor.get("/api/sessions?status=running")) == [many[2]]
    assert ids(editor.get("/api/sessions?status=active")) == [mounted, *many[3:]]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=x", "cursor=x", "cursor=W10", "cursor=WzFd", "status=odd", "q=%00",
     "cursor=WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAwIiwxXQ", "cursor=WyIyMDI2LTAxLTAxVDAwOjAwOjAwIiwxXQ"],
)  # fmt: skip
def test_a_bad_query_is_refused(editor: Caller, query: str) -> None:
    answer = editor.get(f"/api/sessions?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_INPUT")


@pytest.mark.usefixtures("known_keys")
def test_lists_cost_the_same_for_any_number_of_rows(
    editor: Caller, many: list[str], django_assert_num_queries: Callable[[int], Any], known_keys: None
) -> None:
    editor.get("/api/sessions")
    for limit in (1, 7):
        with django_assert_num_queries(1):
            assert len(ids(editor.get(f"/api/sessions?limit={limit}"))) == limit
    editor.get(f"/api/sessions/{many[0]}")  # its frozen files are read once per process
    with django_assert_num_queries(1):
        editor.get(f"/api/sessions/{many[0]}")


def test_a_turn_may_leave_the_preferences_as_they_are(editor: Caller) -> None:
    choices = {"goal_solver_plugin": "gs-symbolic", "deliberation_level": 2}
    session_id = editor.chat("My dog is called Rex.", remember_choices=False, **choices).json()["session_id"]
    read = editor.get(f"/api/sessions/{session_id}").json()
    assert (read["goal_solver_plugin"], read["deliberation_level"]) == (None, 0)
    editor.chat("My cat is called Tom.", session_id, **choices)
    read = editor.get(f"/api/sessions/{session_id}").json()
    assert (read["goal_solver_plugin"], read["deliberation_level"]) == ("gs-symbolic", 2)
