"""Shared by plugins that use a model: the model calls of one plugin call, and the report of their usage."""

from collections.abc import Sequence

from mrpvm.contracts import CallContext, CallMetadata, Descriptor, PluginError
from mrpvm.errors import MRPError
from mrpvm.llm.port import OnText, Prompt, Reply
from mrpvm.values import HistoryMessage


class Dialogue:
    """The model calls of one plugin call, under one role and one system prompt.

    Args:
        role: the model role to use in place of the plugin's own; overrides for the plugin do not apply to it.
        wish: the model that the request or session chooses.
    """

    def __init__(
        self,
        context: CallContext,
        descriptor: Descriptor,
        system: str,
        *,
        role: str | None = None,
        wish: str | None = None,
    ) -> None:
        self._context = context
        self._descriptor = descriptor
        self._system = system
        self._role = role
        self._wish = wish
        self._call_count = 0
        self._last: Reply | None = None
        self.warnings: list[str] = []

    def ask(self, messages: Sequence[HistoryMessage], on_text: OnText | None = None) -> str:
        """Return the model's answer to a conversation whose last message is the user's.

        Raises:
            MRPError: there is no answer; LLM_NOT_AVAILABLE does not count as a call.
        """
        model = self._context.model
        self._call_count += model.available
        self._last = model.call(
            Prompt(
                plugin_id=self._descriptor.id,
                role=self._role or self._descriptor.model_roles[0],
                system=self._system,
                messages=tuple(messages),
                wish=self._wish,
                keeps_role=self._role is not None,
            ),
            on_text,
        )
        if self._last.finish_reason == "length":
            self.warnings.append("The model's answer was cut off at its length limit.")
        return self._last.text

    @property
    def metadata(self) -> CallMetadata:
        """Return the usage so far; without a call no model is named."""
        return CallMetadata(
            llm_calls=self._call_count,
            model=self._last.model if self._last else None,
            model_role=self._last.role if self._last else None,
            warnings=tuple(self.warnings),
        )


def failure(error: MRPError) -> PluginError:
    """Return an error of a model call as the plugin's error."""
    return PluginError(code=error.code, message=error.message, details=error.details)
