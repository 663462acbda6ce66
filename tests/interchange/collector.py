"""A collector of traces: an HTTP server that keeps the requests."""

import gzip
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

WAIT_SECONDS = 10


class Collector:
    """Accepts OTLP over HTTP at `url`; `bodies` has the requests' bodies, and `spans` their spans."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.spans: list[Span] = []
        outer = self

        class Taking(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                outer.take(body)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def take(self, body: bytes) -> None:
        """Keep a request."""
        request = ExportTraceServiceRequest.FromString(body)
        self.bodies.append(body)
        self.spans += [
            span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans
        ]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait_for(self, holds: Callable[[list[Span]], bool]) -> list[Span]:
        """Wait until the spans are as expected; return them."""
        until = time.monotonic() + WAIT_SECONDS
        while not holds(self.spans):
            assert time.monotonic() < until, [span.name for span in self.spans]
            time.sleep(0.02)
        return self.spans


def attributes(span: Any) -> dict[str, Any]:
    """Return the attributes of a span, link or event."""
    return {item.key: _value(item.value) for item in span.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)
