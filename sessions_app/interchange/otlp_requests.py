"""Reads what other applications send by OTLP over HTTP: protobuf or JSON, plain or compressed."""

import base64
import binascii
import json
import threading
import time
import zlib
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from mrpvm.errors import InvalidInput, TooLarge
from mrpvm.llm.redaction import without_secrets
from mrpvm.llm.storable import storable
from mrpvm.preview import size_words
from sessions_app.interchange.received import JSON, AttributeValue, Received, ReceivedLink, ReceivedSpan

ATTRIBUTES_A_SPAN = 256
VALUE_CHARS = 64_000
NAME_CHARS = 200
FUTURE_NS = 24 * 3_600 * 1_000_000_000
"""How far a sender's clock may be ahead."""
UNPACKED = 2
"""How many times `MRPVM_MAX_BODY_BYTES` a body may unpack to."""
_DEPTH = 20
# An empty span takes 2 bytes of a body and 170 of memory, so that requests are read one at a time.
_reading = threading.Lock()


def read_request(body: bytes, media_type: str, encoding: str) -> Received:
    """Return the spans of an OTLP request.

    Raises:
        InvalidInput: the body is no such request.
        TooLarge: it unpacks to more than `UNPACKED` times what may be sent, or holds too many spans.
    """
    plain = _unpacked(body, encoding)
    with _reading:
        return _read_plain(plain, media_type)


def _read_plain(plain: bytes, media_type: str) -> Received:
    request = _of_json(plain) if media_type == JSON else _of_protobuf(plain)
    count = sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans)
    limit = settings.MRPVM_MAX_SPANS_A_REQUEST
    if count > limit:
        raise TooLarge(f"The request holds {count} spans; {limit} are allowed. Send smaller batches.")
    return _usable(request)


def _unpacked(body: bytes, encoding: str) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "deflate"):
        raise InvalidInput(f"The encoding '{encoding[:40]}' is not known; send gzip, deflate or none.")
    limit = UNPACKED * settings.MRPVM_MAX_BODY_BYTES
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either header
    try:
        plain = unpacking.decompress(body, limit + 1)
    except zlib.error:
        raise InvalidInput(f"The body is not {encoding}.") from None
    if len(plain) > limit:
        raise TooLarge(f"The body unpacks to more than {size_words(limit)}.", details={"max_bytes": limit})
    if not unpacking.eof:
        raise InvalidInput(f"The body's {encoding} is cut off.")
    return plain


def _of_protobuf(body: bytes) -> ExportTraceServiceRequest:
    try:
        return ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise InvalidInput("The body is not an OTLP trace request in protobuf.") from None


def _of_json(body: bytes) -> ExportTraceServiceRequest:
    try:
        document = json.loads(body)
        for resource in document.get("resourceSpans", ()):
            for scope in resource.get("scopeSpans", ()):
                for span in scope.get("spans", ()):
                    _encode_ids(span)
        return ParseDict(document, ExportTraceServiceRequest(), ignore_unknown_fields=True)
    except (ValueError, AttributeError, TypeError, RecursionError, ParseError, binascii.Error):
        raise InvalidInput("The body is not an OTLP trace request in JSON.") from None


def _encode_ids(span: dict[str, Any]) -> None:
    """Write ids as the protobuf library reads bytes: OTLP's own JSON has them in hexadecimal."""
    for holder in (span, *span.get("links", ())):
        for name in ("traceId", "spanId", "parentSpanId"):
            if name in holder:
                holder[name] = base64.b64encode(bytes.fromhex(holder[name])).decode()


def _usable(request: ExportTraceServiceRequest) -> Received:
    spans: list[ReceivedSpan] = []
    rejected_count, problem = 0, ""
    latest = time.time_ns() + FUTURE_NS
    for resource in request.resource_spans:
        service = str(_attributes(resource.resource.attributes).get("service.name", ""))[:NAME_CHARS]
        for scope in resource.scope_spans:
            for span in scope.spans:
                wrong = _what_is_wrong(span, latest)
                if wrong:
                    rejected_count, problem = rejected_count + 1, problem or wrong
                else:
                    spans.append(_read(span, service))
    return Received(spans=spans, rejected_count=rejected_count, problem=problem)


def _what_is_wrong(span: Any, latest: int) -> str:
    if len(span.trace_id) != 16 or not any(span.trace_id) or len(span.span_id) != 8 or not any(span.span_id):
        return "A span needs a trace id of 16 bytes and a span id of 8 bytes that are not all zero."
    if len(span.parent_span_id) not in (0, 8):
        return "A parent's span id has 8 bytes."
    if not 0 < span.start_time_unix_nano <= latest or span.end_time_unix_nano > latest:
        return "A span's times are nanoseconds since 1970 and not in the future."
    return ""


def _read(span: Any, service: str) -> ReceivedSpan:
    attributes = _attributes(span.attributes)
    for event in span.events:  # messages and errors come as events too
        attributes |= {name: value for name, value in _attributes(event.attributes).items() if name not in attributes}
    is_error = span.status.code == span.status.STATUS_CODE_ERROR
    links = (
        ReceivedLink(span_id=link.span_id.hex(), kind=str(_attributes(link.attributes).get("mrpvm.edge.kind", "")))
        for link in span.links
        if link.trace_id == span.trace_id
    )
    return ReceivedSpan(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=span.parent_span_id.hex(),
        name=_text(span.name)[:NAME_CHARS],
        start_ns=span.start_time_unix_nano,
        end_ns=max(span.start_time_unix_nano, span.end_time_unix_nano),
        error=_text(span.status.message or "The span ended with an error.") if is_error else None,
        attributes=attributes,
        service=service,
        links=tuple(links),
    )


def _attributes(listed: Any) -> dict[str, AttributeValue]:
    pairs = list(_pairs(listed))
    cut = {"mrpvm.import.attributes_left_out": len(pairs) - ATTRIBUTES_A_SPAN} if len(pairs) > ATTRIBUTES_A_SPAN else {}
    return {**dict(pairs[:ATTRIBUTES_A_SPAN]), **cut}


def _pairs(listed: Any) -> Iterator[tuple[str, AttributeValue]]:
    for item in listed:
        yield _text(item.key)[:NAME_CHARS], _value(item.value, 0)


def _value(value: Any, depth: int) -> AttributeValue:
    kind = value.WhichOneof("value")
    if kind is None or depth > _DEPTH:
        return None
    if kind == "array_value":
        return [_value(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {_text(item.key): _value(item.value, depth + 1) for item in value.kvlist_value.values}
    plain = getattr(value, kind)
    if kind == "bytes_value":
        return f"{len(plain)} bytes"
    return _text(plain) if isinstance(plain, str) else plain


def _text(text: str) -> str:
    kept = storable(without_secrets(text))
    missing = len(kept) - VALUE_CHARS
    return kept if missing <= 0 else f"{kept[:VALUE_CHARS]}... ({missing} more characters)"
