"""The tools that change something."""

from typing import Annotated

from django.conf import settings
from pydantic import Field

from mrpvm.errors import Unavailable
from sessions_app import shutdown
from sessions_app.actions.sessions.session import Choices, create_session
from sessions_app.actions.settings.quotas import take_turn
from sessions_app.call_rates import is_allowed, seconds_to_wait
from sessions_app.commands.messages import answer_message
from sessions_app.mcp.caller import Caller
from sessions_app.mcp.turn_text import outcome_words
from sessions_app.queries.sessions.lookups import session_reference
from sessions_app.running_turns import running_turns
from sessions_app.turns.call import TurnCall, check_call


def ask(
    caller: Caller,
    message: Annotated[str, Field(description="what to say", min_length=1)],
    session_id: Annotated[str, Field(description="session to go on in; a new one without it", max_length=200)] = "",
    level: Annotated[int | None, Field(description="deliberation level of this turn", ge=0, le=3)] = None,
    goal_solver: Annotated[str | None, Field(description="id of the goal solver to pin for this turn")] = None,
    kb_plugin: Annotated[str | None, Field(description="id of the retriever to pin for this turn")] = None,
) -> str:
    """Send a message as a user would and return the answer with the ids of its session and turn."""
    if not is_allowed(f"chats:{caller.name}", settings.MRPVM_CHATS_PER_MINUTE):
        raise Unavailable(f"Too many messages; try again in {seconds_to_wait()} s.", code="RATE_LIMITED")
    call = TurnCall(message=message, choices=Choices(deliberation_level=level, goal_solver=goal_solver, kb=kb_plugin))
    check_call(call)
    shutdown.refuse_new_turns()
    running_turns.refuse_if_full(caller.project.pk)
    take_turn(caller.project)
    session = session_reference(caller.project, session_id) if session_id else create_session(caller.project)
    result = answer_message(session, call)
    turn = result.turn
    return (
        f"{result.outcome.answer_text}\n\n[session {turn.session.session_id}, turn {turn.request_id}:"
        f" {outcome_words(turn)}]"
    )
