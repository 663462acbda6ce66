"""A summary in a model's words, if one is configured; the rules otherwise [K40, K45]."""

from collections.abc import Callable, Sequence
from typing import Any

from mrpvm.conversation.summary import Said, Summary, extend_by_model, extend_by_rules, request_for_model
from mrpvm.llm.port import CallScope, Prompt
from mrpvm.llm.recorder import Recorder
from mrpvm.values import HistoryMessage
from sessions_app.models import ExplainabilityTurn
from sessions_app.turns.language_model import is_configured, model_source

type Record = Callable[[list[dict[str, Any]]], None]
"""Takes the requests that were really sent [H35]."""
PLUGIN_ID = "conversation-summary"
ROLE = "conversation"
TIMEOUT_MS = 15_000
_SYSTEM = (
    "You keep the running summary of a conversation. Write the new summary in at most 200 words: plain sentences, "
    "nothing that was not said. Keep every number, amount, date and name exactly as it was written."
)


def summarise(turn: ExplainabilityTurn, summary: Summary, batch: Sequence[Said], record: Record) -> Summary:
    """Give the summary with these messages in it.

    Raises:
        MRPError: the model did not answer.
    """
    if not is_configured() or turn.pk is None:  # a turn that is only imagined asks no model
        return extend_by_rules(summary, batch)
    recorder = Recorder()
    scope = CallScope(timeout_ms=TIMEOUT_MS, max_calls=1, stopped=lambda: False, recorder=recorder)
    try:
        reply = model_source(turn.session.model_config).bind(scope).call(
            Prompt(
                plugin_id=PLUGIN_ID, role=ROLE, system=_SYSTEM,
                messages=(HistoryMessage(role="user", content=request_for_model(summary, batch)),),
            )
        )  # fmt: skip
    finally:
        record(recorder.as_records())
    return extend_by_model(summary, batch, reply.text)
