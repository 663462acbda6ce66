"""Turns of one session never overlap; turns of different sessions may."""

from threading import Barrier, Lock

import pytest

from mrpvm import registry
from mrpvm.contracts import CallContext, Solution, SolveInput
from sessions_app.models import Project
from tests.api.conftest import Caller
from tests.api.doubles import descriptor, registered
from tests.api.test_chat_stream import Streamed
from tests.live import LiveServer

PATIENCE_SECONDS = 15


class MeetingSolver:
    """A goal solver that counts its concurrent calls, and can wait until there are two."""

    descriptor = descriptor("gs-meeting", "gs-plugin")

    def __init__(self, *, waits_for_two: bool) -> None:
        self.barrier = Barrier(2) if waits_for_two else None
        self.lock = Lock()
        self.now = self.most = 0

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Count the call, wait if it should, and answer as the symbolic solver does."""
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            if self.barrier is not None:
                self.barrier.wait(PATIENCE_SECONDS)
            return registry.installed.goal_solver("gs-symbolic").solve(request, context)
        finally:
            with self.lock:
                self.now -= 1


def ends(streams: list[Streamed]) -> list[str]:
    """Return the last event of each stream."""
    return [list(stream.events())[-1][0] for stream in streams]


def ask(live_asgi: LiveServer, editor: Caller, session_id: str) -> Streamed:
    """Start a turn that waits for the session if it is busy."""
    return Streamed(
        live_asgi, editor, message="My dog is called Rex.", session_id=session_id, goal_solver_plugin="gs-meeting",
        wait_ms=PATIENCE_SECONDS * 1000,
    )  # fmt: skip


@pytest.mark.rule("TURN-3", "FROZEN-48")
def test_turns_of_two_sessions_run_at_the_same_time(project: Project, live_asgi: LiveServer, editor: Caller) -> None:
    sessions = [str(editor.post("/api/sessions").json()["session_id"]) for _ in range(2)]
    with registered(MeetingSolver(waits_for_two=True)) as solver:
        assert ends([ask(live_asgi, editor, session_id) for session_id in sessions]) == ["response.completed"] * 2
    assert solver.most == 2, "each waited for the other"


@pytest.mark.rule("FROZEN-48")
def test_turns_of_one_session_never_do(project: Project, live_asgi: LiveServer, editor: Caller) -> None:
    session_id = str(editor.post("/api/sessions").json()["session_id"])
    with registered(MeetingSolver(waits_for_two=False)) as solver:
        streams = [ask(live_asgi, editor, session_id) for _ in range(4)]
        assert ends(streams) == ["response.completed"] * 4
    assert solver.most == 1
    messages = editor.get(f"/api/sessions/{session_id}/messages").json()["messages"]
    assert [item["role"] for item in messages] == ["user", "assistant"] * 4
