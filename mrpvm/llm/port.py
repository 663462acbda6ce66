"""What plugins ask of a language model, and what the kernel asks of the provider of one."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from mrpvm.llm.recorder import Recorder
from mrpvm.values import HistoryMessage, Usage

OnText = Callable[[str], None]
"""Takes a piece of the answer while the model writes it, on the calling thread."""


class Sampling(Struct, frozen=True, kw_only=True):
    """What a request asks of the model that writes its answer; None and nothing leave it to the role table."""

    temperature: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()


class Prompt(Struct, frozen=True, kw_only=True):
    """One logical call.

    `messages` are oldest first, the last one the user's. `role` is the plugin's model role unless an override names
    another; `keeps_role` says that it must stay, for a task that is not the plugin's main one. `wish` is the model
    that the request or session asked for, if the plugin honours it.
    """

    plugin_id: str
    role: str
    system: str
    messages: tuple[HistoryMessage, ...]
    wish: str | None = None
    keeps_role: bool = False


class Reply(Struct, frozen=True, kw_only=True):
    """What the model said: never empty; `finish_reason` is `stop`, `length` when it was cut off, or another word
    of the provider's.
    """

    text: str
    model: str
    role: str
    finish_reason: str
    usage: Usage


class LanguageModel(Protocol):
    """The model as one plugin call sees it."""

    @property
    def available(self) -> bool:
        """Return whether a model is configured."""

    def call(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Return the model's answer; with `on_text` its pieces go there as they arrive.

        Raises:
            Unavailable: LLM_NOT_AVAILABLE, at once.
            ModelFailed, ModelTimeout: the provider did not deliver, retries included.
            BudgetExceeded: the plugin asks more often than it declared.
        """


class CallScope(Struct, frozen=True, kw_only=True):
    """The bounds of one plugin call: its time, its calls, whether it was given up, and where it is recorded."""

    timeout_ms: int
    max_calls: int
    stopped: Callable[[], bool]
    recorder: Recorder


class ModelSource(Protocol):
    """The model as one turn sees it: one snapshot of the roles for all its calls."""

    @property
    def available(self) -> bool:
        """Return whether a model is configured."""

    def bind(self, scope: CallScope) -> LanguageModel:
        """Return the model for one plugin call."""
