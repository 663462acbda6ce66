"""A project beside the default one, and loads that count as large."""

import pytest
from pytest_django import Settings

from sessions_app.actions.knowledge.bases import create_base
from sessions_app.models import KnowledgeBase, Project


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(name="Works", slug="works")


@pytest.fixture(params=["small", "large"])
def any_size(request: pytest.FixtureRequest, settings: Settings) -> None:
    """Have two units make a load, a source, and what a mount or a source brings along, a large one; or a small one."""
    if request.param == "large":
        settings.MRPVM_UNITS_AT_ONCE = 1


@pytest.fixture
def other(project: Project) -> KnowledgeBase:
    return create_base(project, "Motors")
