"""The language model as the preparation of a turn asks it."""

from collections.abc import Sequence
from typing import Protocol

from mrpvm.llm.recorder import ModelExchange


class PreparationModel(Protocol):
    """A model that answers within the time and the number of calls that the turn has left.

    `exchanges` are the requests that were really sent, redacted. `spent_ms` counts from the turn's start.
    """

    @property
    def available(self) -> bool: ...

    @property
    def spent_ms(self) -> int: ...

    @property
    def call_count(self) -> int: ...

    @property
    def exchanges(self) -> Sequence[ModelExchange]: ...

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        """Return the model's answer to one text.

        Raises:
            MRPError: it did not answer, or may not be asked any more.
        """
        ...

    def raise_if_ended(self) -> None:
        """Raise TurnCancelled or TurnInterrupted where a call found that the turn must end."""
        ...


class UnaskedModel:
    """No model: for a turn that is only predicted."""

    available = False
    spent_ms = 0
    call_count = 0
    exchanges: Sequence[ModelExchange] = ()

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        raise RuntimeError("a predicted turn asks no model")

    def raise_if_ended(self) -> None:
        return
