"""The tools that run a recorded turn again: replay, trials, diagnosis, suites. They change no conversation."""

from typing import Annotated

from django.core.exceptions import PermissionDenied
from pydantic import ConfigDict, Field, with_config

from sessions_app.experiments.diagnosis.search import Bounds, Expectation
from sessions_app.experiments.replays import replay
from sessions_app.experiments.running.experiments import start_diagnosis, start_trials
from sessions_app.experiments.suites.documents import run_target_of
from sessions_app.experiments.suites.suites import start_run
from sessions_app.experiments.trials.documents import ChangesDocument, changes_of
from sessions_app.mcp.caller import Caller
from sessions_app.mcp.experiment_text import experiment_text, listed_suite_line, replay_text, suite_text
from sessions_app.mcp.reading import Offset, SessionId, TurnId
from sessions_app.mcp.texts import list_page, page
from sessions_app.models import Experiment
from sessions_app.queries.experiments import experiments, suites
from sessions_app.queries.settings.projects import is_at_least
from sessions_app.queries.turns import registry as turns

SPARE_MS = 5_000
"""How much longer than the search itself a diagnosis waits for a place and the replay before it."""

type NamedId = Annotated[str, Field(min_length=1, max_length=400)]
type Ids = Annotated[list[NamedId], Field(max_length=200)]
type SuiteId = Annotated[str, Field(description="id of a suite", min_length=1, max_length=200)]
type WaitMs = Annotated[
    int, Field(description="how long to wait for the end; read_experiment reads it later", ge=0, le=60_000)
]
type AllowModel = Annotated[
    bool, Field(description="ask the configured model what was not recorded; takes an editor's key")
]


with_config(ConfigDict(extra="forbid"))(ChangesDocument)


def replay_turn(caller: Caller, session_id: SessionId, turn_id: TurnId) -> str:
    """Run a turn again with nothing changed: whether it comes out as recorded, or where it first differs and why."""
    return replay_text(replay.replay_turn(turns.turn(caller.project, session_id, turn_id)))


def try_turn(
    caller: Caller,
    session_id: SessionId,
    turn_id: TurnId,
    trials: Annotated[list[ChangesDocument], Field(description="what each trial changes", min_length=1, max_length=10)],
    allow_model: AllowModel = False,
    wait_ms: WaitMs = 20_000,
) -> str:
    """Run a turn again with changes, each trial beside the others, and tell what each would have answered."""
    _check_may_ask(caller, allow_model)
    turn = turns.turn(caller.project, session_id, turn_id)
    changes = [changes_of(trial) for trial in trials]
    experiment = start_trials(turn.session, turn, changes, caller.author, allow_model=allow_model, wait_ms=wait_ms)
    return _begun(caller, experiment)


def diagnose_turn(
    caller: Caller,
    session_id: SessionId,
    turn_id: TurnId,
    should_contain: Annotated[str, Field(description="what the answer should say", max_length=2_000)] = "",
    should_not_contain: Annotated[str, Field(description="what it should not say", max_length=2_000)] = "",
    max_trials: Annotated[int, Field(description="trials at most", ge=1, le=200)] = 60,
    max_ms: Annotated[int, Field(description="how long the search may take", ge=1, le=50_000)] = 10_000,
    exhaustive: Annotated[bool, Field(description="go on after three findings that meet what is expected")] = False,
    allow_model: AllowModel = False,
) -> str:
    """Search by trials for the causes of a turn's answer: what it depends on, or what would correct it."""
    _check_may_ask(caller, allow_model)
    turn = turns.turn(caller.project, session_id, turn_id)
    expected = Expectation(should_contain=should_contain, should_not_contain=should_not_contain)
    bounds = Bounds(max_trials=max_trials, max_ms=max_ms, exhaustive=exhaustive)
    experiment = start_diagnosis(
        turn, expected, bounds, caller.author, allow_model=allow_model, wait_ms=bounds.max_ms + SPARE_MS
    )
    return _begun(caller, experiment)


def list_suites(caller: Caller) -> str:
    """List the project's suites of tests by name: id, number of tests, how the newest run came out."""
    lines = [listed_suite_line(listed) for listed in suites.listed_suites(caller.project)]
    return list_page(lines, None, "The project has no suite of tests.")


def read_suite(caller: Caller, suite_id: SuiteId, offset: Offset = 0) -> str:
    """Read a suite: its tests with what each asks and expects, and its newest runs."""
    return page(suite_text(suites.suite(caller.project, suite_id)), offset)


def run_suite(
    caller: Caller,
    suite_id: SuiteId,
    heads: Annotated[bool, Field(description="each test against the present state of its own base")] = False,
    base: Annotated[str, Field(description="id of a knowledge base put below all tests", max_length=400)] = "",
    revision: Annotated[int | None, Field(description="of that base", ge=1, le=2**31 - 1)] = None,
    tags: Annotated[list[Annotated[str, Field(max_length=40)]] | None, Field(max_length=20)] = None,
    allow_model: AllowModel = False,
    wait_ms: WaitMs = 30_000,
) -> str:
    """Run the tests of a suite, each where it was kept unless `heads` or `base` is given, and return the results."""
    _check_may_ask(caller, allow_model)
    target = run_target_of(
        {"kb_id": base or None, "revision": revision, "heads": heads, "tags": tags, "allow_model": allow_model}
    )
    run = start_run(suites.suite(caller.project, suite_id), target, caller.author, wait_ms=wait_ms)
    return _begun(caller, run.experiment)


def read_experiment(
    caller: Caller,
    experiment_id: Annotated[str, Field(description="id of trials, a diagnosis or a run", min_length=1, max_length=64)],
    offset: Offset = 0,
) -> str:
    """Read how trials, a diagnosis or a suite's run stand, with all that they found."""
    return page(experiment_text(experiments.experiment(caller.project, experiment_id)), offset)


def _begun(caller: Caller, made: Experiment) -> str:
    """Return the first page of an experiment."""
    text = experiment_text(experiments.experiment(caller.project, made.experiment_id))
    return page(text, 0, f"call read_experiment for {made.experiment_id}")


def _check_may_ask(caller: Caller, allow_model: bool) -> None:
    """Refuse a viewer who would have a model asked.

    Raises:
        PermissionDenied: as it says.
    """
    if allow_model and not is_at_least(caller.role, "editor"):
        raise PermissionDenied(f"this key has the role {caller.role}; having a model asked needs editor.")
