"""Messages of a conversation: a command is answered from the session's own state, everything else by a turn."""

from copy import replace

from mrpvm.commands import Orchestration, is_command
from mrpvm.llm.redaction import secrets_remembered
from sessions_app.commands.answer import CommandTurn, answer_command
from sessions_app.models import Session
from sessions_app.pacing import turn_running
from sessions_app.turns.call import TurnCall, admitted_call
from sessions_app.turns.pipeline import Listener, Reader, TurnResult, run_turn
from sessions_app.turns.slots import in_slot


def answer_message(
    session: Session,
    call: TurnCall,
    *,
    wait_ms: int = 0,
    listen: Listener | None = None,
    read: Reader | None = None,
) -> TurnResult:
    """Answer a message of a session; a command that asks for a model is answered by a turn too.

    Raises:
        MRPError: before an entry existed.
        TurnError: as `run_turn`.
    """
    if call.takes_commands and is_command(call.message):
        answered = _answer_command(session, call, wait_ms)
        if isinstance(answered, CommandTurn):
            return TurnResult(turn=answered.turn, outcome=answered.outcome, events=answered.events)
        call = replace(call, skill=answered, message=answered.message, typed=call.message, sent=call.message)
    return run_turn(session, call, wait_ms=wait_ms, listen=listen, read=read)


@turn_running()
@secrets_remembered()
def _answer_command(session: Session, call: TurnCall, wait_ms: int) -> CommandTurn | Orchestration:
    typed = admitted_call(call, session.project)
    return in_slot(
        wait_ms,
        lambda: answer_command(session, typed.message, typed.conversation_hash, typed.client_request, sent=typed.sent),
    )
