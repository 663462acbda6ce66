"""Turns sent to an OpenTelemetry collector by the SDK's own exporter."""

import json
import re
import time
from collections.abc import Callable
from copy import replace

import pytest
from django.db import transaction
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from pytest_django import Settings

from mrpvm.llm.trace_context import TraceContext
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import add_test, create_suite
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.suites.suites import kept_turn, run_now
from sessions_app.interchange.exporting import TraceExport
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import graph
from tests.api.conftest import Caller
from tests.interchange.collector import Collector, attributes
from tests.llm.provider import Provider

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
Sending = Callable[..., TraceExport]


def root_of(spans: list[Span]) -> Span | None:
    """Return the turn's span."""
    return next((span for span in spans if span.name.startswith("invoke_agent")), None)


def is_whole(spans: list[Span]) -> bool:
    """Return whether a turn's spans have arrived, which one batch holds."""
    return root_of(spans) is not None


def test_a_turn_is_a_trace_with_its_nodes_and_edges(editor: Caller, collector: Collector, sending: Sending) -> None:
    sending(collector.url)
    editor.headers["traceparent"] = f"00-{TRACE}-{PARENT}-01"
    editor.chat("My dog is called Rex. What is my dog called? How old is Rex?")
    spans = collector.wait_for(is_whole)
    turn = ExplainabilityTurn.objects.get()
    drawn = graph(turn)
    by_id = {span.span_id: span for span in spans}
    root = root_of(spans)
    assert root is not None
    assert {span.trace_id.hex() for span in spans} == {TRACE} == {turn.trace_id}
    assert root.parent_span_id.hex() == PARENT
    nodes = {attributes(span)["mrpvm.node.id"] for span in spans}
    assert nodes == {frame.id for frame in drawn.frames} | {item.id for item in drawn.plugin_executions}
    assert all(span is root or span.parent_span_id in by_id for span in spans)
    name = {span_id: attributes(span)["mrpvm.node.id"] for span_id, span in by_id.items()}
    links = {
        (name[link.span_id], attributes(span)["mrpvm.node.id"], attributes(link)["mrpvm.edge.kind"])
        for span in spans
        for link in span.links
    }
    assert links == {(edge.source, edge.target, edge.kind) for edge in drawn.edges if edge.kind != "contains"}
    assert attributes(root)["gen_ai.conversation.id"] == turn.session.session_id
    assert any(span.name.startswith("retrieval kb-") for span in spans)
    assert b"Rex" not in b"".join(collector.bodies)


def test_model_calls_carry_the_trace_on(
    editor: Caller, collector: Collector, sending: Sending, provider: Provider, unvalidated: None
) -> None:
    sending(collector.url, with_content=True)
    editor.chat("My dog is called Rex.")
    editor.chat("What is my dog called?", goal_solver_plugin="gs-llm-fast")
    spans = collector.wait_for(lambda found: any(span.name == "chat some-model" for span in found))
    assert max(attributes(span).get("gen_ai.usage.input_tokens", 0) for span in spans) > 0
    chats = {span.span_id.hex(): span for span in spans if span.name == "chat some-model"}
    passed_on = [TraceContext.of_header(asked.headers["traceparent"]) for asked in provider.asked]
    assert {context.span_id for context in passed_on if context} == set(chats)
    chat = attributes(next(iter(chats.values())))
    assert chat["gen_ai.request.model"] == "some-model"
    assert "What is my dog called?" in chat["gen_ai.input.messages"]
    assert json.loads(chat["gen_ai.output.messages"])[0]["parts"][0]["content"]


