"""POST /api/chat/completions with `stream`, event by event from a real server."""

import http.client
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from mrpvm.trace.events import BranchFailed
from mrpvm.trace.events import Event as MachineEvent
from sessions_app import shutdown
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.api.turns.progress import progress_of
from sessions_app.models import ExplainabilityTurn, Message, Project, Session
from sessions_app.turns import pipeline
from tests.api.conftest import Caller
from tests.api.doubles import HeldSolver, RaisingDetector, WaitingSolver, registered
from tests.live import LiveServer

StreamEvent = tuple[str, dict[str, Any]]
PATIENCE_SECONDS = 10


class Streamed:
    """A streamed answer that is read while it arrives."""

    def __init__(self, server: LiveServer, caller: Caller, **body: Any) -> None:
        self.connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_SECONDS)
        sent = {"messages": [{"role": "user", "content": body.pop("message")}], "stream": True, **body}
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **caller.headers}
        self.connection.request("POST", "/api/chat/completions", json.dumps(sent), headers)
        self.answer = self.connection.getresponse()

    def frames(self) -> Iterator[str]:
        """Return the frames, comments included, as they arrive."""
        lines: list[str] = []
        for raw in self.answer:
            line = raw.decode().rstrip("\n")
            if line:
                lines.append(line)
            elif lines:
                yield "\n".join(lines)
                lines = []

    def events(self) -> Iterator[StreamEvent]:
        """Return the events; each has one line of data."""
        for frame in self.frames():
            if frame.startswith(":"):
                continue
            name, data = frame.split("\n")
            yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))

    def leave(self) -> None:
        """Close the connection before the end."""
        self.connection.sock.close()
        self.answer.close()
        self.connection.close()


@pytest.fixture
def stream(project: Project, live_asgi: LiveServer, editor: Caller) -> Callable[..., Streamed]:
    """Return a function that starts a stream."""
    return lambda message, **body: Streamed(live_asgi, editor, message=message, **body)


