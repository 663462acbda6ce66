"""Going on from a trial: a fork that ends before the turn, with the trial's message and choices."""

from collections.abc import Mapping

from mrpvm.errors import InvalidInput
from mrpvm.llm.port import Sampling
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import Choices, choose_guidance, choose_policies, limit_turns
from sessions_app.actions.settings.model_roles import change_model_config
from sessions_app.commands.messages import answer_message
from sessions_app.experiments.replays.recorded import recorded_turn
from sessions_app.experiments.trials.changes import Changes, check_changes, check_guidance
from sessions_app.experiments.trials.supposing import SOURCE_NAME
from sessions_app.ingest.load import Upload, load_context
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.models.sessions.session import ForkReason
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.turns.call import TurnCall
from sessions_app.turns.machine import turn_limits


def continue_from(turn: ExplainabilityTurn, changes: Changes, *, tells_supposed: bool = False) -> ExplainabilityTurn:
    """Return the turn of a new session that continues from before `turn` with the trial's message and choices.

    Args:
        tells_supposed: the session is told what the trial supposed; else it does not know it.

    Raises:
        InvalidInput: the changes leave out what a session cannot: units, sources, plugins.
        Conflict: as for `recorded_turn`.
        TurnError: the turn in the fork failed.

    Effects: those of `fork_session` and of a turn in the fork.
    """
    check_changes(changes)
    if changes.without_units or changes.without_sources or changes.only_units or changes.without_plugins:
        raise InvalidInput("A session cannot leave out units, sources or plugins: correct the facts and ask again.")
    if changes.draft is not None:
        raise InvalidInput("A session mounts what is saved: save the draft first, and mount its base.")
    _check_limits(changes.limits)
    check_guidance(turn.session, changes)
    recorded = recorded_turn(turn)
    base = None
    if changes.base is not None:
        base = knowledge_base(turn.session.project, changes.base)
    place = recorded.view.last_place
    if changes.history_through is not None:
        place = min(place, changes.history_through)
    fork = fork_session(turn.session, place, ForkReason.EDITED)
    _keep_choices(fork, changes)
    if changes.with_units and tells_supposed:
        text = "\n\n".join(changes.with_units)
        load_context(fork, Upload(data=text.encode(), name=SOURCE_NAME, declared_type="text/plain"))
    pins = changes.pins
    call = TurnCall(
        message=changes.message or recorded.message,
        system_prompt=changes.system_prompt,
        choices=Choices(
            planner=pins.planner,
            seed_detector=pins.seed_detector,
            kb=pins.kb,
            goal_solver=pins.goal_solver,
            deliberation_level=changes.deliberation_level,
            model=changes.model,
        ),
        base=base,
        sampling=changes.sampling or Sampling(),
    )
    return answer_message(fork, call).turn


def _keep_choices(fork: Session, changes: Changes) -> None:
    """Store a trial's choices in the fork, as far as a session keeps them.

    Its plugins, level, model and system prompt are kept by its first turn.
    """
    choose_guidance(fork, agent=changes.agent, persona=changes.persona, style=changes.style)
    policies = dict(changes.flags) | ({"grounding": changes.grounding} if changes.grounding else {})
    if policies:
        choose_policies(fork, policies)
    if changes.sampling is not None and changes.sampling.temperature is not None:
        change_model_config(fork, {"temperature": changes.sampling.temperature})
    most_tokens = changes.sampling.max_tokens if changes.sampling is not None else None
    limits = dict(changes.limits) | ({} if most_tokens is None else {"max_tokens": most_tokens})
    if limits:
        limit_turns(fork, limits)
    fork.refresh_from_db()


def _check_limits(limits: Mapping[str, int]) -> None:
    """Refuse limits above the server's, which hold for every turn of a session.

    Raises:
        InvalidInput: with the limit.
    """
    for name, value in limits.items():
        most = getattr(turn_limits(), name)
        if value > most:
            raise InvalidInput(f"A turn of a session has a {name} of at most {most} here.")
