"""The W3C trace context: what a request belongs to in the traces of its sender, and what model calls pass on."""

import re
import secrets
from contextvars import ContextVar
from copy import replace
from typing import Self

from msgspec import Struct

HEADER = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


class TraceContext(Struct, frozen=True, kw_only=True):
    """A span and its trace; ids are 32 and 16 hex digits. `parent_span_id` is the span above it, if any."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    is_sampled: bool = True

    @classmethod
    def of_header(cls, header: str) -> Self | None:
        """Return what a `traceparent` header names, None for one that is not valid."""
        match = _FORM.fullmatch(header.strip())
        if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
            return None
        if not int(match[2], 16) or not int(match[3], 16):
            return None
        return cls(trace_id=match[2], span_id=match[3], is_sampled=bool(int(match[4], 16) & 1))

    @property
    def header(self) -> str:
        """Return the `traceparent` header."""
        return f"00-{self.trace_id}-{self.span_id}-{int(self.is_sampled):02x}"

    def child(self, span_id: str | None = None) -> "TraceContext":
        """Return a span below this one, with a random id unless it is given."""
        return replace(self, span_id=span_id or secrets.token_hex(8), parent_span_id=self.span_id)


current_trace: ContextVar[TraceContext | None] = ContextVar("current_trace", default=None)
"""The span of the running work; None without tracing."""
