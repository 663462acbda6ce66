"""The language model as the preparation of a turn asks it."""

from typing import Protocol

from msgspec import Struct

from mrpvm.llm.recorder import ModelExchange


class Spent(Struct, frozen=True):
    """What preparing a turn has taken of its limits: milliseconds since the turn's start, and model calls.

    `exchanges` are the requests that were really sent, redacted.
    """

    ms: int = 0
    call_count: int = 0
    exchanges: tuple[ModelExchange, ...] = ()


class PreparationModel(Protocol):
    """A model that answers within the time and the number of calls that the turn has left."""

    @property
    def available(self) -> bool: ...

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        """Return the model's answer to one text.

        Raises:
            MRPError: it did not answer, or may not be asked any more.
        """
        ...

    def spent(self) -> Spent:
        """Return what was taken until now.

        Raises:
            TurnCancelled, TurnInterrupted: a call found that the turn must end.
        """
        ...


class UnaskedModel:
    """No model: for a turn that is only predicted."""

    available = False

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        raise RuntimeError("a predicted turn asks no model")

    def spent(self) -> Spent:
        return Spent()
