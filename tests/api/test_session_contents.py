"""The contents of a session by the API: messages, units, mounts, context loads, the export."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import Settings

from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import note_metadata
from sessions_app.layers import SessionKnowledge
from sessions_app.models import ContextUnit, Message, Session
from sessions_app.models.sessions.session import ForkReason
from tests.api.conftest import Caller
from tests.api.doubles import ModellessDetector, RaisingDetector, registered

TEXT = "# Boarding\n\nBoarding closes ten minutes before departure.\n\n# Dogs\n\nDogs travel on the upper deck.\n"


def every_page(caller: Caller, path: str, key: str) -> list[Any]:
    """Return the rows of all pages, with one row per page."""
    rows: list[Any] = []
    cursor = ""
    while True:
        answer = caller.get(f"{path}{'&' if '?' in path else '?'}limit=1&cursor={cursor}").json()
        assert len(answer[key]) <= 1
        rows += answer[key]
        cursor = answer["next_cursor"]
        if cursor is None:
            return rows


@pytest.mark.rule("DECISION-45", "DECISION-52")
def test_messages_in_order_with_their_turns(editor: Caller, talked: Session) -> None:
    rows = every_page(editor, f"/api/sessions/{talked.session_id}/messages", "messages")
    assert [row["sequence"] for row in rows] == [1, 2, 3, 4]
    assert [row["role"] for row in rows] == ["user", "assistant"] * 2
    turn_ids = list(talked.turns.order_by("turn_index").values_list("request_id", flat=True))
    assert [row["request_id"] for row in rows] == [turn_ids[0], turn_ids[0], turn_ids[1], turn_ids[1]]


@pytest.mark.rule("DECISION-52")
def test_units_with_their_origin_and_life(editor: Caller, talked: Session) -> None:
    path = f"/api/sessions/{talked.session_id}/units"
    editor.chat("My cat is called Tom.", talked.session_id)
    rows = every_page(editor, path, "units")
    assert [row["text"] for row in rows] == ["My dog is called Rex.", "My cat is called Tom."]
    assert editor.get(f"{path}?state=pending").json()["units"] == []
    assert len(editor.get(f"{path}?state=committed").json()["units"]) == 2
    assert editor.get(f"{path}?state=odd").status_code == 400
    one = editor.get(f"{path}/{rows[0]['unit_id']}").json()
    steps = [step["step"] for step in one["steps"]]
    assert steps[:2] == ["staged", "committed"] or set(steps) >= {"staged", "committed"}
    assert one["step_count"] == len(steps)
    assert editor.get(f"{path}/nope").json()["error"]["code"] == "UNIT_NOT_FOUND"


@pytest.mark.rule("DECISION-52")
def test_mounts_newest_first(editor: Caller, talked: Session) -> None:
    kb_id = editor.post("/api/kbs", {"name": "Alpha"}).json()["kb_id"]
    editor.chat("Hello", talked.session_id, kb_id=kb_id)
    rows = every_page(editor, f"/api/sessions/{talked.session_id}/mounts", "mounts")
    assert [row["kb_name"] for row in rows] == ["Alpha", "Default KB"]
    assert rows[0]["until"] is None
    assert rows[1]["until"] is not None


@pytest.mark.rule("SESSION-32", "SESSION-33")
def test_a_context_load_is_known_to_the_next_turn(editor: Caller, talked: Session) -> None:
    path = f"/api/sessions/{talked.session_id}/context"
    answer = editor.post(path, {"content": TEXT, "name": "ferry.md"})
    assert answer.status_code == 200
    loaded = answer.json()
    assert loaded["sourceId"].startswith("ctx-")
    assert loaded["addedUnitCount"] == loaded["unitCount"] > 1
    assert (loaded["droppedUnitCount"], loaded["workspace_dirty"]) == (0, False)
    assert loaded["session_context_unit_count"] == 1 + loaded["addedUnitCount"]
    assert Message.objects.count() == 4
    said = editor.chat("Where do dogs travel?", talked.session_id).json()["choices"][0]["message"]["content"]
    assert "upper deck" in said
    units = ContextUnit.objects.filter(turn__isnull=True)
    assert {unit.source_id for unit in units} == {loaded["sourceId"]}


@pytest.mark.rule("API-12")
def test_the_same_source_again_replaces_it(editor: Caller, talked: Session) -> None:
    path = f"/api/sessions/{talked.session_id}/context"
    first = editor.post(path, {"content": TEXT, "name": "ferry.md", "source_id": "ferry"}).json()
    again = editor.post(path, {"content": TEXT, "name": "ferry.md", "source_id": "ferry"}).json()
    assert again["session_context_unit_count"] == first["session_context_unit_count"]
    changed = TEXT.replace("upper", "lower")
    editor.post(path, {"content": changed, "name": "ferry.md", "source_id": "ferry"})
    said = editor.chat("Where do dogs travel?", talked.session_id).json()["choices"][0]["message"]["content"]
    assert "lower deck" in said
    assert "upper" not in said
    assert "Rex" in editor.chat("What is my dog called?", talked.session_id).json()["choices"][0]["message"]["content"]


def test_unit_ids_are_unique_beside_an_equal_source_id(editor: Caller, talked: Session) -> None:
    """The order of the base's source and the session's makes no difference."""
    for claim, path in (
        ("The pump is blue", "/api/kbs/default/sources"),
        ("The pump leaks", f"/api/sessions/{talked.session_id}/context"),
        ("The pump hums", f"/api/sessions/{talked.session_id}/workspace/sources"),
    ):
        sent = editor.post(path, {"content": f"{claim}.", "name": "manual.txt", "source_id": "manual"})
        assert sent.status_code in (200, 201)
    mounted = editor.post(f"/api/sessions/{talked.session_id}/kb/load", {"kb_id": "default", "discard_draft": True})
    assert mounted.status_code == 200
    hits = SessionKnowledge.of(Session.objects.get(pk=talked.pk)).search({"pump": 1.0}, 9)
    assert {(hit.unit.id, hit.unit.source_id, hit.unit.claim) for hit in hits} == {
        ("manual::chunk-000::unit-000", "manual", "The pump is blue."),
        ("session::manual::chunk-000::unit-000", "manual", "The pump leaks."),
    }


def test_no_base_has_a_source_called_like_what_a_session_loaded(editor: Caller, talked: Session) -> None:
    loaded = editor.post(f"/api/sessions/{talked.session_id}/context", {"content": TEXT, "name": "ferry.md"}).json()
    sent = editor.post("/api/kbs/default/sources", {"content": "x", "name": "x", "source_id": loaded["sourceId"]})
    assert (sent.status_code, sent.json()["error"]["code"]) == (400, "INVALID_SOURCE_ID")


@pytest.mark.rule("DECISION-4", "SESSION-35")
def test_a_surplus_is_refused_and_counted(editor: Caller, talked: Session, settings: Settings) -> None:
    settings.MRPVM_MAX_SESSION_UNITS = 2
    loaded = editor.post(f"/api/sessions/{talked.session_id}/context", {"content": TEXT, "name": "ferry.md"}).json()
    assert loaded["addedUnitCount"] == 1
    assert loaded["droppedUnitCount"] == loaded["unitCount"] - 1


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "INVALID_INPUT"),
        ({"content": "  "}, 400, "INVALID_INPUT"),
        ({"content": 5}, 400, "INVALID_INPUT"),
        ({"content": "x", "source_id": "../x"}, 400, "INVALID_SOURCE_ID"),
        ({"content": "x", "source_id": 5}, 400, "INVALID_SOURCE_ID"),
        ({"content": "x", "seed_detector_plugin": "nope"}, 400, "INVALID_SEED_DETECTOR_PLUGIN"),
    ],
)
def test_a_bad_context_is_refused(editor: Caller, talked: Session, body: Any, status: int, code: str) -> None:
    answer = editor.post(f"/api/sessions/{talked.session_id}/context", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert ContextUnit.objects.count() == 1


@pytest.mark.rule("SESSION-33", "INGEST-11")
@pytest.mark.parametrize(
    ("detector", "status", "code"),
    [(RaisingDetector, 422, "NORMALIZER_VALIDATION_FAILED"), (ModellessDetector, 503, "LLM_NOT_AVAILABLE")],
)
def test_what_cannot_be_read_is_an_error_and_stores_nothing(
    editor: Caller, talked: Session, detector: Any, status: int, code: str
) -> None:
    with registered(detector()) as plugin:
        body = {"content": TEXT, "seed_detector_plugin": plugin.descriptor.id}
        answer = editor.post(f"/api/sessions/{talked.session_id}/context", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert "secret" not in answer.content.decode()
    assert ContextUnit.objects.count() == 1


@pytest.mark.rule("DECISION-33")
def test_limits_of_a_source_hold(editor: Caller, talked: Session, settings: Settings) -> None:
    path = f"/api/sessions/{talked.session_id}/context"
    settings.MRPVM_MAX_SOURCE_UNITS = 1
    answer = editor.post(path, {"content": TEXT, "name": "ferry.md"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "KB_VALIDATION_MAX_UNITS_PER_SOURCE")
    settings.MRPVM_MAX_SOURCE_UNITS, settings.MRPVM_MAX_SOURCE_CHUNKS = 100, 1
    answer = editor.post(path, {"content": TEXT, "name": "ferry.md"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "KB_INGEST_TOO_MANY_CHUNKS")
    settings.MRPVM_MAX_UPLOAD_BYTES = 10
    answer = editor.post(path, {"content": TEXT, "name": "ferry.md"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "KB_VALIDATION_TOO_LARGE")
    assert ContextUnit.objects.count() == 1


def test_the_export_for_people(editor: Caller, talked: Session) -> None:
    editor.patch(f"/api/sessions/{talked.session_id}", {"title": "Pets\n# and more"})
    answer = editor.get(f"/api/sessions/{talked.session_id}/export?format=markdown")
    text = answer.content.decode()
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{talked.session_id}.md"'
    assert text.startswith("# Pets # and more\n")
    assert text.count("## User") == text.count("## Assistant") == 2
    assert "My dog is called Rex." in text


def test_the_export_for_programs(editor: Caller, talked: Session) -> None:
    answer = editor.get(f"/api/sessions/{talked.session_id}/export?format=json")
    held = json.loads(answer.content)
    assert held["format"] == "mrpvm-session"
    assert [len(held[key]) for key in ("messages", "units", "mounts", "turns")] == [4, 1, 1, 2]
    assert held["remembered"] == []
    editor.chat("/remember The key hangs left.", talked.session_id)
    staged = {"name": "a.txt", "content": "Boats are red."}
    source_id = editor.post(f"/api/sessions/{talked.session_id}/workspace/sources", staged).json()["sourceId"]
    assert held["session"]["forked_from"] is None
    (kept,) = json.loads(editor.get(f"/api/sessions/{talked.session_id}/export?format=json").content)["remembered"]
    assert (kept["content"], kept["domain"], kept["status"]) == ("The key hangs left.", "user_profile", "active")
    editor.patch(f"/api/sessions/{talked.session_id}", {"enable_query_rewriting": False})
    note_metadata(talked, {"topic": "pets"})
    Session.objects.filter(pk=talked.pk).update(summary={"through": 2, "sentences": [[1, "Rex."]], "origin": "rules"})
    held = json.loads(editor.get(f"/api/sessions/{talked.session_id}/export?format=json").content)
    told = held["session"]
    assert (told["flags"], told["metadata"]) == ({"enable_query_rewriting": False}, {"topic": "pets"})
    assert told["summary"]["sentences"] == [[1, "Rex."]]
    assert held["memory"]["turn_count"] == 2
    assert [row["sourceId"] for row in held["draft_sources"]] == [source_id]
    assert held["turns"][1]["seed_detector_plugin"] == "sd-symbolic"
    fork = fork_session(talked, 2, ForkReason.EDITED)
    forked = json.loads(editor.get(f"/api/sessions/{fork.session_id}/export?format=json").content)
    origin = {"session_id": talked.session_id, "sequence": 2, "reason": "edited"}
    assert (forked["session"]["forked_from"], forked["draft_sources"]) == (origin, [])
    assert editor.get(f"/api/sessions/{talked.session_id}/export?format=xml").status_code == 400


@pytest.mark.usefixtures("known_keys")
@pytest.mark.parametrize(("path", "count"), [("messages", 2), ("units", 2), ("mounts", 2), ("export?format=json", 9)])
def test_contents_cost_the_same_for_any_number_of_rows(
    editor: Caller,
    talked: Session,
    path: str,
    count: int,
    django_assert_num_queries: Callable[[int], Any],
) -> None:
    editor.get(f"/api/sessions/{talked.session_id}/{path}")  # a session's frozen files are read once per process
    for _ in range(2):
        with django_assert_num_queries(count):  # the session, and one query per list
            assert editor.get(f"/api/sessions/{talked.session_id}/{path}").status_code == 200
        editor.chat("My cat is called Tom.", talked.session_id)
