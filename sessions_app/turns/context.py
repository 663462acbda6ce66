"""What one turn's model gets to see of the conversation: read, summarised and cut, with its report [S-29, K40, X2]."""

import logging
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from mrpvm.conversation.context import Context, build_context, with_evidence
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.session_memory import Memory, told_terms
from mrpvm.conversation.summary import (
    MODEL_MESSAGES,
    VERBATIM_MESSAGES,
    Said,
    Summary,
    due_through,
    extend_by_rules,
    summary_of,
)
from mrpvm.conversation.system_prompt import Instruction
from mrpvm.conversation.window import Window, cut_window, without_current
from mrpvm.values import HistoryMessage, TurnOutcome
from sessions_app.models import ExplainabilityTurn, Message, Session
from sessions_app.models.plain_sql import select_rows
from sessions_app.queries.context_sections import SAID_ROLES
from sessions_app.turns.call import TurnCall
from sessions_app.turns.model_summary import summarise
from sessions_app.turns.preparation_model import PreparationModel

logger = logging.getLogger(__name__)

MESSAGES_AT_ONCE = 100
"""So many messages of an imported history are read and summarised at once."""
SUMMARY_FAILED = "summary_failed"
"""A warning: the model did not summarise, so the rules did."""


def conversation_context(
    turn: ExplainabilityTurn,
    call: TurnCall,
    flags: Flags,
    instructions: Sequence[Instruction] = (),
    memory: Memory | None = None,
    model: PreparationModel | None = None,
) -> Context:
    """Give the context of a turn that holds its slot.

    Args:
        instructions: what the system prompt is made of.
        memory: what earlier turns left, of which the model is told the terms that the message names, unless the request
            brings a conversation of its own.
        model: None for a turn that is only imagined, which asks none.

    Effects: the turn's report and the session's summary on the unsaved rows; both are stored by the turn's end.
    """
    if call.history is not None:
        context = _of_request(call, flags, instructions)
    else:
        context = _of_session(turn, call, flags, instructions, memory, model)
    turn.context_report = context.report()
    return context


def _of_request(call: TurnCall, flags: Flags, instructions: Sequence[Instruction]) -> Context:
    said = [item for item in without_current(call.history or (), call.message) if item.role in SAID_ROLES]
    window = _cut(said[::-1], len(said), flags)
    return build_context(
        message=call.message, instructions=instructions, window=window, summary=Summary(), source="request"
    )


def _of_session(
    turn: ExplainabilityTurn,
    call: TurnCall,
    flags: Flags,
    instructions: Sequence[Instruction],
    memory: Memory | None,
    model: PreparationModel | None,
) -> Context:
    session = turn.session
    rows = _newest(session, 2 * flags.history_max_turns + 1)
    summary, warnings = Summary(), list[str]()
    requests: list[dict[str, Any]] = []
    if flags.enable_history_summarization:
        summary, warnings = _summary(turn, rows, requests, model)
        rows = [row for row in rows if row[0] > summary.through]
    added = [item for item in call.added if item.role in SAID_ROLES]
    newest_first = [*reversed(added), *(HistoryMessage(role=role, content=content) for _, role, content in rows)]
    total_count = session.message_sequence - summary.through + len(added)
    window = _cut(newest_first, total_count, flags)
    kept_count = len(window.messages) - len(added)
    places = (rows[kept_count - 1][0], rows[0][0]) if 0 < kept_count <= len(rows) and not added else None
    told = told_terms(memory, call.message, [item.content for item in window.messages]) if memory else ""
    return build_context(
        message=call.message, instructions=instructions, window=window, summary=summary,
        memory=told, source="stored", places=places, warnings=warnings, requests=requests,
    )  # fmt: skip


def _cut(newest_first: Sequence[HistoryMessage], total_count: int, flags: Flags) -> Window:
    return cut_window(newest_first, total_count, 2 * flags.history_max_turns, settings.MRPVM_MAX_HISTORY_CHARS)


type Row = tuple[int, str, str]


def _newest(session: Session, limit: int) -> list[Row]:
    """Give `(place, role, content)` of the newest messages that a model may see, the newest first."""
    found: list[Row] = select_rows(
        Message, ("sequence", "role", "content"), highest="sequence", limit=limit, session_id=session.pk,
        role=SAID_ROLES,
    )  # fmt: skip
    return found


def _summary(
    turn: ExplainabilityTurn, rows: Sequence[Row], requests: list[dict[str, Any]], model: PreparationModel | None
) -> tuple[Summary, list[str]]:
    """Give the summary as it must be for this turn; made only when too many messages are waiting [K4, K41]."""
    session = turn.session
    summary = summary_of(session.summary)
    through = due_through(session.message_sequence, summary.through)
    if through <= summary.through:
        return summary, []
    if rows and rows[-1][0] > summary.through + 1:  # more wait than the window holds: an imported history
        summary = _older_taken_up(session, summary, through - MODEL_MESSAGES)
        rows = _newest(session, MODEL_MESSAGES + VERBATIM_MESSAGES)
    batch = [Said(sequence=place, role=role, content=content) for place, role, content in reversed(rows)
             if summary.through < place <= through]  # fmt: skip
    warnings = list[str]()
    try:
        summary = summarise(model, summary, batch, requests.extend)
    except Exception:
        logger.warning("the summary of session %s was made by rules", session.session_id, exc_info=True)
        summary, warnings = extend_by_rules(summary, batch), [SUMMARY_FAILED]
    session.summary = summary.as_record()
    return summary, warnings


def _older_taken_up(session: Session, summary: Summary, through: int) -> Summary:
    """Give the summary that the rules extended up to a place, some messages at a time."""
    said = session.messages.filter(role__in=SAID_ROLES).order_by("sequence")
    for start in range(summary.through, through, MESSAGES_AT_ONCE):
        rows = said.filter(sequence__gt=start, sequence__lte=min(start + MESSAGES_AT_ONCE, through))
        found = rows.values_list("sequence", "role", "content")
        summary = extend_by_rules(summary, [Said(sequence=at, role=role, content=text) for at, role, text in found])
    return summary


def report_evidence(turn: ExplainabilityTurn, outcome: TurnOutcome) -> None:
    """Add what was retrieved for the answer to the turn's report, on the unsaved row."""
    if turn.context_report is None or outcome.answer is None:
        return
    found = {entry.unit.id: len(entry.unit.text) for group in outcome.answer.groups for entry in group.evidence}
    turn.context_report = with_evidence(turn.context_report, tuple(found), sum(found.values()))


def report_model_calls(turn: ExplainabilityTurn, outcome: TurnOutcome) -> None:
    """Note how often the turn's plugins asked a model, so that who lists turns need not read their traces."""
    if turn.context_report is not None:
        turn.context_report["modelCalls"] = sum(stage.llm_calls for stage in outcome.stages)
