"""Spans that other applications send."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PROTOBUF, JSON = "application/x-protobuf", "application/json"

type AttributeValue = str | int | float | bool | list[AttributeValue] | dict[str, AttributeValue] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedLink:
    """Another span of the same trace that this one follows, and why, where the sender says it."""

    span_id: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedSpan:
    """One span; ids are hexadecimal, times in ns since 1970. `parent_span_id` is empty for a root."""

    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    start_ns: int
    end_ns: int
    error: str | None
    attributes: Mapping[str, AttributeValue]
    service: str = ""
    links: Sequence[ReceivedLink] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The valid spans of a request, and the error of the first invalid one."""

    spans: Sequence[ReceivedSpan]
    rejected_count: int = 0
    problem: str = ""
