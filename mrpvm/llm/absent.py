"""No model: what the machine is given when no provider is configured."""

from typing import NoReturn, Self

from mrpvm.errors import Unavailable
from mrpvm.llm.port import CallScope, OnText, Prompt


class AbsentModel:
    """A language model that is not there, for a turn and for each call of it."""

    @property
    def available(self) -> bool:
        return False

    def bind(self, scope: CallScope) -> Self:
        """Return the same absence."""
        return self

    def call(self, prompt: Prompt, on_text: OnText | None = None) -> NoReturn:
        """Refuse at once.

        Raises:
            Unavailable: LLM_NOT_AVAILABLE.
        """
        raise Unavailable("No language model is configured.", code="LLM_NOT_AVAILABLE")
