"""Traces of other applications, received at /v1/traces from their exporters."""

import gzip
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor as Conventions
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pytest_django import Settings
from selectolax.lexbor import LexborHTMLParser

from sessions_app.actions.settings.api_keys import create_key
from sessions_app.actions.turns.counting import count_ended_turns
from sessions_app.interchange.exporting import TraceExport
from sessions_app.interchange.otlp_requests import FUTURE_NS
from sessions_app.models import ExplainabilityTurn, ImportedSpan, Project, Session
from sessions_app.queries.turns.overview import SPANS, overview
from sessions_app.queries.turns.registry import detail, graph
from tests.api.conftest import Caller
from tests.interchange.collector import Collector
from tests.live import LiveServer
from tests.llm.provider import KEY, Provider, say
from tests.web.page_scene import member_client

MANY_EMPTY_SPANS = gzip.compress(b"\x0a\x84\x89\x7a\x12\x80\x89\x7a" + b"\x12\x00" * 1_000_000, mtime=0)
"""A million of them: 2 MB of protobuf in 2 kB."""
TRACE = "5b8efff798038103d269b633813fc60c"


def span(number: int, parent: int | None = None, **more: Any) -> dict[str, Any]:
    """Return a span in OTLP's JSON."""
    start = time.time_ns() - 10_000_000_000 + number * 1_000_000
    attributes = more.pop("attributes", {})
    return {
        "traceId": TRACE, "spanId": f"{number:016x}", "name": f"span {number}", "kind": 1,
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 5_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        **more,
    }  # fmt: skip


