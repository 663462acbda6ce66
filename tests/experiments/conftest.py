"""Recorded turns to run again."""

from collections.abc import Callable, Iterator

import pytest

from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.plugin_threads import workers
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn

type Talk = Callable[..., ExplainabilityTurn]


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    yield ensure_default_project()
    workers.close()


@pytest.fixture
def talk(project: Project) -> Talk:
    """Return a function that says messages in a new session and gives the last turn, with what replay reads of it."""

    def say(*messages: str, **call: object) -> ExplainabilityTurn:
        session = create_session(project)
        for message in messages[:-1]:
            run_turn(Session.objects.get(pk=session.pk), TurnCall(message=message))
        last = TurnCall(message=messages[-1], **call)  # type: ignore[arg-type]
        return stored(run_turn(Session.objects.get(pk=session.pk), last).turn)

    return say


def stored(turn: ExplainabilityTurn) -> ExplainabilityTurn:
    """Return the turn as it is stored."""
    return ExplainabilityTurn.objects.select_related("session__project", "conditions").get(pk=turn.pk)
