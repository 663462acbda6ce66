"""The pages that run a turn again: diagnosis, trial with its fork, replay."""

from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Project, Session
from tests.web.page_scene import HOSTILE, live_project, member_client
from tests.web.test_turn_panels import get, talk

__all__ = ["live_project"]

type Show = Callable[..., str]


class Links(HTMLParser):
    """The addresses that a page leads to, by what their links say."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._address = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self._address = dict(attrs).get("href") or ""

    def handle_data(self, data: str) -> None:
        if self._address and data.strip():
            self.found.append((data.strip(), self._address))
            self._address = ""

    def to(self, text: str) -> str:
        return next(address for said, address in self.found if said == text)


@pytest.fixture
def turn(live_project: Project) -> ExplainabilityTurn:
    session = create_session(live_project)
    talk(session, "The ferry to Nore leaves from gate A.")
    talk(session, "The ferry to Nore leaves from gate B.")
    return talk(session, "Which gate does the ferry to Nore leave from?")


def test_a_cause_is_one_click_from_its_proof(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "viewer")
    assert Links(get(client, turn, "turn")).to("Diagnosis") == reverse(
        "turn-diagnosis", args=[turn.session.session_id, turn.request_id]
    )
    found = get(client, turn, "turn-diagnosis", search="1", should_contain="gate B")
    assert "gate A.” decides the answer" in found
    proof = client.get(Links(found).to("See the trial")).text
    _, _, after = proof.partition('id="try-after"')
    assert "The ferry to Nore leaves from gate B." in after.partition("</section>")[0]
    assert "<svg" in proof


def test_a_search_that_finds_nothing_says_so(live_project: Project, turn: ExplainabilityTurn) -> None:
    found = get(member_client(live_project), turn, "turn-diagnosis", search="1", should_contain=HOSTILE)
    assert "Nothing that was tried makes the answer what you expected" in found
    assert HOSTILE not in found


def test_the_replay_page_says_identical(live_project: Project, turn: ExplainabilityTurn) -> None:
    assert "replays identically" in get(member_client(live_project, "viewer"), turn, "turn-replay")


def test_going_on_from_a_trial_makes_a_fork(live_project: Project, turn: ExplainabilityTurn) -> None:
    client = member_client(live_project, "editor")
    address = reverse("turn-continue", args=[turn.session.session_id, turn.request_id])
    answer = client.post(address, {"message": "Where does the ferry leave?", "level": "1"})
    fork = Session.objects.get(forked_from=turn.session)
    made = fork.turns.get()
    assert answer.url == reverse("turn", args=[fork.session_id, made.request_id])
    assert (made.user_message, made.deliberation_level, fork.forked_at) == ("Where does the ferry leave?", 1, 4)


def test_a_viewer_may_try_and_not_go_on(live_project: Project, turn: ExplainabilityTurn) -> None:
    client: Client = member_client(live_project, "viewer")
    tried = get(client, turn, "turn-try", message="Where does it leave?")
    assert "Continue from here" not in tried + get(client, turn, "turn-try", **{"try": "1"})
    assert client.post(reverse("turn-continue", args=[turn.session.session_id, turn.request_id])).status_code == 403
