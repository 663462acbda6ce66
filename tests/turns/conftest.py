"""Turns over real rows, with scripted plugins for tests that control each step."""

from collections.abc import Callable, Iterator

import pytest

from mrpvm import registry
from sessions_app import shutdown
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.models import Project, Session
from sessions_app.plugin_threads import workers
from tests.kernel.scripted import ACCEPT, Scripted, detection, plan, plugin, retrieval, solution


@pytest.fixture(autouse=True)
def _fresh_server_state() -> Iterator[None]:
    shutdown.reset()
    yield
    shutdown.reset()


@pytest.fixture
def project(transactional_db: None) -> Iterator[Project]:
    """Return the default project in a committed database, which other threads can read."""
    yield ensure_default_project()
    workers.close()


@pytest.fixture
def session(project: Project) -> Session:
    """Return a fresh session with the default base mounted."""
    return create_session(project)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that replaces all registered plugins with scripted ones."""

    def install(*scripted: Scripted) -> None:
        chosen = {(item.descriptor.type, item.descriptor.id): item for item in scripted}
        defaults = (
            plugin("mrp-plan-plugin", "planner-default", plan()),
            plugin("sd-plugin", "sd-a", detection("why", claims=["Rex is a dog."])),
            plugin("kb-plugin", "kb-a", retrieval("Rex is a dog.")),
            plugin("gs-plugin", "gs-a", solution("Because.")),
            plugin("val-plugin", "val-a", ACCEPT),
        )
        for item in defaults:
            if not any(kind == item.descriptor.type for kind, _ in chosen):
                chosen[item.descriptor.type, item.descriptor.id] = item
        monkeypatch.setattr(registry.installed, "_plugins", chosen)

    return install
