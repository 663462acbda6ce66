"""Model calls before the machine runs: within the turn's limits, and ended with the turn."""

import threading
import time
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from mrpvm.contracts import CallContext
from mrpvm.conversation import summary
from mrpvm.errors import TurnCancelled
from sessions_app import shutdown
from sessions_app.actions.sessions.histories import History, import_history
from sessions_app.actions.turns.running import request_cancel
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnError, run_turn
from tests.kernel.scripted import plugin, solution
from tests.llm.provider import Asked, Provider, hang, say

pytestmark = pytest.mark.django_db(transaction=True)


def with_history(session: Session) -> Session:
    """Return the session with enough messages for a summary."""
    said = [{"role": role, "content": f"Thing {n} costs $5."} for n in range(6) for role in ("user", "assistant")]
    import_history(session, History(messages=said))
    session.refresh_from_db()
    return session


def noting(contexts: list[CallContext]) -> Any:
    """Return a solver that records its limits."""

    def solve(request: Any, context: CallContext) -> Any:
        contexts.append(context)
        return solution("Because.")(request, context)

    return plugin("gs-plugin", "gs-a", solve)


def test_a_turn_is_stopped_while_a_model_summarises_for_it(
    session: Session, plugins: Any, provider: Provider, settings: Settings
) -> None:
    """Nothing else ends the request so soon: time limits are longer, and a closed connection would be retried."""
    plugins()
    settings.MRPVM_REQUEST_TIMEOUT_MS = settings.MRPVM_LLM_TIMEOUT_MS = 600_000
    asked = threading.Event()

    def hanging(request: Asked) -> None:
        asked.set()
        hang(request)

    provider.otherwise = hanging

    stopped_at = []

    def stop() -> None:
        asked.wait(20)
        stopped_at.append(time.monotonic())
        request_cancel(session.turns.get())
        connection.close()

    stopper = threading.Thread(target=stop)
    stopper.start()
    with pytest.raises(TurnError) as caught:
        run_turn(with_history(session), TurnCall(message="And what about it?"))
    ended_at = time.monotonic()
    stopper.join()
    assert ended_at - stopped_at[0] < summary.MODEL_TIMEOUT_MS / 1000
    assert caught.value.code == TurnCancelled.default_code
    assert ExplainabilityTurn.objects.get().status == "cancelled"
    assert len(provider.asked) == 1, "neither again for the summary nor for the rewriting"


def test_the_end_of_the_server_ends_preparation(
    session: Session, plugins: Any, provider: Provider, settings: Settings
) -> None:
    plugins()
    settings.MRPVM_SHUTDOWN_GRACE_MS = 0

    def ending(request: Asked) -> None:
        shutdown.begin()
        hang(request)

    provider.otherwise = ending
    with pytest.raises(TurnError) as caught:
        run_turn(with_history(session), TurnCall(message="Why?"))
    assert caught.value.code == "TURN_INTERRUPTED"


def test_time_and_calls_of_preparation_are_the_turns_own(
    session: Session, plugins: Any, provider: Provider, settings: Settings
) -> None:
    contexts: list[CallContext] = []
    plugins(noting(contexts))
    settings.MRPVM_REQUEST_TIMEOUT_MS = 20_000

    def slow(request: Asked) -> None:
        time.sleep(0.1)
        say("Things cost $5.")(request)

    provider.otherwise = slow
    run_turn(with_history(session), TurnCall(message="Why?"))
    assert len(provider.asked) == 2, "for the summary and for the rewriting"
    assert contexts[0].remaining_llm_calls == settings.MRPVM_MAX_LLM_CALLS - 2
    assert contexts[0].remaining_ms <= 19_800


def test_preparation_leaves_calls_for_the_answer(
    session: Session, plugins: Any, provider: Provider, settings: Settings
) -> None:
    contexts: list[CallContext] = []
    plugins(noting(contexts))
    settings.MRPVM_MAX_LLM_CALLS = 3
    result = run_turn(with_history(session), TurnCall(message="And what about it?"))
    assert provider.asked == []
    assert contexts[0].remaining_llm_calls == 3
    report = result.turn.context_report
    assert report is not None
    assert report["warnings"] == ["summary_failed"]