def request_of(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return a request with the spans."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def post(caller: Caller, body: bytes, kind: str = "application/json", **headers: str) -> Any:
    """Return the answer to a request."""
    return caller.client.post("/v1/traces", body, content_type=kind, headers={**caller.headers, **headers})


def send(caller: Caller, *spans: dict[str, Any]) -> Any:
    """Send a request with the spans; return the answer."""
    answer = post(caller, json.dumps(request_of(*spans)).encode())
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("instrumentation", [Conventions, OpenInference])
def test_an_instrumented_openai_client_shows_its_call(
    live_asgi: LiveServer, project: Project, monkeypatch: pytest.MonkeyPatch, instrumentation: Any
) -> None:
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    headers = {"Authorization": f"Bearer {create_key(project, 'application')[1]}"}
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{live_asgi.url}/v1/traces", headers=headers)))
    instrument = instrumentation()
    instrument.instrument(tracer_provider=tracing)
    try:
        with Provider(otherwise=say("It is Rex.")) as model:
            client = OpenAI(base_url=model.url, api_key=KEY)
            asked = [{"role": "user", "content": "What is my dog called?"}]
            client.chat.completions.create(model="some-model", messages=asked)  # type: ignore[arg-type]
    finally:
        instrument.uninstrument()
    turn = ExplainabilityTurn.objects.get()
    assert (turn.kind, turn.status, turn.user_message) == ("imported", "succeeded", "What is my dog called?")
    assert turn.assistant_preview == "It is Rex."
    assert turn.model in ("some-model", "served")
    (execution,) = graph(turn).plugin_executions
    assert "What is my dog called?" in detail(turn, execution.detail_ref).text


def test_what_one_server_sends_another_draws_alike(
    editor: Caller, collector: Collector, sending: Callable[..., TraceExport], stranger: Caller
) -> None:
    sending(collector.url, with_content=True)
    editor.chat("My dog is called Rex. What is my dog called? How old is Rex?")
    collector.wait_for(lambda found: any(item.name.startswith("invoke_agent") for item in found))
    sent = ExplainabilityTurn.objects.get()
    (body,) = collector.bodies
    packed = {"Content-Encoding": "gzip"}
    assert post(stranger, gzip.compress(body, mtime=0), "application/x-protobuf", **packed).status_code == 200
    came = ExplainabilityTurn.objects.get(kind="imported")

    def shape(turn: ExplainabilityTurn) -> tuple[Any, ...]:
        drawn = graph(turn)
        frames = [(item.id, item.parent_frame_id, item.label, item.purpose, item.status) for item in drawn.frames]
        runs = [(item.id, item.frame_id, item.plugin_id, item.stage, item.status) for item in drawn.plugin_executions]
        return frames, runs, drawn.edges

    assert shape(came) == shape(sent)
    assert (came.user_message, came.answer_basis) == (sent.user_message, sent.answer_basis)
    assert came.trace_id == sent.trace_id
    assert came.session.session_id == f"otel-{sent.session.session_id}"


def test_batches_out_of_order_make_one_turn_once(editor: Caller) -> None:
    said = {"gen_ai.conversation.id": "talk 7", "input.value": "Where is Rex?", "output.value": "In the garden."}
    leaf, tool, root = span(3, 2), span(2, 1), span(1, attributes=said)
    send(editor, leaf)
    send(editor, tool)
    for _ in range(2):
        send(editor, root, leaf)
    turn = ExplainabilityTurn.objects.get()
    assert turn.session.session_id == "otel-talk-7"
    (listed,) = editor.get("/api/sessions").json()["sessions"]
    assert listed["session_id"] == "otel-talk-7"
    assert [frame.id for frame in graph(turn).frames] == ["frame-0", "frame-0.1"]
    assert [item.id for item in graph(turn).plugin_executions] == ["exec-0.1.1"]
    assert list(turn.messages.values_list("content", flat=True)) == ["Where is Rex?", "In the garden."]
    assert ImportedSpan.objects.count() == 3
    found = editor.get(f"/api/sessions/{turn.session.session_id}/turns/{turn.request_id}").json()
    assert found["kind"] == "imported"


def test_the_page_of_a_trace_shows_what_came_since(editor: Caller, project: Project) -> None:
    """Also where a later batch has named the conversation, which is another session."""
    reader = member_client(project)
    said = {"output.value": "In the garden [1]."}
    for sent, ids in (
        (span(3, 2, attributes=said), ["frame-0", "exec-0.1"]),
        (span(2, 1), ["frame-0", "exec-0.1"]),
        (
            span(1, attributes={"gen_ai.conversation.id": "talk 7", **said}),
            ["frame-0", "frame-0.1", "exec-0.1.1"],
        ),
    ):
        send(editor, sent)
        turn = ExplainabilityTurn.objects.get()
        address = reverse("turn", args=[turn.session.session_id, turn.request_id])
        page = LexborHTMLParser(reader.get(address).text)
        assert [row.attributes["data-id"] for row in page.css("[role=treeitem]")] == ids
        assert {link.attributes["href"] for link in page.css(".cite")} <= {f"{address}/sources/1"}
    assert page.css(".cite")


def test_the_overview_counts_a_trace_as_it_is_now(editor: Caller, project: Project) -> None:
    start = time.time_ns() - 10_000_000_000
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 3_000_000_000)}
    seen = []
    for sent in (span(2, 1), span(1, **times, status={"code": 2})):
        send(editor, sent)
        count_ended_turns(lambda: None)
        figures = overview(project, SPANS["24h"]).whole
        seen.append((figures.turn_count, figures.failed_count, figures.p50_ms is not None and figures.p50_ms > 2_000))
    assert seen == [(1, 0, False), (1, 1, True)]


def test_a_session_is_named_by_the_question_of_the_whole_trace(editor: Caller) -> None:
    """Spans are sent when they end: what a call was asked comes before what the application was asked."""
    for sent, name in (
        (span(3, 2), "(span 3)"),
        (span(2, 1, attributes={"input.value": "Search words for: Where is Rex?"}), "Search words for: Where is Rex?"),
        (span(1, attributes={"input.value": "Where is Rex?"}), "Where is Rex?"),
    ):
        send(editor, sent)
        assert Session.objects.get().first_message == name
    send(editor, span(1, traceId=TRACE[::-1], attributes={"input.value": "Who is Rex?"}))
    assert Session.objects.get(session_id=f"otel-trace-{TRACE}").first_message == "Where is Rex?"


