"""Every request that really left for a model, and what came back, of one plugin call."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NotRequired, TypedDict

from mrpvm.errors import ErrorRecord
from mrpvm.llm.provider_thread import storable_body
from mrpvm.llm.redaction import redacted
from mrpvm.llm.trace_context import TraceContext
from mrpvm.values import CHARS_PER_TOKEN, Usage


def estimated_tokens(chars: int) -> int:
    """Return the estimate for a text of this length."""
    return math.ceil(chars / CHARS_PER_TOKEN)


class ModelResponse(TypedDict, total=False):
    """What came back: an answer's text, or why there is none."""

    status: int | None
    text: str
    finishReason: str
    usage: Mapping[str, Any] | None
    error: ErrorRecord
    fromCache: bool


class ModelExchange(TypedDict):
    """One request and its response as stored data, redacted; `response` is None where nothing came back.

    `leftOut` are parameters that the model has refused before, and that were not sent for that reason.
    `traceparent` is the header that put the provider's own spans below the turn's, where it is traced.
    `purpose` names what prepared the turn by the call.
    """

    url: str
    body: Mapping[str, Any]
    modelBasis: str
    attempt: int
    leftOut: NotRequired[list[str]]
    traceparent: NotRequired[str]
    response: ModelResponse | None
    durationMs: int | None
    purpose: NotRequired[str]


@dataclass(slots=True)
class OpenRequest:
    """One request on its way: its record is completed when something comes back."""

    record: ModelExchange
    started: float

    def ended(self, response: ModelResponse) -> None:
        """Note what came back."""
        self.record["durationMs"] = int((time.monotonic() - self.started) * 1000)
        self.record["response"] = response


@dataclass(slots=True)
class Recorder:
    """What one plugin call said to models. The plugin's thread writes, the turn's reads, also when it gave up waiting.

    `secrets` are texts that must not be kept wherever they occur, such as the key itself.
    """

    call_count: int = 0
    model: str | None = None
    role: str | None = None
    usage: Usage | None = None
    answer_was_cut: bool = False
    warnings: tuple[str, ...] = ()
    _exchanges: list[OpenRequest] = field(default_factory=list)
    _secrets: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock)

    def call_began(self, model: str, role: str, secrets: tuple[str, ...]) -> None:
        """Count one logical call."""
        with self._lock:
            self.call_count += 1
            self.model, self.role, self._secrets = model, role, secrets

    def sent(
        self,
        url: str,
        body: Mapping[str, Any],
        *,
        basis: str,
        attempt: int,
        left_out: Sequence[str] = (),
        trace: TraceContext | None = None,
    ) -> OpenRequest:
        """Note a request that leaves now.

        Args:
            basis: why this model was chosen.
            left_out: parameters that the model has refused before, and that are not sent for that reason.
            trace: the request's own span, whose header goes with it.
        """
        record: ModelExchange = {
            "url": url, "body": storable_body(body), "modelBasis": basis, "attempt": attempt, "response": None,
            "durationMs": None,
        }  # fmt: skip
        if left_out:
            record["leftOut"] = list(left_out)
        if trace is not None:
            record["traceparent"] = trace.header
        exchange = OpenRequest(record, time.monotonic())
        with self._lock:
            self._exchanges.append(exchange)
        return exchange

    def used(self, usage: Usage) -> None:
        """Add the tokens of one answer."""
        with self._lock:
            self.usage = usage if self.usage is None else self.usage + usage

    def warn(self, warning: str) -> None:
        """Note what is odd about an answer."""
        with self._lock:
            self.warnings += (warning,)

    def as_records(self) -> list[ModelExchange]:
        """Return all exchanges so far as stored data, in order, redacted."""
        with self._lock:
            exchanges, secrets = list(self._exchanges), self._secrets
        return [redacted(item.record, secrets) for item in exchanges]
