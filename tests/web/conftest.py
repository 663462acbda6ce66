"""Plugins of the tests' own behind pages."""

import pytest

from tests.web.page_scene import Install


@pytest.fixture
def scripted_plugins(monkeypatch: pytest.MonkeyPatch) -> "Install":
    """Return a function that puts scripted plugins, with hostile names if asked, in place of all registered ones."""
    return Install(monkeypatch)
