"""A message rewritten by a language model; whatever goes wrong, the original is searched for [K23, K24]."""

from collections.abc import Sequence

from mrpvm.conversation.rewriting import AskModel
from mrpvm.conversation.rewriting.by_model import SYSTEM, request_for_model
from mrpvm.values import HistoryMessage
from sessions_app.turns.preparation_model import PreparationModel, Record

PLUGIN_ID = "conversation-rewriting"
ROLE = "conversation"
TIMEOUT_MS = 10_000


def model_asker(model: PreparationModel, record: Record) -> AskModel:
    """Give the turn's model as one who may be asked for a rewrite."""

    def ask(message: str, history: Sequence[HistoryMessage]) -> str:
        asked = request_for_model(message, history)
        return model.ask(PLUGIN_ID, ROLE, SYSTEM, asked, timeout_ms=TIMEOUT_MS, record=record)

    return ask
