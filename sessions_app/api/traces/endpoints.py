"""`POST /v1/traces`: OTLP over HTTP, as every OpenTelemetry exporter sends it."""

from django.http import HttpResponse
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request

from sessions_app.api.shell.views import ApiView
from sessions_app.interchange.importing import import_spans
from sessions_app.interchange.received import JSON, PROTOBUF


class Traces(ApiView):
    """Takes traces; the sender is the holder of the key."""

    parser_classes = ()  # the body is read as it is
    schema = None

    def post(self, request: Request) -> HttpResponse:
        """Store the spans and answer in the request's own format; spans that cannot be used are counted in it."""
        from google.protobuf.json_format import MessageToJson
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
            ExportTracePartialSuccess,
            ExportTraceServiceResponse,
        )

        from sessions_app.interchange.otlp_requests import read_request

        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        if media_type not in (PROTOBUF, JSON):
            raise UnsupportedMediaType(media_type, f"Send the body as {PROTOBUF} or {JSON}.")
        encoding = request.headers.get("Content-Encoding", "").strip().lower()
        received = read_request(request._request.body, media_type, encoding)
        import_spans(self.project, received.spans)
        answer = ExportTraceServiceResponse()
        if received.rejected_count:
            rejected = ExportTracePartialSuccess(rejected_spans=received.rejected_count, error_message=received.problem)
            answer.partial_success.CopyFrom(rejected)
        content = MessageToJson(answer).encode() if media_type == JSON else answer.SerializeToString()
        return HttpResponse(content, content_type=media_type)
