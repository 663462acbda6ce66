"""A message that was never sent, in the form of a recorded turn: what a turn of the session would see now."""

from mrpvm.conversation.asking import UnaskedModel
from mrpvm.conversation.preparation import prepare_turn
from mrpvm.llm.port import Sampling
from sessions_app.experiments.replays.recorded import SupposedTurn
from sessions_app.layers import EffectiveView
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.queries.experiments.rerun import session_now
from sessions_app.queries.sessions.flags import flags_of
from sessions_app.turns.call import TurnCall, check_call, limited
from sessions_app.turns.state import read_state
from sessions_app.turns.view import TurnView, conditions_of


def unsent_turn(session: Session, message: str) -> SupposedTurn:
    """Return a message as a turn that would be the session's next one; nothing is written.

    Raises:
        MRPError: a turn would refuse the message too.
    """
    # Nobody holds the slot: others save and mount meanwhile.
    session = session_now(session)
    call = TurnCall(message=message, takes_commands=False)
    check_call(call)
    call = limited(call, session.turn_limits)
    turn = ExplainabilityTurn(
        session=session,
        turn_index=session.turn_sequence + 1,
        user_message=message,
        deliberation_level=session.preferred_deliberation_level,
    )
    knowledge = EffectiveView.of_session(session)
    state = read_state(turn, call, flags_of(session, call.flags), index_is_outdated=knowledge.is_outdated)
    prepared = prepare_turn(state, UnaskedModel())
    return SupposedTurn(
        turn=turn,
        view=TurnView.of(state, knowledge, prepared, state.utilities),
        conditions=conditions_of(turn, state, state.utilities, Sampling()),
        records=(),
        given_state=state,
        given_knowledge=knowledge,
    )
