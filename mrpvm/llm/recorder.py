"""Every request that really left for a model, and what came back, of one plugin call [O-1, H60 to H64]."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from mrpvm.llm.chain import storable_body
from mrpvm.llm.redaction import redacted
from mrpvm.values import CHARS_PER_TOKEN, Usage


def estimated_tokens(chars: int) -> int:
    """Return the estimate for a text of this length [O-32]."""
    return math.ceil(chars / CHARS_PER_TOKEN)


@dataclass(slots=True)
class Exchange:
    """One request and its response; `response` stays None while nothing came back."""

    request: Mapping[str, Any]
    started: float
    response: Mapping[str, Any] | None = None
    duration_ms: int | None = None

    def ended(self, **response: Any) -> None:
        """Note what came back."""
        self.duration_ms = int((time.monotonic() - self.started) * 1000)
        self.response = response


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
    _exchanges: list[Exchange] = field(default_factory=list)
    _secrets: tuple[str, ...] = ()
    _lock: Lock = field(default_factory=Lock)

    def call_began(self, model: str, role: str, secrets: tuple[str, ...]) -> None:
        """Count one logical call [PL-26]."""
        with self._lock:
            self.call_count += 1
            self.model, self.role, self._secrets = model, role, secrets

    def sent(
        self, url: str, body: Mapping[str, Any], *, basis: str, attempt: int, left_out: Sequence[str] = ()
    ) -> Exchange:
        """Note a request that leaves now.

        Args:
            basis: why this model was chosen.
            left_out: parameters that the model has refused before, and that are not sent for that reason.
        """
        request = {"url": url, "body": storable_body(body), "modelBasis": basis, "attempt": attempt}
        exchange = Exchange(request | ({"leftOut": list(left_out)} if left_out else {}), time.monotonic())
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

    def as_records(self) -> list[dict[str, Any]]:
        """Return all exchanges so far as stored data, in order, redacted."""
        with self._lock:
            exchanges, secrets = list(self._exchanges), self._secrets
        return [
            redacted({**item.request, "response": item.response, "durationMs": item.duration_ms}, secrets)
            for item in exchanges
        ]
