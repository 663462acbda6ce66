"""Turns with external programs, helpful and harmful ones."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mrpvm import registry
from mrpvm.conversation.answers import response_document
from mrpvm.conversation.helping import HelperOutput
from mrpvm.wire import to_wire
from sessions_app.models import ExplainabilityTurn, PluginStatistics, Session
from sessions_app.plugin_threads import workers
from sessions_app.queries.turns.registry import graph
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import install_plugins
from sessions_app.turns.pipeline import run_turn
from tests.kernel.scripted import ACCEPT, plugin, solution
from tests.wrappers.programs import ANSWERS, wrapper

QUESTION = "What is the product of 6 and 7?"
BAD = {
    "hangs": ("import time; time.sleep(600)", 100),
    "forks": ("import os, time; os.fork(); os.fork(); time.sleep(600)", 250),
    "floods": ("while True: print('x' * 10000)", 500),
    "fails": ("import sys; sys.exit(1)", 500),
    "talks nonsense": ("import os; os.write(1, bytes(range(256)))", 500),
}
"""Programs that do harm, and how many milliseconds each may take."""


@pytest.fixture(autouse=True)
def _plugins() -> Iterator[None]:
    install_plugins()
    yield
    workers.close()


@pytest.fixture
def helped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that installs a wrapper."""

    def admit(source: str = ANSWERS, **fields: Any) -> None:
        admitted = [*registry.installed.wrappers, wrapper(tmp_path, source, **fields)]
        monkeypatch.setattr(registry.installed, "wrappers", admitted)

    return admit


def ask(session: Session, message: str = QUESTION) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the first group of the answer in the client's form, and the graph."""
    answer = run_turn(session, TurnCall(message=message))
    assert answer.outcome.answer is not None
    turn = ExplainabilityTurn.objects.get(request_id=answer.turn.request_id)
    return response_document(answer.outcome.answer, "")["groups"][0], to_wire(graph(turn))


def helper_boxes(picture: dict[str, Any]) -> list[dict[str, Any]]:
    return [box for box in picture["pluginExecutions"] if box["stage"] == "helper"]


@pytest.mark.rule("PLUGIN-33")
def test_a_result_answers_what_nothing_else_could(session: Session, helped: Any) -> None:
    helped()
    group, picture = ask(session)
    assert (group["status"], group["answerMarkdown"]) == ("answered", "It is 42.")
    assert group["pluginOutput"] == {
        "plugin": "Calculator", "confidence": "0.9", "result": "It is 42.", "evidence": "6 * 7"
    }  # fmt: skip
    (box,) = helper_boxes(picture)
    assert (box["pluginId"], box["status"]) == ("calculator", "success")
    assert not PluginStatistics.objects.filter(plugin_id="calculator").exists()  # planners do not rank it


def test_evidence_goes_first_and_the_result_stands_beside_it(session: Session, helped: Any) -> None:
    helped(keywords=["dog"])
    run_turn(session, TurnCall(message="My dog is called Rex."))
    group, _ = ask(session, "What is my dog called?")
    assert "Rex" in group["answerMarkdown"]
    assert group["pluginOutput"]["result"] == "It is 42."


@pytest.mark.rule("PLUGIN-41")
@pytest.mark.parametrize(("source", "timeout"), BAD.values(), ids=BAD)
def test_no_failure_hurts_a_turn(session: Session, helped: Any, source: str, timeout: int) -> None:
    helped(source, timeout=timeout, keywords=["product", "dog"])
    run_turn(session, TurnCall(message="My dog is called Rex."))
    group, picture = ask(session, "What is my dog called?")
    assert group["status"] == "answered"
    assert group["pluginOutput"] is None
    assert group["warnings"][0].startswith("Calculator failed: it")
    group, picture = ask(session)
    assert (group["status"], group["pluginOutput"]) == ("plugin-error", None)
    assert group["answerMarkdown"].startswith("Calculator was asked and failed.")
    assert {box["status"] for box in helper_boxes(picture)} == {"error"}


def test_the_next_one_is_asked_where_the_first_fails(session: Session, helped: Any) -> None:
    helped(BAD["fails"][0], called="first", priority=1)
    helped(called="second")
    group, picture = ask(session)
    assert group["answerMarkdown"] == "It is 42."
    boxes = [(box["pluginId"], box["status"]) for box in helper_boxes(picture)]
    assert boxes[:2] == [("first", "error"), ("second", "success")]


@pytest.mark.rule("PLUGIN-36")
def test_who_is_not_concerned_is_not_asked(session: Session, helped: Any) -> None:
    helped(keywords=["weather"])
    group, picture = ask(session)
    assert (group["status"], group["pluginOutput"], helper_boxes(picture)) == ("no-context", None, [])


def test_solvers_of_others_get_what_was_found(session: Session, plugins: Callable[..., None], helped: Any) -> None:
    solver = plugin("gs-plugin", "gs-a", solution("Because."))
    plugins(solver, plugin("val-plugin", "val-a", ACCEPT))
    helped(keywords=["why"])
    run_turn(session, TurnCall(message="Why?"))
    given = solver.asked[-1]
    assert given.helpers == (
        HelperOutput(
            intent_ref=1, plugin="Calculator", status="success", result="It is 42.", confidence="0.9", evidence="6 * 7"
        ),
    )