def until(holds: Callable[[], bool]) -> None:
    """Wait until the condition holds; fail after the test's time limit."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        Event().wait(0.01)


@pytest.mark.rule("DECISION-21", "TURN-18", "API-4", "API-14", "API-16")
def test_events_come_in_order_and_agree(stream: Callable[..., Streamed]) -> None:
    streamed = stream("My dog is called Rex.", include=["response_markdown"])
    assert streamed.answer.status == 200
    assert streamed.answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert streamed.answer.headers["Cache-Control"] == "no-store, no-transform"
    events = list(streamed.events())
    names = [name for name, _ in events]
    progress = names.count("progress")
    deltas = names.count("response.delta")
    assert progress > 2
    assert deltas >= 1
    assert names == ["progress"] * progress + ["response.meta"] + ["response.delta"] * deltas + ["response.completed"]
    whole = events[-1][1]
    text = "".join(data["delta"] for name, data in events if name == "response.delta")
    assert text == whole["choices"][0]["message"]["content"] == Message.objects.get(role="assistant").content
    assert whole["response_markdown"]
    ids = {data["requestId"] for name, data in events if name == "progress"}
    ids |= {events[progress][1]["request_id"], whole["request_id"], streamed.answer.headers["X-Request-Id"]}
    assert ids == {ExplainabilityTurn.objects.get().request_id}


@pytest.mark.rule("DECISION-43")
def test_the_last_event_says_that_the_session_had_expired(stream: Callable[..., Streamed], editor: Caller) -> None:
    editor.chat("My dog is called Rex.", "mine", conversation_history=[])
    Session.objects.update(expired_at=timezone.now())
    name, whole = list(stream("What is my dog called?", session_id="mine").events())[-1]
    assert (name, whole["warnings"]) == ("response.completed", ["session_expired_restarted"])


@pytest.mark.rule("API-15")
def test_progress_says_what_happens_and_where(stream: Callable[..., Streamed]) -> None:
    told = stream("My dog is called Rex. My cat is called Tom.")
    session_id = list(told.events())[-1][1]["session_id"]
    events = stream("What is my dog called? What is my cat called?", session_id=session_id).events()
    progress = [data for name, data in events if name == "progress"]
    everywhere = {"timestamp", "requestId", "sessionId", "frameId", "frameDepth", "type", "event", "message"}
    assert all(everywhere <= set(data) for data in progress)
    assert {data["sessionId"] for data in progress} == {session_id}
    assert {data["type"] for data in progress} <= {"request", "stage", "planner", "frame", "validation", "response"}
    assert {data["event"] for data in progress} <= {"start", "finish", "info", "fanout", "retry", "ready"}
    assert (progress[0]["type"], progress[0]["event"]) == ("request", "start")
    assert (progress[-1]["type"], progress[-1]["event"]) == ("response", "ready")
    opened = [data for data in progress if data["event"] == "fanout"]
    assert [(data["frameId"], data["frameDepth"], data["purpose"]) for data in opened] == [
        ("frame-0.1", 1, "parallel-intent"), ("frame-0.2", 1, "parallel-intent"),
    ]  # fmt: skip
    started = {(data["stage"], data["pluginId"]) for data in progress if data["type"] == "stage" and "stage" in data}
    assert {("seed-detector", "sd-symbolic"), ("goal-solver", "gs-symbolic")} <= started
    finished = [data for data in progress if data["event"] == "finish"]
    assert all({"status", "llmCalls", "sufficient", "model", "error"} <= set(data) for data in finished)
    planned = {(data["phase"], data["plannerPluginId"]) for data in progress if "phase" in data}
    assert planned == {("post-seed", "planner-default"), ("post-kb", "planner-default")}
    tried = [data for data in progress if "kbPluginId" in data]
    assert {(data["pluginId"], data["plannerPluginId"]) for data in tried} == {("gs-symbolic", "planner-default")}
    assert all(data["kbPluginId"].startswith("kb-") for data in tried)
    closed = {data["frameId"]: data["frontierSize"] for data in progress if "frontierSize" in data}
    assert closed == {"frame-0.1": 1, "frame-0.2": 1}


@pytest.mark.rule("API-17")
@pytest.mark.parametrize(("reason", "is_told"), [("validation_rejected", True), ("superseded", False)])
def test_no_failure_is_told_of_an_answer_not_chosen(project: Project, reason: str, is_told: bool) -> None:
    turn = ExplainabilityTurn(session=create_session(project))
    failed = BranchFailed(
        branch_id="branch-1", frame_id="frame-0", failure_id="failure-1", reason=reason, error=None,
        plugin_id="gs-symbolic", evidence_profile_hash="",
    )  # fmt: skip
    assert (progress_of(turn, MachineEvent(at_ms=1, data=failed)) is not None) is is_told


def test_progress_comes_while_the_turn_works(stream: Callable[..., Streamed]) -> None:
    with registered(HeldSolver()) as solver:
        streamed = stream("My dog is called Rex.", goal_solver_plugin="gs-held")
        events = streamed.events()
        seen = [next(events)]
        while seen[-1][1].get("pluginId") != "gs-held":
            seen.append(next(events))
        assert {name for name, _ in seen} == {"progress"}
        assert ExplainabilityTurn.objects.get().status == "running"
        solver.go_on.set()
        assert [name for name, _ in events][-1] == "response.completed"


@pytest.mark.rule("API-16")
def test_long_answers_come_in_pieces(stream: Callable[..., Streamed]) -> None:
    told = " ".join(f"My pet number {number} is called Rex{number}." for number in range(12))
    events = list(stream(told).events())
    deltas = [data["delta"] for name, data in events if name == "response.delta"]
    assert "".join(deltas) == events[-1][1]["choices"][0]["message"]["content"]
    assert all(len(delta) <= 160 for delta in deltas)


@pytest.mark.rule("API-5")
def test_what_fails_before_the_turn_is_a_plain_error(stream: Callable[..., Streamed]) -> None:
    for body, status, code in (
        ({"planner_plugin": "nope"}, 400, "INVALID_PLANNER_PLUGIN"),
        ({"session_id": "sess-none"}, 404, "SESSION_NOT_FOUND"),
    ):
        streamed = stream("Hello", **body)
        assert streamed.answer.status == status
        assert streamed.answer.headers["Content-Type"] == "application/json"
        assert json.loads(streamed.answer.read())["error"]["code"] == code
    assert not Session.objects.exists()


def test_a_busy_session_is_a_plain_409(stream: Callable[..., Streamed], editor: Caller, talked: Session) -> None:
    with registered(WaitingSolver()) as solver:
        first = stream("What is my dog called?", session_id=talked.session_id, goal_solver_plugin="gs-waiting")
        assert solver.started.wait(PATIENCE_SECONDS)
        refused = stream("What is my dog called?", session_id=talked.session_id)
        error = json.loads(refused.answer.read())["error"]
        assert (refused.answer.status, error["code"]) == (409, "TURN_IN_PROGRESS")
        assert error["sessionId"] == talked.session_id
        solver.go_on.set()
        assert list(first.events())[-1][0] == "error"


@pytest.mark.rule("API-3", "API-5", "API-14")
def test_a_failed_turn_ends_with_an_error_event(stream: Callable[..., Streamed]) -> None:
    with registered(RaisingDetector()):
        events = list(stream("Hello there", seed_detector_plugin="sd-raising").events())
    turn = ExplainabilityTurn.objects.get()
    assert [name for name, _ in events].count("error") == 1
    name, data = events[-1]
    assert (name, data["error"]["code"]) == ("error", "PLUGIN_STAGE_EXHAUSTED")
    assert data["error"]["requestId"] == turn.request_id
    assert data["error"]["sessionId"] == turn.session.session_id
    assert "Traceback" not in json.dumps(data)


@pytest.mark.rule("TURN-18", "API-17")
def test_nothing_is_sent_of_an_answer_that_could_not_be_stored(
    stream: Callable[..., Streamed], monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*given: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(pipeline, "commit_turn", fail)
    events = list(stream("My dog is called Rex.").events())
    assert [name for name, _ in events if name != "progress"] == ["error"]
    assert "Rex" not in json.dumps(events)


@pytest.mark.rule("TURN-34")
def test_a_client_that_leaves_does_not_stop_its_turn(stream: Callable[..., Streamed]) -> None:
    with registered(HeldSolver()) as solver:
        streamed = stream("My dog is called Rex.", goal_solver_plugin="gs-held")
        next(streamed.events())
        assert solver.started.wait(PATIENCE_SECONDS)
        streamed.leave()
        solver.go_on.set()
        until(lambda: ExplainabilityTurn.objects.get().status != "running")
    assert ExplainabilityTurn.objects.get().status == "succeeded"
    assert Message.objects.count() == 2


def test_a_silent_stream_shows_that_it_lives(stream: Callable[..., Streamed], settings: Settings) -> None:
    settings.MRPVM_PING_SECONDS = 0.0
    settings.MRPVM_STREAM_POLL_SECONDS = 0.02
    with registered(WaitingSolver()) as solver:
        streamed = stream("My dog is called Rex.", goal_solver_plugin="gs-waiting")
        assert any(frame == ": ping" for frame in streamed.frames())
        solver.go_on.set()
        until(lambda: ExplainabilityTurn.objects.get().status != "running")


@pytest.mark.rule("DECISION-19")
def test_streams_end_with_an_error_when_the_server_stops(stream: Callable[..., Streamed], settings: Settings) -> None:
    settings.MRPVM_SHUTDOWN_GRACE_MS = 300
    with registered(WaitingSolver()) as solver:
        streamed = stream("My dog is called Rex.", goal_solver_plugin="gs-waiting")
        assert solver.started.wait(PATIENCE_SECONDS)
        shutdown.begin()
        try:
            name, data = list(streamed.events())[-1]
            until(lambda: ExplainabilityTurn.objects.get().status != "running")
        finally:
            shutdown.reset()
            solver.go_on.set()
    assert (name, data["error"]["code"]) == ("error", "TURN_INTERRUPTED")
    assert ExplainabilityTurn.objects.get().status == "interrupted"


def test_more_streams_than_places_are_refused(stream: Callable[..., Streamed], settings: Settings) -> None:
    settings.MRPVM_MAX_RUNNING_TURNS = 1
    with registered(HeldSolver()) as solver:
        first = stream("My dog is called Rex.", goal_solver_plugin="gs-held")
        assert solver.started.wait(PATIENCE_SECONDS)
        refused = stream("My cat is called Tom.")
        assert (refused.answer.status, refused.answer.headers["Retry-After"]) == (503, "1")
        solver.go_on.set()
        assert list(first.events())[-1][0] == "response.completed"
    assert Session.objects.count() == 1


def test_who_waits_for_a_busy_session_takes_no_place(
    live_asgi: LiveServer, editor: Caller, stream: Callable[..., Streamed], settings: Settings
) -> None:
    """While one turn runs and five wait for its session, streamed and not, a turn of another session is accepted."""
    settings.MRPVM_MAX_RUNNING_TURNS = 2
    with registered(HeldSolver()) as solver, ThreadPoolExecutor(5) as pool:
        first = stream("My dog is called Rex.", goal_solver_plugin="gs-held")
        assert solver.started.wait(PATIENCE_SECONDS)
        named = {"session_id": Session.objects.get().session_id, "wait_ms": 30_000}
        body = {"messages": [{"role": "user", "content": "My cat is called Tom."}], **named}
        asked = [pool.submit(posted, live_asgi, editor, body | {"stream": place % 2 == 0}) for place in range(5)]
        until(lambda: _waiting_count() == 5)
        other = {"messages": [{"role": "user", "content": "My bird is called Kim."}]}
        assert posted(live_asgi, editor, other) == 200
        solver.go_on.set()
        assert list(first.events())[-1][0] == "response.completed"
        assert [answer.result() for answer in asked] == [200] * 5


def posted(server: LiveServer, caller: Caller, body: dict[str, Any]) -> int:
    """Return the status of a chat request after its answer was read completely."""
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_SECONDS)
    headers = {"Content-Type": "application/json", **caller.headers}
    connection.request("POST", "/api/chat/completions", json.dumps(body), headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _waiting_count() -> int:
    """Return the number of threads in this process that wait for a session."""
    return sum(
        any(frame.f_code is waiting_for_slot.__code__ for frame, _ in traceback.walk_stack(top))
        for top in sys._current_frames().values()
    )


@pytest.mark.rule("API-14")
@pytest.mark.parametrize("message", ["Line one\nline two\r\nline three", "\u2028 separators \u2029 and \U0001f600"])
def test_text_of_any_kind_stays_on_one_line(stream: Callable[..., Streamed], message: str) -> None:
    assert list(stream(message).events())[-1][0] in {"response.completed", "error"}


def test_a_body_of_unknown_length_is_read(live_asgi: LiveServer, editor: Caller) -> None:
    connection = http.client.HTTPConnection(live_asgi.address, timeout=PATIENCE_SECONDS)
    body = json.dumps({"messages": [{"role": "user", "content": "My dog is called Rex."}]}).encode()
    headers = {"Content-Type": "application/json", **editor.headers}
    connection.request("POST", "/api/chat/completions", iter([body[:20], body[20:]]), headers, encode_chunked=True)
    assert connection.getresponse().status == 200


def test_a_body_over_the_limit_is_413(live_asgi: LiveServer, editor: Caller) -> None:
    connection = http.client.HTTPConnection(live_asgi.address, timeout=PATIENCE_SECONDS)
    headers = {"Content-Type": "application/json", **editor.headers}
    connection.request("POST", "/api/chat/completions", b" " * 2_097_153, headers)
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["error"]["code"] == "BODY_TOO_LARGE"


def test_a_command_streams_like_an_answer(live_asgi: LiveServer, editor: Caller) -> None:
    events = list(Streamed(live_asgi, editor, message="/style focus").events())
    assert [name for name, _ in events] == ["response.meta", "response.delta", "response.completed"]
    assert events[1][1]["delta"] == "Session style set to 'focus'."
    assert events[2][1]["command"]["code"] == "style_set"
