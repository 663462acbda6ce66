"""Preparation of a stored session's next turn without running it."""

from mrpvm.conversation.asking import UnaskedModel
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.preparation import PreparedTurn, prepare_turn
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.state import read_state


def prepared_turn(session: Session, message: str, flags: Flags | None = None) -> PreparedTurn:
    """Prepare the session's next turn without a model; return it."""
    flags, call = flags or Flags(), TurnCall(message=message)
    turn = ExplainabilityTurn(session=session, turn_index=session.turn_sequence + 1, user_message=message)
    state = read_state(turn, call, flags, index_is_outdated=False)
    return prepare_turn(state, UnaskedModel())
