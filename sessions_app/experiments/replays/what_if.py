"""Predicts what a turn would choose: detector, planner and retriever run as in a turn, and nothing is written.

The session's slot stays free. A prediction takes a place among the running turns, because it costs as much as the
beginning of a turn.
"""

from copy import replace

from mrpvm.conversation.asking import UnaskedModel
from mrpvm.conversation.preparation import prepare_turn
from mrpvm.kernel.prediction import Prediction as Prediction
from mrpvm.values import Selection
from sessions_app import shutdown
from sessions_app.language_model import model_source
from sessions_app.layers import SessionKnowledge
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.queries.sessions.flags import flags_of
from sessions_app.queries.sessions.lookups import reread_session
from sessions_app.running_turns import running_turns
from sessions_app.turns.call import TurnCall, check_call
from sessions_app.turns.machine import machine
from sessions_app.turns.state import read_state


def what_if(
    session: Session, call: TurnCall, *, preferences: Selection | None = None, with_statistics: bool = True
) -> Prediction:
    """Return what a turn of the session would try now.

    Args:
        preferences: in place of the session's own.
        with_statistics: whether planners are told what was learned; without, every plugin counts as untried.

    Raises:
        MRPError: the call itself is refused, as a turn would refuse it; SERVER_BUSY too.
    """
    check_call(call)
    with running_turns.place(session.project_id) as take_place:
        take_place()
        return _predicted(session, call, preferences, with_statistics=with_statistics)


def _predicted(session: Session, call: TurnCall, preferences: Selection | None, *, with_statistics: bool) -> Prediction:
    # Nobody holds the slot: read by one statement, the session fits its journal while others save and mount.
    session = reread_session(session)
    level = call.choices.deliberation_level
    turn = ExplainabilityTurn(
        session=session,
        turn_index=session.turn_sequence + 1,
        user_message=call.message,
        deliberation_level=session.preferred_deliberation_level if level is None else level,
    )
    flags, knowledge = flags_of(session, call.flags), SessionKnowledge.of(session)
    state = read_state(turn, call, flags, index_is_outdated=knowledge.view.is_outdated)
    request = prepare_turn(state, UnaskedModel()).request
    request = replace(
        request,
        preferences=preferences or request.preferences,
        utilities=request.utilities if with_statistics else {},
    )
    return machine().predict(request, knowledge, shutdown.interrupt_if_over, model_source(session.model_config))
