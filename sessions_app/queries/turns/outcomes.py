"""What became of a turn's question as the pages tell it: where nothing was asked, no answer is missing."""

from mrpvm.english.small_talk import UNDERSTOOD_REPLY, is_phatic, small_talk_reply
from sessions_app.models import ExplainabilityTurn

NOTHING_ASKED = "nothing-asked"
_Status = ExplainabilityTurn.AnswerStatus


def outcome(turn: ExplainabilityTurn) -> str | None:
    """Return the status of the turn's answer, with other words for small talk, instructions and quotations.

    Stored are both as `no-context`: nothing was found, and a civil reply stands in the place of an answer.
    """
    if turn.answer_status != _Status.NO_CONTEXT:
        return turn.answer_status
    if is_phatic(turn.user_message) or turn.assistant_preview == UNDERSTOOD_REPLY:
        return NOTHING_ASKED
    if turn.answer_basis == ExplainabilityTurn.AnswerBasis.QUOTED:
        return ExplainabilityTurn.AnswerBasis.QUOTED
    is_about_server = small_talk_reply(turn.user_message) is not None
    return _Status.ANSWERED if is_about_server else _Status.NO_CONTEXT
