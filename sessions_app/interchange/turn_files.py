"""Turns of all sessions as a file."""

from datetime import datetime
from typing import Annotated, TypedDict

from django.conf import settings
from django.http import StreamingHttpResponse

from mrpvm.errors import ErrorRecord
from mrpvm.values import BASES
from sessions_app.actions.settings.audit import record
from sessions_app.field_notes import OneOf
from sessions_app.interchange.row_files import FileRow, Piece, file_response
from sessions_app.models import AuditKind, ExplainabilityTurn, Project
from sessions_app.queries.search.filter_language import Filter
from sessions_app.queries.turns.lists import turn_page
from sessions_app.queries.turns.registry import answers_of

COLUMNS = (
    "request_id", "session_id", "session_label", "turn_index", "kind", "status", "outcome", "answer_basis",
    "created_at", "duration_ms", "asked_by", "user_message", "answer", "rating", "rating_note", "kb_id", "kb_name",
    "planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "deliberation_level", "model",
    "token_count", "is_rewritten", "left_out_count", "error",
)  # fmt: skip


class ListedTurn(TypedDict):
    """One turn of the project's list."""

    request_id: str
    session_id: str
    session_label: str
    turn_index: int
    kind: str
    status: Annotated[str, "running, succeeded, failed, interrupted or cancelled."]
    outcome: Annotated[str | None, "What became of it; null while it runs."]
    answer_basis: Annotated[str | None, OneOf(BASES)]
    created_at: datetime
    duration_ms: int | None
    asked_by: Annotated[str | None, "The user or API key that asked; null for the server's own."]
    user_message: str
    assistant_preview: str
    kb_id: Annotated[str | None, "The base that was mounted when it ran."]
    kb_name: str | None
    planner_plugin: str | None
    seed_detector_plugin: str | None
    kb_plugin: str | None
    goal_solver_plugin: str | None
    deliberation_level: int
    model: str | None
    token_count: Annotated[int | None, "What its model calls took and gave; null without one."]
    is_rewritten: Annotated[bool, "Whether a follow-up was searched for in other words."]
    left_out_count: Annotated[int, "How many messages and texts its context left out."]
    rating: Annotated[str | None, OneOf(("up", "down"))]
    error: ErrorRecord | None


def turn_record(turn: ExplainabilityTurn) -> ListedTurn:
    """Return a turn of `turn_page` as the API and files give it."""
    rating = getattr(turn, "rating", None)
    return {
        "request_id": turn.request_id,
        "session_id": turn.session.session_id,
        "session_label": turn.session.label,
        "turn_index": turn.turn_index,
        "kind": turn.kind,
        "status": turn.status,
        "outcome": turn.outcome or None,
        "answer_basis": turn.answer_basis or None,
        "created_at": turn.created_at,
        "duration_ms": turn.duration_ms,
        "asked_by": turn.asked_by or None,
        "user_message": turn.user_message,
        "assistant_preview": turn.assistant_preview,
        "kb_id": turn.base_id,  # type: ignore[attr-defined]
        "kb_name": turn.base_name,  # type: ignore[attr-defined]
        "planner_plugin": turn.planner_plugin,
        "seed_detector_plugin": turn.seed_detector_plugin,
        "kb_plugin": turn.kb_plugin,
        "goal_solver_plugin": turn.goal_solver_plugin,
        "deliberation_level": turn.deliberation_level,
        "model": turn.model,
        "token_count": turn.token_count,
        "is_rewritten": turn.is_rewritten,
        "left_out_count": turn.left_out_count,
        "rating": rating.value if rating else None,
        "error": turn.error,
    }


def turns_response(project: Project, wanted: Filter, form: str) -> StreamingHttpResponse:
    """Return the turns that fit as a download, the newest first, and record that it was made."""
    record(AuditKind.EXPORTED, project.pk, "turns", form=form, filter=wanted.text)

    def read(before: int | None) -> Piece:
        page = turn_page(project, wanted, before, settings.MRPVM_ROWS_A_PIECE)
        answers = answers_of(page.turns)
        return Piece([_file_record(turn, answers.get(turn.pk, "")) for turn in page.turns], page.next_before)

    return file_response(f"turns-{project.slug}", form, COLUMNS, read)


def _file_record(turn: ExplainabilityTurn, answer: str) -> FileRow:
    rating = getattr(turn, "rating", None)
    full: FileRow = {**turn_record(turn), "answer": answer, "rating_note": rating.note if rating else ""}
    return {column: full[column] for column in COLUMNS}
