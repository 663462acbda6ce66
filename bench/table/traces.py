"""What sending turns as traces adds to their cost, and how many foreign spans are imported in a second."""

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Self

from bench.conversation import conversation
from bench.databases import Database, new_database
from bench.servers import MeasuredServer
from bench.table.requests import STORY_TURNS
from bench.table.rows import Row

TURNS_A_BLOCK = 2 * STORY_TURNS
_SPANS_A_TRACE = 10
_WAIT_SECONDS = 30
_SEND_SECONDS = 1.0
"""How often what waits is sent."""


class Collector:
    """An OTLP receiver in the bench's process. It counts the turns that it receives and discards them."""

    def __init__(self) -> None:
        self.turn_count = 0
        outer = self

        class Taking(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                outer.turn_count += body.count(b"invoke_agent ")  # the name of the turn's span
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait_for(self, turn_count: int) -> None:
        """Return once this many turns were received.

        Raises:
            RuntimeError: they were not within `_WAIT_SECONDS`.
        """
        until = time.monotonic() + _WAIT_SECONDS
        while self.turn_count < turn_count:
            if time.monotonic() > until:
                raise RuntimeError(f"{self.turn_count} of {turn_count} turns came to the collector.")
            time.sleep(0.05)


def trace_rows(own: Database, rounds: int, span_count: int) -> list[Row]:
    """Hold conversations with a server that sends traces, one that sends their content too, and one that does not.

    They alternate. The cost of sending counts: a block ends once the collector has its turns.
    """
    with (
        Collector() as plain,
        Collector() as full,
        TemporaryDirectory(prefix="mrpvm-bench-") as directory,
        new_database(Path(directory, "plain")) as second,
        new_database(Path(directory, "full")) as third,
        MeasuredServer(own) as silent,
        MeasuredServer(second, **_sending(plain)) as sending,
        MeasuredServer(
            third, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true", **_sending(full)
        ) as sending_content,
    ):
        costs = [
            (
                _block_ms(silent, number, None),
                _block_ms(sending, number, plain),
                _block_ms(sending_content, number, full),
            )
            for number in range(rounds + 1)
        ][1:]
        rate = _spans_a_second(silent, span_count)
    return [
        Row(name="a turn that is sent as a trace / one that is not", measured=_ratio(costs, 1), must=1.05),
        Row(name="  with its content", measured=_ratio(costs, 2)),
        Row(name="spans of other applications taken in a CPU second", measured=rate),
    ]


def _ratio(costs: list[tuple[float, float, float]], place: int) -> float:
    return median(one[place] / one[0] for one in costs)


def _sending(collector: Collector) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": f"{_SEND_SECONDS * 1000:.0f}"}


def _block_ms(server: MeasuredServer, seed: int, collector: Collector | None) -> float:
    """Hold conversations and return the CPU ms of a turn, sending included."""
    before, sent = server.cpu_ms, collector.turn_count if collector else 0
    with server.client() as client:
        for number in (0, 1):
            session_id = client.new_session()
            for said in islice(conversation(2 * seed + number), STORY_TURNS):
                client.say(session_id, said.message)
    time.sleep(_SEND_SECONDS)  # the server that sends no traces idles as long
    if collector:
        collector.wait_for(sent + TURNS_A_BLOCK)
    return (server.cpu_ms - before) / TURNS_A_BLOCK


def _spans_a_second(server: MeasuredServer, span_count: int) -> float:
    """Send traces of ten spans, a thousand spans a request, and return how many were stored in a second of CPU."""
    bodies = [_traces(number, min(1_000, span_count)) for number in range(max(1, span_count // 1_000))]
    with server.client() as client:
        before = server.cpu_ms
        for body in bodies:
            client.post_protobuf("/v1/traces", body)
        return len(bodies) * min(1_000, span_count) / (server.cpu_ms - before) * 1_000


def _traces(number: int, span_count: int) -> bytes:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    now = time.time_ns()
    for place in range(span_count):
        trace, step = divmod(place, _SPANS_A_TRACE)
        span = spans.add(
            name="chat small" if step else "invoke_agent helper",
            trace_id=f"{number:08d}{trace:08d}".encode(),
            span_id=f"{step + 1:08d}".encode(),
            parent_span_id=b"00000001" if step else b"",
            start_time_unix_nano=now + step,
            end_time_unix_nano=now + 1_000_000 + step,
        )
        for key, value in (
            ("gen_ai.operation.name", "chat" if step else "invoke_agent"),
            ("gen_ai.conversation.id", f"talk-{number}-{trace // 10}"),
            ("gen_ai.request.model", "small"),
        ):
            span.attributes.add(key=key).value.string_value = value
    return request.SerializeToString()