def test_a_failed_turn_says_why(
    editor: Caller, collector: Collector, sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending(collector.url)
    editor.chat("What is my dog called?", goal_solver_plugin="gs-llm-fast")
    root = root_of(collector.wait_for(is_whole))
    assert root is not None
    assert root.status.code == Status.STATUS_CODE_ERROR
    assert attributes(root)["error.type"] == ExplainabilityTurn.objects.get().error["code"]


def test_a_rating_is_an_evaluation_event_in_the_trace(editor: Caller, collector: Collector, sending: Sending) -> None:
    sending(collector.url)
    editor.chat("My dog is called Rex.")
    turn = ExplainabilityTurn.objects.get()
    rate_turn(turn, "down", "He is called Max.")
    spans = collector.wait_for(lambda found: any(span.name == "evaluation rating" for span in found))
    rated = next(span for span in spans if span.name == "evaluation rating")
    assert rated.trace_id.hex() == turn.trace_id
    assert rated.parent_span_id == root_of(spans).span_id  # type: ignore[union-attr]
    (event,) = rated.events
    assert event.name == "gen_ai.evaluation.result"
    assert attributes(event)["gen_ai.evaluation.score.label"] == "down"
    assert "gen_ai.evaluation.explanation" not in attributes(event)


def test_a_rating_that_is_undone_is_not_sent(editor: Caller, collector: Collector, sending: Sending) -> None:
    sending(collector.url)
    editor.chat("My dog is called Rex.")
    turn = ExplainabilityTurn.objects.get()
    with transaction.atomic():
        rate_turn(turn, "down", "He is called Max.")
        transaction.set_rollback(True)
    rate_turn(turn, "up")
    rated = collector.wait_for(lambda found: any(span.name == "evaluation rating" for span in found))
    assert [attributes(event)["gen_ai.evaluation.score.label"] for event in evaluations(rated)] == ["up"]


def test_a_test_s_result_is_an_evaluation_event(editor: Caller, collector: Collector, sending: Sending) -> None:
    sending(collector.url, with_content=True)
    editor.chat("My dog is called Rex.")
    editor.chat("What is my dog called?")
    told, asked = ExplainabilityTurn.objects.order_by("pk")
    author = Author(name="anna")
    suite = create_suite(asked.session.project, "Dogs", author)
    kept = replace(kept_turn(asked), name="Rex")
    wrong = replace(kept, name="Max", expected={"contains": ["Max"]})
    for fields in (kept, wrong):
        add_test(suite, fields, author)
    run_now(suite, Target(), author)
    spans = collector.wait_for(lambda found: len(evaluations(found)) == 2)
    events = {attributes(event)["gen_ai.evaluation.score.label"]: event for event in evaluations(spans)}
    assert set(events) == {"passed", "failed"}
    assert attributes(events["passed"])["gen_ai.evaluation.score.value"] == 1
    failed = attributes(events["failed"])
    assert (failed["gen_ai.evaluation.name"], failed["gen_ai.evaluation.score.value"]) == ("Dogs", 0)
    assert failed["gen_ai.evaluation.explanation"].startswith("Max: ")
    evaluated = {span.trace_id.hex() for span in spans if span.name == "evaluation Dogs"}
    assert evaluated == {asked.trace_id} != {told.trace_id}


def evaluations(spans: list[Span]) -> list[Span.Event]:
    """Return the evaluation events."""
    return [event for span in spans for event in span.events if event.name == "gen_ai.evaluation.result"]


def test_long_turns_go_out_in_several_requests(
    editor: Caller, collector: Collector, sending: Sending, settings: Settings
) -> None:
    settings.MRPVM_TRACE_REQUEST_BYTES = 2_000
    sending(collector.url)
    editor.chat("My dog is called Rex. What is my dog called? How old is Rex?")
    turn = ExplainabilityTurn.objects.get()
    drawn = graph(turn)
    node_count = len(drawn.frames) + len(drawn.plugin_executions)
    spans = collector.wait_for(lambda found: len(found) == node_count)
    assert len({span.span_id for span in spans}) == node_count
    assert len(collector.bodies) > 2
    assert all(len(body) < 2_500 for body in collector.bodies)


def test_a_collector_that_is_away_costs_a_turn_nothing(editor: Caller, sending: Sending) -> None:
    export = sending("http://127.0.0.1:9")
    for message in ("My dog is called Rex.", "My cat is called Tom."):
        assert editor.chat(message).status_code == 200
    began = time.monotonic()
    export.close()
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "header", ["", "x", f"00-{'0' * 32}-{PARENT}-01", f"ff-{TRACE}-{PARENT}-01", f"00-{TRACE.upper()}-{PARENT}-01"]
)
def test_a_bad_traceparent_is_none(editor: Caller, header: str) -> None:
    editor.headers["traceparent"] = header
    assert editor.chat("My dog is called Rex.").status_code == 200
    assert ExplainabilityTurn.objects.get().trace_id == ""


def test_a_traceparent_is_kept_where_no_traces_are_sent(editor: Caller) -> None:
    editor.headers["traceparent"] = f"00-{TRACE}-{PARENT}-00"
    editor.chat("My dog is called Rex.")
    assert re.fullmatch(TRACE, ExplainabilityTurn.objects.get().trace_id)
