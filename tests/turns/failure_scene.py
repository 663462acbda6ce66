"""A failing turn, and the state of its session that must not change."""

import pytest

from sessions_app.actions.sessions.session import Choices
from sessions_app.models import ExplainabilityTurn
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnError, run_turn


def memory(session):
    """Return the state that a failed turn must not change."""
    session.refresh_from_db()
    return {
        "messages": list(session.messages.values_list("sequence", "content")),
        "units": list(session.context_units.filter(state="committed").values_list("unit_id", flat=True)),
        "preferences": (
            session.preferred_planner_plugin, session.preferred_seed_detector_plugin, session.preferred_kb_plugin,
            session.preferred_goal_solver_plugin, session.preferred_deliberation_level, session.preferred_model,
        ),
        "prompt": session.system_prompt,
        "count": session.unit_count,
        "draft": session.draft_id,
    }  # fmt: skip


def fail(session, message="Why?", **choices):
    call = TurnCall(message=message, system_prompt="Be brief.", choices=Choices(**choices))
    with pytest.raises(TurnError) as caught:
        run_turn(session, call)
    return ExplainabilityTurn.objects.get(pk=caught.value.turn.pk), caught.value
