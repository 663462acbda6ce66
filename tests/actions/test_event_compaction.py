"""Old session events are deleted unless a view of a turn reads them; the views stay the same."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from functools import partial

import pytest

from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.actions.upkeep.events import EventCompaction
from sessions_app.background.doctor import findings
from sessions_app.models import ExplainabilityTurn, Project, Session, SessionEvent
from sessions_app.queries.turns.state import StateAround, state_around
from tests.experiments.walks import Walk, broken_solver_installed


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    with broken_solver_installed():
        yield ensure_default_project()


AT_ONCE = partial(EventCompaction, kept_whole=timedelta(0))
"""Takes every event for old."""


def states() -> dict[int, StateAround]:
    return {turn.pk: state_around(turn) for turn in ExplainabilityTurn.objects.order_by("pk")}


def numbers(session: Session) -> list[int]:
    return list(SessionEvent.objects.filter(session=session).order_by("sequence").values_list("sequence", flat=True))


def test_state_around_turns_stays_as_it_was(project: Project) -> None:
    walk = Walk(project, seed=1)
    for _ in range(25):
        walk.step()
    before, count = {pk: asdict(state) for pk, state in states().items()}, SessionEvent.objects.count()
    AT_ONCE(rows_a_transaction=9)()
    assert {pk: asdict(state) for pk, state in states().items()} == before
    assert len(before) > 5
    assert SessionEvent.objects.count() < count
    assert AT_ONCE(rows_a_transaction=9)() == 0
    assert [finding for finding in findings() if finding.check == "sequences"] == []


def test_events_of_plain_turns_go_but_for_the_last_ones(project: Project) -> None:
    walk = Walk(project, seed=1)
    for _ in range(12):
        walk.ask()
    last = Session.objects.get(pk=walk.session.pk).event_sequence
    AT_ONCE()()
    assert len(numbers(walk.session)) <= 6 < 24 < last
    assert numbers(walk.session)[-1] == last


def test_young_events_stay(project: Project) -> None:
    session = create_session(project)
    assert EventCompaction()() == 0
    assert numbers(session) == [1, 2]


def test_every_session_has_its_turn(project: Project) -> None:
    sessions = [create_session(project) for _ in range(5)]
    compaction = AT_ONCE(sessions_a_sweep=2)
    for _ in range(3):
        compaction()
    reached = Session.objects.filter(pk__in=[session.pk for session in sessions])
    assert set(reached.values_list("compacted_sequence", flat=True)) == {2}
    assert compaction.reached == 0
