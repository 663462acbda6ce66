"""A summary in a model's words, if one is configured; the rules otherwise [K40, K45]."""

from collections.abc import Sequence

from mrpvm.conversation.summary import Said, Summary, extend_by_model, extend_by_rules, request_for_model
from sessions_app.turns.preparation_model import PreparationModel, Record

PLUGIN_ID = "conversation-summary"
ROLE = "conversation"
TIMEOUT_MS = 15_000
_SYSTEM = (
    "You keep the running summary of a conversation. Write the new summary in at most 200 words: plain sentences, "
    "nothing that was not said. Keep every number, amount, date and name exactly as it was written."
)


def summarise(model: PreparationModel | None, summary: Summary, batch: Sequence[Said], record: Record) -> Summary:
    """Give the summary with these messages in it.

    Args:
        model: None for a turn that is only imagined.

    Raises:
        MRPError: the model did not answer.
    """
    if model is None or not model.available:
        return extend_by_rules(summary, batch)
    asked = request_for_model(summary, batch)
    reply = model.ask(PLUGIN_ID, ROLE, _SYSTEM, asked, timeout_ms=TIMEOUT_MS, record=record)
    return extend_by_model(summary, batch, reply)
