"""After any sequence of actions in a session, each of its turns replays identically."""

from collections.abc import Iterator

import pytest

from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.experiments.replays.replay import replay
from sessions_app.models import ExplainabilityTurn, Project
from tests.experiments.walks import Walk, broken_solver_installed
from tests.llm.provider import Provider
from tests.walks import SEEDS, WALKS

SEEDS_WITH_A_MODEL = range(max(1, WALKS // 5))


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    with broken_solver_installed():
        yield ensure_default_project()


def check_walk(project: Project, seed: int) -> None:
    """Take a random walk, and assert that every turn and command replays identically."""
    walk = Walk(project, seed)
    for _ in range(40):
        walk.step()
    turns = list(ExplainabilityTurn.objects.order_by("pk"))
    statuses = [turn.status for turn in turns]
    print(len(turns), "turns,", len(turns) - statuses.count("succeeded"), "of them failed")
    assert len(turns) >= 5
    for turn in turns:
        result = replay(turn)
        assert result.divergence is None, (turn.turn_index, turn.user_message, result.divergence)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_turn_of_a_walk_replays_identically(project: Project, seed: int) -> None:
    check_walk(project, seed)


@pytest.mark.parametrize("seed", SEEDS_WITH_A_MODEL)
def test_every_turn_of_a_walk_with_a_model_replays(provider: Provider, project: Project, seed: int) -> None:
    check_walk(project, seed)
