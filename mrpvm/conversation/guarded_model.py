"""Models whose answers are checked: one that policy denies is not passed on."""

from mrpvm.conversation.guardrails import denial_of_answer
from mrpvm.errors import AnswerDenied
from mrpvm.llm.bridge import ANSWERING_ROLES
from mrpvm.llm.port import CallScope, LanguageModel, ModelSource, OnText, Prompt, Reply


class GuardedModels:
    """Models whose answers are looked at before anybody reads them; what they say to other tasks is not."""

    def __init__(self, models: ModelSource) -> None:
        self._models = models

    @property
    def available(self) -> bool:
        """Return whether a model is configured."""
        return self._models.available

    def bind(self, scope: CallScope) -> LanguageModel:
        """Return the model for one plugin call."""
        return _GuardedModel(self._models.bind(scope))


class _GuardedModel:
    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def available(self) -> bool:
        """Return whether a model is configured."""
        return self._model.available

    def call(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Return the answer; see `LanguageModel.call`.

        Raises:
            AnswerDenied: policy denies it; the piece that shows this is not passed on.
        """
        if prompt.role not in ANSWERING_ROLES:
            return self._model.call(prompt, on_text)
        said = ""

        def tell(text: str) -> None:
            nonlocal said
            said += text
            _check(said)
            if on_text is not None:
                on_text(text)

        reply = self._model.call(prompt, None if on_text is None else tell)
        _check(reply.text)
        return reply


def _check(text: str) -> None:
    reason = denial_of_answer(text)
    if reason is not None:
        raise AnswerDenied(f"The model's answer {reason}; it was not passed on.")
