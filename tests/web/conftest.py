"""Pages as a browser reads them, and scripted plugins behind them."""

from functools import cached_property

import pytest
from django.http import HttpResponse

from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Project
from tests.markup import collapsed
from tests.web.page_scene import Install, talk


@pytest.fixture(autouse=True)
def collapsed_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove insignificant white space from the text of pages, so that tests do not depend on the templates' layout."""

    def text(response: HttpResponse) -> str:
        written = response.content.decode(response.charset)
        return collapsed(written) if response.get("Content-Type", "").startswith("text/html") else written

    read_once = cached_property(text)
    read_once.__set_name__(HttpResponse, "text")
    monkeypatch.setattr(HttpResponse, "text", read_once)


@pytest.fixture
def scripted_plugins(monkeypatch: pytest.MonkeyPatch) -> "Install":
    """Return a function that replaces all registered plugins with scripted ones, with hostile names on request."""
    return Install(monkeypatch)


@pytest.fixture
def turn(live_project: Project) -> ExplainabilityTurn:
    """Return a question to which two different answers were told."""
    session = create_session(live_project)
    talk(session, "The ferry to Nore leaves from gate A.")
    talk(session, "The ferry to Nore leaves from gate B.")
    return talk(session, "Which gate does the ferry to Nore leave from?")
