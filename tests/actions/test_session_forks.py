"""A fork goes on from its moment and knows nothing that was said after it [O-31, K40]."""

import pytest

from mrpvm.conversation.flags import Flags
from sessions_app.actions.histories import import_history
from sessions_app.actions.projects import ensure_default_project
from sessions_app.actions.session_forks import fork_session
from sessions_app.actions.sessions import create_session
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.models.session import ForkReason
from sessions_app.turns.call import TurnCall
from sessions_app.turns.context import conversation_context

pytestmark = pytest.mark.django_db


@pytest.fixture
def source() -> Session:
    """Give a session of 20 messages whose summary tells of the first 12."""
    session = create_session(ensure_default_project())
    roles = ("user", "assistant") * 10
    import_history(session, [{"role": role, "content": f"Thing {n} costs ${n}00."} for n, role in enumerate(roles, 1)])
    session.refresh_from_db()
    conversation_context(turn_of(session), TurnCall(message="And then?"), Flags())
    assert session.summary["through"] == 12
    session.save(update_fields=["summary"])
    return session


def turn_of(session: Session) -> ExplainabilityTurn:
    return ExplainabilityTurn(session=session, turn_index=1, user_message="And then?")


def told_in(session: Session) -> str:
    """Give all that the session's next turn tells a model of the conversation."""
    context = conversation_context(turn_of(session), TurnCall(message="And then?"), Flags())
    return "\n".join(item.content for item in context.history)


def test_a_fork_before_the_summarys_end_does_not_know_what_was_said_after_it(source: Session) -> None:
    told = told_in(fork_session(source, 6, ForkReason.EDITED))
    assert "Thing 6 costs $600." in told
    assert not any(f"Thing {n} " in told for n in range(7, 21))


def test_a_fork_after_the_summarys_end_keeps_it(source: Session) -> None:
    fork = fork_session(source, 16, ForkReason.EDITED)
    assert fork.summary == source.summary
    assert "Thing 16 costs $1600." in told_in(fork)


def test_a_fork_whose_messages_stand_at_other_places_makes_a_summary_of_its_own(source: Session) -> None:
    source.messages.filter(sequence__lte=2).delete()
    told = told_in(fork_session(source, 13, ForkReason.EDITED))
    assert all(f"Thing {n} costs ${n}00." in told for n in range(6, 14))
