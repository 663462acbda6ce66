"""What model-backed plugins share: one plugin call's talk with its model, and how it is reported."""

from collections.abc import Sequence

from mrpvm.contracts import CallContext, CallMetadata, Descriptor, PluginError
from mrpvm.errors import MRPError
from mrpvm.llm.port import OnText, Prompt, Reply
from mrpvm.values import HistoryMessage


class Dialogue:
    """The model calls of one plugin call, under one role and one system prompt.

    Args:
        role: the model role to use in place of the plugin's own; overrides of the role do not reach it.
        wish: the model of the request or session.
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
            MRPError: there is none; LLM_NOT_AVAILABLE costs no call.
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
        """Return what was used so far; no model is named where none was called."""
        return CallMetadata(
            llm_calls=self._call_count,
            model=self._last.model if self._last else None,
            model_role=self._last.role if self._last else None,
            warnings=tuple(self.warnings),
        )


def failure(error: MRPError) -> PluginError:
    """Return an error on the way to the model as the plugin's."""
    return PluginError(code=error.code, message=error.message, details=error.details)
