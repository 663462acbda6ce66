"""What the conversation adds to a turn's searches: the message rewritten, and what earlier turns used [O-36, O-48].

Rewriting is the last act of preparation, bias acts inside retrieval, and memory is written inside the commit. A policy
that is off, or has nothing to work on, leaves the turn as it is without it; one that fails is left out [K52].
"""

import logging
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from mrpvm.conversation.flags import Flags
from mrpvm.conversation.rewriting import FOLLOWS_UP, AskModel, Rewriting, need_of, rewrite, subject_of
from mrpvm.conversation.session_memory import Memory, after_turn
from mrpvm.values import HistoryMessage, Recall, TurnOutcome
from sessions_app.actions.memory import keep_memory
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.flags import flags_of
from sessions_app.queries.memory import stored_memory
from sessions_app.turns.call import TurnCall
from sessions_app.turns.model_rewrite import model_asker
from sessions_app.turns.preparation_model import PreparationModel

logger = logging.getLogger(__name__)

REWRITING_FAILED, MEMORY_FAILED = "rewriting_failed", "memory_failed"
"""Warnings: the turn went on without it."""

LAST_ANSWER_WEIGHT, FIRST_MESSAGE_WEIGHT, MEANT_WEIGHT = 0.3, 0.1, 0.5
"""Weights of these terms in a vector search; the message has weight 1. Measured on follow-ups of three collections."""


def recall_of(
    turn: ExplainabilityTurn,
    call: TurnCall,
    flags: Flags,
    history: Sequence[HistoryMessage],
    memory: Memory | None = None,
    model: PreparationModel | None = None,
) -> Recall | None:
    """Give what the conversation adds to this turn's searches, None if that is nothing.

    Args:
        history: what the model gets to see of the conversation, without the message.
        memory: what earlier turns left.
        model: None for a turn that is only imagined, which asks none.

    Effects: `rewriting` and `memory` in the unsaved turn's report.
    """
    said = [item for item in history if item.role != "system"]
    rewriting = _rewriting(turn, call, said, model) if flags.enable_query_rewriting else None
    documents: tuple[str, ...] = ()
    if memory is not None and _prefers_documents(flags, call.message, said, rewriting):
        documents = memory.document_ids
    if flags.enable_session_memory:
        report_of(turn)["memory"] = {"preferred_documents": list(documents)}
    weights = rewriting.weights if rewriting else {}
    texts = meant_texts(rewriting, said) if rewriting and weights else ()
    return Recall(terms=weights, texts=texts, documents=documents) if weights or documents else None


def meant_texts(rewriting: Rewriting, said: Sequence[HistoryMessage]) -> tuple[tuple[float, str], ...]:
    """Give what a search by meaning takes from a conversation that the message follows up, with the weights."""
    first = next((item.content for item in said if item.role == "user"), "")
    answer = next((item.content for item in reversed(said) if item.role == "assistant"), "")
    meant = " ".join(item.word for item in rewriting.terms)
    weighted = ((LAST_ANSWER_WEIGHT, answer), (FIRST_MESSAGE_WEIGHT, first), (MEANT_WEIGHT, meant))
    return tuple((weight, text) for weight, text in weighted if text.strip())


def _rewriting(
    turn: ExplainabilityTurn, call: TurnCall, said: Sequence[HistoryMessage], model: PreparationModel | None
) -> Rewriting | None:
    report = report_of(turn)
    try:
        rewriting = rewrite(call.message, said, ask=_asker(model, report))
    except Exception:
        logger.warning("the message of turn %s was not rewritten", turn.request_id, exc_info=True)
        report["warnings"].append(REWRITING_FAILED)
        return None
    report["rewriting"] = rewriting.as_record()
    return rewriting


def _asker(model: PreparationModel | None, report: dict[str, Any]) -> AskModel | None:
    """Give the model that rewrites, None without one."""
    if model is None or not model.available:
        return None
    return model_asker(model, lambda sent: report.setdefault("requests", []).extend(sent))


def earlier_memory(turn: ExplainabilityTurn, call: TurnCall) -> Memory | None:
    """Give what earlier turns left, None with the policy off; a session's first turn has none and asks for none.

    While a turn holds its slot nobody clears or adds to it: what was read in preparation still holds in the commit.
    """
    session, flags = turn.session, flags_of(turn.session, call.flags)
    if not flags.enable_session_memory:
        return None
    if turn.turn_index == 1 and session.forked_from_id is None:
        return None
    return stored_memory(session, timezone.now(), flags.session_memory_ttl_hours)


def _prefers_documents(flags: Flags, message: str, said: Sequence[HistoryMessage], rewriting: Rewriting | None) -> bool:
    """Tell whether documents of earlier turns are preferred: always, never, or in follow-ups [K33, K51]."""
    if flags.document_bias == "follow-ups":
        return (rewriting.need_probability if rewriting else need_of(message, said)) > FOLLOWS_UP
    return flags.document_bias == "always"


def remember(turn: ExplainabilityTurn, call: TurnCall, outcome: TurnOutcome, known: Memory | None) -> None:
    """Store what a committed turn adds to the session's memory; must run inside the commit [K34, O-48].

    Args:
        known: what earlier turns left.

    Effects: the memory's row; in the unsaved turn's report what it prefers from now on, and the terms that are new.
    """
    flags = flags_of(turn.session, call.flags)
    if not flags.enable_session_memory or outcome.answer is None:
        return
    now = timezone.now()
    try:
        memory = after_turn(
            known, turn_index=turn.turn_index, subject=subject_of(call.message), answer=outcome.answer, now=now
        )
    except Exception:
        logger.warning("turn %s was not remembered", turn.request_id, exc_info=True)
        report_of(turn)["warnings"].append(MEMORY_FAILED)
        return
    keep_memory(turn.session, memory, flags.session_memory_ttl_hours)
    known_terms = set(known.resolved_terms) if known else set()
    report_of(turn).setdefault("memory", {}).update(
        turn_count=memory.turn_count,
        active_documents=list(memory.document_ids),
        active_sections=list(memory.active_sections),
        resolved_terms=[item.term for item in memory.resolved_terms if item not in known_terms],
        expires_at=memory.expires_at(flags.session_memory_ttl_hours).isoformat(),
    )


def report_of(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Give the turn's report, to be added to."""
    if turn.context_report is None:
        turn.context_report = {"warnings": []}
    report: dict[str, Any] = turn.context_report
    return report
