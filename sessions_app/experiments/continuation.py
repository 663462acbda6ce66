"""Going on from a trial: a fork that ends before the turn, with the trial's message and choices."""

from mrpvm.errors import InvalidInput
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import Choices
from sessions_app.experiments.changes import Changes, check_changes
from sessions_app.experiments.recorded import recorded_turn
from sessions_app.models import ExplainabilityTurn, KnowledgeBase
from sessions_app.models.sessions.session import ForkReason
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn


def continue_from(turn: ExplainabilityTurn, changes: Changes) -> ExplainabilityTurn:
    """Return the turn of a new session that goes on from before `turn` with the trial's message and choices.

    Raises:
        InvalidInput: the changes leave out what a session cannot: units, sources, plugins.
        Conflict: as for `recorded_turn`.
        TurnError: the turn in the fork failed.

    Effects: those of `fork_session` and of a turn in the fork.
    """
    check_changes(changes)
    if changes.without_units or changes.without_sources or changes.only_units or changes.without_plugins:
        raise InvalidInput("A session cannot leave out units, sources or plugins: correct the facts and ask again.")
    recorded = recorded_turn(turn)
    base = None
    if changes.base is not None:
        base = KnowledgeBase.objects.get(project_id=turn.session.project_id, kb_id=changes.base)
    place = 0 if changes.history_through == 0 else recorded.view.last_place
    fork = fork_session(turn.session, place, ForkReason.EDITED)
    pins = changes.pins
    call = TurnCall(
        message=changes.message or recorded.message,
        choices=Choices(
            planner=pins.planner,
            seed_detector=pins.seed_detector,
            kb=pins.kb,
            goal_solver=pins.goal_solver,
            deliberation_level=changes.deliberation_level,
        ),
        base=base,
        flags=changes.flags,
    )
    return run_turn(fork, call).turn
