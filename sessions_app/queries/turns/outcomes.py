"""The outcome of a turn's question on pages: where nothing was asked, no answer is missing."""

from collections.abc import Mapping

from mrpvm.english.messages.small_talk import (
    FORGOTTEN_OPENING,
    NOTED_OPENING,
    UNDERSTOOD_REPLY,
    is_remark,
    small_talk_reply,
)
from sessions_app.models import ExplainabilityTurn

NOTHING_ASKED, NOTED = "nothing-asked", "noted"
_AnswerStatus, _Outcome, _Status = (
    ExplainabilityTurn.AnswerStatus,
    ExplainabilityTurn.Outcome,
    ExplainabilityTurn.Status,
)
_BY_STATUS: Mapping[str, str] = {
    _Status.FAILED: _Outcome.FAILED,
    _Status.CANCELLED: _Outcome.STOPPED,
    _Status.INTERRUPTED: _Outcome.INTERRUPTED,
}


def outcome(turn: ExplainabilityTurn) -> str | None:
    """Return the status of the turn's answer, with other words for what was told, small talk and quotations.

    What was told is stored as `answered`, since the reply repeats it; small talk and instructions as `no-context`:
    nothing was found, and a civil reply is in the place of an answer.
    """
    if turn.answer_status == _AnswerStatus.ANSWERED:
        is_noted = turn.assistant_preview.startswith((NOTED_OPENING, FORGOTTEN_OPENING))
        return NOTED if is_noted else _AnswerStatus.ANSWERED
    if turn.answer_status != _AnswerStatus.NO_CONTEXT:
        return turn.answer_status
    if is_remark(turn.user_message) or turn.assistant_preview == UNDERSTOOD_REPLY:
        return NOTHING_ASKED
    if turn.answer_basis == ExplainabilityTurn.AnswerBasis.QUOTED:
        return ExplainabilityTurn.AnswerBasis.QUOTED
    is_about_server = small_talk_reply(turn.user_message) is not None
    return _AnswerStatus.ANSWERED if is_about_server else _AnswerStatus.NO_CONTEXT


def listed_outcome(turn: ExplainabilityTurn) -> str:
    """Return what lists tell of an ended turn."""
    if turn.kind == ExplainabilityTurn.Kind.COMMAND:
        return _Outcome.COMMAND
    if turn.status != _Status.SUCCEEDED:
        return _BY_STATUS[turn.status]
    ending = outcome(turn)
    return _Outcome.NO_ANSWER if ending in (None, _AnswerStatus.NO_CONTEXT) else _Outcome(ending)
