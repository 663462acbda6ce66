"""What the conversation added to a turn's searches: the rewriting with its reasons, and the preferred documents."""

from typing import Any

from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.sessions.memory import remembered_by


def rewriting_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the rewriting and memory from the turn's report, each None if its policy was off or is not known yet.

    A preferred document that the session no longer remembers is shown by its id.
    """
    report = turn.context_report or {}
    rewriting = report.get("rewriting")
    if rewriting is not None:
        rewriting = {**rewriting, "need_percent": round(100 * rewriting["need_probability"])}
    memory = report.get("memory")
    preferred_ids = memory["preferred_documents"] if memory is not None else ()
    remembered = remembered_by(turn.session)[0] if preferred_ids else None
    names = {item.source_id: item.name for item in remembered.active_documents} if remembered else {}
    return {
        "rewriting": rewriting,
        "memory": memory,
        "preferred_documents": [names.get(source_id) or source_id for source_id in preferred_ids],
    }
