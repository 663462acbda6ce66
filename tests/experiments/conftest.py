"""Recorded turns to run again."""

from collections.abc import Callable, Iterator

import pytest

from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.suites import create_suite
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.commands.messages import answer_message
from sessions_app.experiments.diagnosis.search import USUAL_BOUNDS, Bounds, Expectation
from sessions_app.experiments.running.experiments import start_diagnosis, start_trials
from sessions_app.experiments.trials.changes import Changes
from sessions_app.ingest.load import Upload, load_source
from sessions_app.models import Experiment, ExplainabilityTurn, KnowledgeBase, Project, Session, Suite, Trial
from sessions_app.plugin_threads import workers
from sessions_app.queries.experiments.experiments import trials
from sessions_app.turns.call import TurnCall

NOTHING_EXPECTED = Expectation()

type Talk = Callable[..., ExplainabilityTurn]


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    yield ensure_default_project()
    workers.close()


@pytest.fixture
def talk(project: Project) -> Talk:
    """Return a function that sends messages in a new session and returns the last turn, ready for a replay."""

    def say(*messages: str, **call: object) -> ExplainabilityTurn:
        session = create_session(project)
        for message in messages[:-1]:
            answer_message(Session.objects.get(pk=session.pk), TurnCall(message=message))
        last = TurnCall(message=messages[-1], **call)  # type: ignore[arg-type]
        return stored(answer_message(Session.objects.get(pk=session.pk), last).turn)

    return say


ANNA = Author(name="anna")
GATE_A, GATE_B = "The ferry to Nore leaves from gate A.", "The ferry to Nore leaves from gate B."


def ran(experiment: Experiment) -> Experiment:
    """Return an experiment that has ended by itself."""
    assert (experiment.status, experiment.error) == ("finished", None)
    return experiment


def diagnosed(
    turn: ExplainabilityTurn, expected: Expectation = NOTHING_EXPECTED, bounds: Bounds = USUAL_BOUNDS
) -> Experiment:
    """Return a finished search for causes."""
    return ran(start_diagnosis(turn, expected, bounds, ANNA, wait_ms=30_000))


def tried(turn: ExplainabilityTurn, *changes: Changes) -> list[Trial]:
    """Return finished trials of the turn with these changes."""
    return trials(ran(start_trials(turn.session, turn, changes, ANNA, wait_ms=30_000)))


def stored(turn: ExplainabilityTurn) -> ExplainabilityTurn:
    """Return the turn as it is stored."""
    return ExplainabilityTurn.objects.select_related("session__project", "conditions").get(pk=turn.pk)


@pytest.fixture
def suite(project: Project) -> Suite:
    return create_suite(project, "Ferries", ANNA)


@pytest.fixture
def handbook(project: Project) -> KnowledgeBase:
    """Return a base that says gate A in revision 2 and gate B since."""
    base = create_base(project, "Handbook")
    for text in (GATE_A, GATE_B):
        load_source(base, Upload(data=text.encode(), name="ferries.md", declared_type=None, source_id="ferries"))
    return KnowledgeBase.objects.get(pk=base.pk)
