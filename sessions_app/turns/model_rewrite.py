"""A message rewritten by a language model; whatever goes wrong, the original is searched for [K23, K24]."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mrpvm.conversation.rewriting import AskModel
from mrpvm.conversation.rewriting.by_model import SYSTEM, request_for_model
from mrpvm.llm.port import CallScope, Prompt
from mrpvm.llm.recorder import Recorder
from mrpvm.values import HistoryMessage
from sessions_app.turns.language_model import model_source

PLUGIN_ID = "conversation-rewriting"
ROLE = "conversation"
TIMEOUT_MS = 10_000


def model_asker(config: Mapping[str, Any], record: Callable[[list[dict[str, Any]]], None]) -> AskModel:
    """Give the model of this role table as one who may be asked once for a rewrite.

    Args:
        record: takes the requests that were really sent [H35].
    """

    def ask(message: str, history: Sequence[HistoryMessage]) -> str:
        recorder = Recorder()
        scope = CallScope(timeout_ms=TIMEOUT_MS, max_calls=1, stopped=lambda: False, recorder=recorder)
        asked = HistoryMessage(role="user", content=request_for_model(message, history))
        try:
            prompt = Prompt(plugin_id=PLUGIN_ID, role=ROLE, system=SYSTEM, messages=(asked,))
            return model_source(config).bind(scope).call(prompt).text
        finally:
            record(recorder.as_records())

    return ask
