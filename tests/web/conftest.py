"""Pages as a browser reads them, and plugins of the tests' own behind them."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Project
from tests.markup import collapsed
from tests.web.page_scene import Install, talk


@pytest.fixture(autouse=True)
def collapsed_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take from every page the white space that means nothing, so that the layout of templates is no test's matter."""
    request = Client.request

    def collapsing(client: Client, **environ: Any) -> HttpResponse:
        response: Any = request(client, **environ)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            response.content = collapsed(response.text)
        return response

    monkeypatch.setattr(Client, "request", collapsing)


@pytest.fixture
def scripted_plugins(monkeypatch: pytest.MonkeyPatch) -> "Install":
    """Return a function that puts scripted plugins, with hostile names if asked, in place of all registered ones."""
    return Install(monkeypatch)


@pytest.fixture
def turn(live_project: Project) -> ExplainabilityTurn:
    """Return a question for which two gates were told."""
    session = create_session(live_project)
    talk(session, "The ferry to Nore leaves from gate A.")
    talk(session, "The ferry to Nore leaves from gate B.")
    return talk(session, "Which gate does the ferry to Nore leave from?")
