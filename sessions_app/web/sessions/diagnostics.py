"""The diagnostics of a session: the model requests of its latest turn, their responses, and errors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrpvm.errors import ErrorRecord
from mrpvm.llm.recorder import ModelResponse
from mrpvm.llm.redaction import redacted, without_secrets
from sessions_app.models import ExplainabilityTurn, Message, Session
from sessions_app.provider_threads import as_sent, next_followed_id
from sessions_app.queries.sessions.diagnostics import LatestTurn, latest_turn
from sessions_app.web.shell.json_tree import ShownJson, shown_json
from sessions_app.web.shell.words import why
from sessions_app.web.turns.panels.budget import budget_parts, source_words

TOOL_OUTPUT_CHARS = 200
"""Characters of a tool's output that are shown."""
_NOT_STORED = ("SERVER_INTERNAL_ERROR", "TURN_INTERRUPTED")
"""Errors after which a turn is not stored as it should have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownToolCall:
    """One call of a tool, its output cut."""

    name: str
    input: str
    output: str


def diagnostics_context(session: Session) -> dict[str, Any]:
    """Return the rows, the warnings, the request for the latest answer as JSON, and the tool calls of its turn."""
    latest = latest_turn(session)
    report: Mapping[str, Any] = latest.turn.context_report or {} if latest.turn else {}
    return {
        "session": session,
        "diagnostics": True,
        "last_turn": latest.turn,
        "rows": _rows(session, latest, report),
        "warnings": list(_warnings(latest.turn, report)),
        "outbound": _outbound(session, latest),
        "other_request_count": max(0, len(latest.requests) - 1),
        "tool_calls": [_tool_call(message) for message in latest.tool_messages],
    }


def _rows(session: Session, latest: LatestTurn, report: Mapping[str, Any]) -> list[tuple[str, str]]:
    error: ErrorRecord | None = latest.turn.error if latest.turn else None
    said = f"{error['code']}: {error['message']}" if error else "none"
    sent = latest.outbound
    return [
        (
            "Chat target",
            f"{sent.exchange.get('url', '')}, {sent.body.get('model', '')}" if sent else "this server alone",
        ),
        ("Last error of a turn", said),
        *_answer_rows(latest),
        ("Last response id", next_followed_id(session) or "none (continuity not used yet)"),
        ("Project", session.project.name),
        ("Persistence error", said if error and error["code"] in _NOT_STORED else "none"),
        ("previous_response_id in last request", "yes" if sent and sent.follows else "no"),
        ("Conversation", session.session_id),
        ("Conversation taken from", source_words(report) or "none"),
        ("History reset", _reset(session, latest.turn)),
    ]


def _answer_rows(latest: LatestTurn) -> list[tuple[str, str]]:
    """Return how the provider answered the first request: its status and error."""
    if latest.outbound is None:
        status, error = "no request yet", "none"
    else:
        response: ModelResponse = latest.outbound.exchange.get("response") or {}
        status = str(response.get("status") or "no answer")
        error = response["error"]["message"] if "error" in response else "none"
    return [
        ("Last HTTP status of the model", status),
        ("Last error of the model", error),
    ]


def _reset(session: Session, turn: ExplainabilityTurn | None) -> str:
    """Return why the provider's conversation was restarted, in words."""
    warnings = ((turn.client_request if turn else None) or {}).get("warnings", ())
    if warnings:
        return "; ".join(why(str(warning)) for warning in warnings)
    return "started as a fork of another session" if session.forked_from_id else "none"


def _warnings(turn: ExplainabilityTurn | None, report: Mapping[str, Any]) -> Iterator[str]:
    """Yield warnings about the context: a lost provider response, a summary by rules, a cap that was reached."""
    yield from (why(str(warning)) for warning in report.get("warnings", ()))
    for part in budget_parts(report.get("sections", ())):
        if part.cut:
            yield f"{part.name}: {part.cut}"


def _outbound(session: Session, latest: LatestTurn) -> ShownJson | None:
    sent = latest.outbound
    return shown_json(redacted(as_sent(session.pk, sent.body)), settings.MRPVM_INLINE_DETAIL_BYTES) if sent else None


def _tool_call(message: Message) -> ShownToolCall:
    payload = message.payload or {}
    output = without_secrets(message.content)
    cut = f"{output[:TOOL_OUTPUT_CHARS]}..." if len(output) > TOOL_OUTPUT_CHARS else output
    return ShownToolCall(
        name=str(payload.get("tool", "")), input=without_secrets(str(payload.get("input", ""))), output=cut
    )
