"""What the end of a turn fills in of its unsaved entry."""

from collections.abc import Sequence

from django.utils import timezone

from mrpvm.conversation.answers import cited_sources, response_document
from mrpvm.conversation.context import SUMMARISED
from mrpvm.preview import preview
from mrpvm.trace.events import Event, PluginFinished
from mrpvm.values import Answer, Selection
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.outcomes import listed_outcome


def fill_answer(turn: ExplainabilityTurn, answer: Answer, text: str) -> None:
    """Fill in what a turn answered, `text` being the answer as its reader gets it."""
    turn.response_document = response_document(answer, turn.session.session_id)
    turn.assistant_preview = preview(text)
    turn.cited_sources = cited_sources(answer)
    turn.is_grounded = all(group.grounded for group in answer.groups)


def fill_end(
    turn: ExplainabilityTurn, status: str, answer_status: str | None, used: Selection, basis: str = ""
) -> None:
    """Fill in how a turn ended, and when; its report is filled in already."""
    now = timezone.now()
    turn.status, turn.answer_status, turn.answer_basis = status, answer_status, basis
    turn.planner_plugin, turn.seed_detector_plugin = used.planner, used.seed_detector
    turn.kb_plugin, turn.goal_solver_plugin = used.kb, used.goal_solver
    turn.finished_at, turn.lease_until = now, None
    turn.duration_ms = max(0, round((now - turn.created_at).total_seconds() * 1000))
    turn.outcome = listed_outcome(turn)
    report = turn.context_report or {}
    turn.is_rewritten = bool((report.get("rewriting") or {}).get("was_rewritten"))
    turn.left_out_count = sum(
        section.get("omitted_count", 0)
        for section in report.get("sections", ())
        if section.get("rule") != SUMMARISED  # is told anyway
    )


def fill_usage(turn: ExplainabilityTurn, events: Sequence[Event]) -> None:
    """Fill in what the turn's model calls took and wrote, nothing if there were none."""
    turn.model_usage = [[model, *counts] for model, counts in _usage_by_model(events).items()] or None
    turn.token_count = tokens_of(events)


def tokens_of(events: Sequence[Event]) -> int | None:
    """Return the tokens of all model calls of a turn, None if there were none."""
    used = _usage_by_model(events)
    return sum(map(sum, used.values())) if used else None


def _usage_by_model(events: Sequence[Event]) -> dict[str, tuple[int, int]]:
    """Return by model how many tokens its calls took and wrote."""
    used: dict[str, tuple[int, int]] = {}
    for event in events:
        if isinstance(event.data, PluginFinished) and event.data.usage is not None:
            model, usage = event.data.model or "unknown", event.data.usage
            taken, written = used.get(model, (0, 0))
            used[model] = taken + usage.input_tokens, written + usage.output_tokens
    return used
