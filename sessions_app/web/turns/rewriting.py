"""What the conversation added to a turn's searches: the rewriting with its reasons, and the preferred documents."""

from typing import Any

from sessions_app.models import ExplainabilityTurn


def rewriting_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the rewriting from the turn's report; None if the policy was off or is not known yet."""
    report = turn.context_report or {}
    rewriting = report.get("rewriting")
    if rewriting is not None:
        rewriting = {**rewriting, "need_percent": round(100 * rewriting["need_probability"])}
    return {"rewriting": rewriting, "memory": report.get("memory")}