def test_an_imported_turn_says_that_it_cannot_be_replayed(editor: Caller, project: Project) -> None:
    send(editor, span(1, attributes={"input.value": "Where is Rex?", "output.value": "In the garden."}))
    turn = ExplainabilityTurn.objects.get()
    place = [turn.session.session_id, turn.request_id]
    refused = editor.post(f"/api/sessions/{place[0]}/turns/{place[1]}/replay")
    assert refused.status_code == 409, refused.json()
    assert refused.json()["error"]["code"] == "NOT_REPLAYABLE"
    page = LexborHTMLParser(member_client(project).get(reverse("turn", args=place)).text)
    note = page.css_first("#imported")
    assert note is not None
    assert "cannot be replayed" in " ".join(note.text().split())
    links = {link.attributes["href"] for link in page.css(".turn-tabs a")}
    assert not links & {reverse("turn-try", args=place), reverse("turn-diagnosis", args=place)}


def test_an_error_fails_the_turn(editor: Caller) -> None:
    send(editor, span(1, status={"code": 2, "message": "The model is away."}))
    turn = ExplainabilityTurn.objects.get()
    assert (turn.status, turn.error["message"]) == ("failed", "The model is away.")


@pytest.mark.parametrize(
    ("body", "kind", "headers", "status"),
    [
        (b"\x0a\xff\x01", "application/x-protobuf", {}, 400),
        (b"{", "application/json", {}, 400),
        (b"[]", "application/json", {}, 400),
        (json.dumps(request_of(span(1) | {"traceId": "xyz"})).encode(), "application/json", {}, 400),
        (gzip.compress(b"{}" * 50, mtime=0)[:-9], "application/json", {"Content-Encoding": "gzip"}, 400),
        (b"{}", "application/json", {"Content-Encoding": "br"}, 400),
        (gzip.compress(b" " * 5_000_000, mtime=0), "application/json", {"Content-Encoding": "gzip"}, 413),
        (MANY_EMPTY_SPANS, "application/x-protobuf", {"Content-Encoding": "gzip"}, 413),
        (b"{}", "text/plain", {}, 415),
        (b"{}", "application/json", {"Authorization": "Bearer mrp_wrong"}, 401),
    ],
)
def test_bad_requests_store_nothing(
    editor: Caller, body: bytes, kind: str, headers: dict[str, str], status: int
) -> None:
    assert post(editor, body, kind, **headers).status_code == status
    assert not ImportedSpan.objects.exists()
    assert not Session.objects.exists()


def test_a_viewer_may_not_send(caller: Callable[..., Caller]) -> None:
    assert post(caller("viewer"), json.dumps(request_of(span(1))).encode()).status_code == 403


def test_unusable_spans_are_counted_and_the_others_kept(editor: Caller) -> None:
    future = str(time.time_ns() + 2 * FUTURE_NS)
    answer = send(editor, span(1), span(2) | {"startTimeUnixNano": future}, span(3) | {"spanId": "00" * 8})
    assert answer["partialSuccess"]["rejectedSpans"] == "2"
    assert ImportedSpan.objects.count() == 1


def test_loops_of_parents_are_drawn(editor: Caller) -> None:
    send(editor, span(1, 2), span(2, 3), span(3, 1), span(4, 4))
    drawn = graph(ExplainabilityTurn.objects.get())
    assert len(drawn.frames) + len(drawn.plugin_executions) == 5


def test_too_many_spans_are_refused(editor: Caller, settings: Settings) -> None:
    settings.MRPVM_MAX_SPANS_A_REQUEST = 3
    assert post(editor, json.dumps(request_of(*map(span, range(1, 5)))).encode()).status_code == 413
    settings.MRPVM_MAX_SPANS_A_TRACE = 2
    assert post(editor, json.dumps(request_of(*map(span, range(1, 4)))).encode()).status_code == 413
    assert not ImportedSpan.objects.exists()


def test_a_project_sees_its_own_traces_alone(editor: Caller, stranger: Caller) -> None:
    send(editor, span(1))
    send(stranger, span(1))
    assert ExplainabilityTurn.objects.count() == 2
    (listed,) = stranger.get("/api/sessions").json()["sessions"]
    assert Session.objects.filter(session_id=listed["session_id"], project__slug="other").count() == 1
