"""Alerts: when a limit is exceeded, how members are notified, and which addresses a web hook may not have."""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPSenderRefused
from typing import Any, ClassVar

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from mrpvm.errors import InvalidInput
from sessions_app import web_hooks
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.settings.projects import ensure_default_project
from sessions_app.actions.turns.alerts import MOST_TRIES, claim_crossing, create_alert
from sessions_app.actions.turns.saved_filters import save_filter
from sessions_app.background.alerts import watch_rates
from sessions_app.models import Alert, AlertCrossing, ExplainabilityTurn, Project
from sessions_app.web_hooks import checked_address, post, signature, signing_key
from tests.web.page_scene import add_turns, new_session

ANNA = Author(name="anna")
LIMITS: dict[str, Any] = {"limit_percent": 50, "window_minutes": 60, "least_turns": 2}


class Receiver(BaseHTTPRequestHandler):
    """An HTTP server that accepts POST requests and answers with `status`."""

    taken: ClassVar[list[tuple[dict[str, str], bytes]]] = []
    status: ClassVar[int] = 200

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.status)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def receiver(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return a receiver on this machine; private addresses are allowed."""
    settings.MRPVM_PRIVATE_WEB_HOOKS = True
    monkeypatch.setattr(Receiver, "taken", [])
    monkeypatch.setattr(Receiver, "status", 200)
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hook?to=team"
    server.shutdown()
    server.server_close()


def alert_on(project: Project, target: str, channel: str = "hook") -> Alert:
    saved = save_filter(project, "Failed", "status:failed", ANNA)
    return create_alert(saved, ANNA, channel=channel, target=target, **LIMITS)


def watch() -> int:
    return watch_rates(lambda: None)


def test_a_limit_is_told_once_each_time_it_is_passed(project: Project, receiver: str) -> None:
    alert, session = alert_on(project, receiver), new_session(project)
    add_turns(session, 1, "failed")
    assert watch() == 0  # too few turns for an alert
    add_turns(session, 1)
    assert watch() == 0  # exactly half does not exceed the limit
    add_turns(session, 1, "failed")
    assert [watch(), watch()] == [1, 0]
    (headers, body), *others = Receiver.taken
    assert others == []
    data = json.loads(body)["data"]
    assert (data["matched"], data["turns"], data["filter"]) == (2, 3, "Failed")
    sent_at = int(headers["webhook-timestamp"])
    expected = signature(signing_key(alert.alert_id), headers["webhook-id"], sent_at, body)
    assert headers["webhook-signature"] == expected
    add_turns(session, 2)
    assert watch() == 0
    assert AlertCrossing.objects.get().ended_at is not None
    add_turns(session, 3, "failed")
    assert watch() == 1
    assert list(AlertCrossing.objects.values_list("status", flat=True)) == ["sent", "sent"]


def test_old_turns_and_other_projects_do_not_count(project: Project, receiver: str) -> None:
    alert_on(project, receiver)
    add_turns(new_session(project), 3, "failed")
    ExplainabilityTurn.objects.update(created_at=timezone.now() - timedelta(minutes=61))
    add_turns(new_session(Project.objects.create(name="Other", slug="other")), 3, "failed")
    assert watch() == 0
    assert Alert.objects.get().rate_percent is None


@pytest.mark.parametrize("status", [500, 302])
def test_a_refused_message_is_tried_again_later(project: Project, receiver: str, status: int) -> None:
    Receiver.status = status
    alert_on(project, receiver)
    add_turns(new_session(project), 2, "failed")
    for tried in range(1, MOST_TRIES + 1):
        assert watch() == 0
        assert AlertCrossing.objects.get().tries == len(Receiver.taken) == tried
        watch()  # no attempt before the retry is due
        assert len(Receiver.taken) == tried
        AlertCrossing.objects.update(next_try_at=timezone.now())
    assert AlertCrossing.objects.get().status == "failed"
    assert f"answered {status}" in AlertCrossing.objects.get().problem
    assert len({headers["webhook-id"] for headers, _ in Receiver.taken}) == 1


def test_a_crossing_is_claimed_by_one_process(project: Project, receiver: str) -> None:
    alert = alert_on(project, receiver)
    AlertCrossing.objects.create(alert=alert, matched_count=2, turn_count=2)
    now = timezone.now()
    assert claim_crossing(now) is not None
    assert claim_crossing(now) is None
    assert claim_crossing(now + timedelta(minutes=3)) is not None


@pytest.mark.django_db(transaction=True)
def test_several_that_sweep_at_once_tell_it_once(receiver: str, settings: Settings) -> None:
    project = ensure_default_project()
    alert_on(project, receiver)
    add_turns(new_session(project), 3, "failed")
    together = threading.Barrier(4)

    def sweep(_: int) -> int:
        try:
            together.wait(timeout=20)
            return watch()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(sweep, range(4))) == 1
    assert (len(Receiver.taken), AlertCrossing.objects.count()) == (1, 1)


def test_mail_is_sent_where_there_is_a_mail_server(project: Project, settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="no mail server"):
        alert_on(project, "team@example.org", "mail")
    settings.MRPVM_MAIL = True
    saved = project.saved_filters.get()
    with pytest.raises(InvalidInput, match="no mail address"):
        create_alert(saved, ANNA, channel="mail", target="nobody", **LIMITS)
    create_alert(saved, ANNA, channel="mail", target="team@example.org", **LIMITS)
    add_turns(new_session(project), 2, "failed")
    assert watch() == 1
    (letter,) = mail.outbox
    assert letter.to == ["team@example.org"]
    assert letter.subject == "[mrpvm] Failed: 100.0 % of the turns"


def test_a_message_leads_to_the_turns_in_production(project: Project, receiver: str, settings: Settings) -> None:
    settings.MRPVM_MAIL = True
    saved = alert_on(project, receiver).saved_filter
    create_alert(saved, ANNA, channel="mail", target="team@example.org", **LIMITS)
    add_turns(new_session(project), 2, "failed")
    settings.PRODUCTION, settings.ALLOWED_HOSTS = True, ["mrpvm.example"]
    assert watch() == 2
    address = f"https://mrpvm.example/turns/filters/{saved.filter_id}"
    assert json.loads(Receiver.taken[0][1])["data"]["url"] == address
    assert address in mail.outbox[0].body.splitlines()


def test_a_message_names_no_address_that_is_not_known(project: Project, receiver: str, settings: Settings) -> None:
    alert_on(project, receiver)
    add_turns(new_session(project), 2, "failed")
    settings.PRODUCTION, settings.ALLOWED_HOSTS = True, ["*"]
    assert watch() == 1
    assert json.loads(Receiver.taken[0][1])["data"]["url"] is None


@pytest.mark.parametrize(
    "refusal",
    [
        SMTPRecipientsRefused({"team@example.org": (550, b"no such mailbox")}),
        SMTPSenderRefused(550, b"no such mailbox", "mrpvm@localhost"),
        SMTPDataError(550, b"no such mailbox"),
    ],
)
def test_a_refused_mail_is_told_in_the_mail_servers_words(
    project: Project, settings: Settings, monkeypatch: pytest.MonkeyPatch, refusal: SMTPException
) -> None:
    def refuse(message: EmailMessage) -> int:
        raise refusal

    settings.MRPVM_MAIL = True
    alert_on(project, "team@example.org", "mail")
    add_turns(new_session(project), 2, "failed")
    monkeypatch.setattr(EmailMessage, "send", refuse)
    assert watch() == 0
    assert AlertCrossing.objects.get().problem == "The mail server answered 550: no such mailbox"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "https://", "https://user:pass@example.org/", "http://127.0.0.1/", "http://[::1]/",
        "http://169.254.169.254/latest", "http://10.0.0.1/", "http://[::ffff:192.168.0.1]/", "http://0.0.0.0/",
        "http://[64:ff9b::a00:1]/", "http://[fd00::1]/", "http://a b/", "http://example.org:0/", "http://[x/",
        "http://224.0.0.1/",
    ],
)  # fmt: skip
def test_addresses_that_no_hook_may_have_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        checked_address(url)


def test_a_receiver_has_the_whole_time_for_its_answer(receiver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    timeouts: list[float] = []
    connect = socket.create_connection

    def connected(address: tuple[str, int], timeout: float) -> socket.socket:
        timeouts.append(timeout)
        return connect(address, timeout)

    monkeypatch.setattr(web_hooks.socket, "create_connection", connected)
    post(receiver, web_hooks.WebhookMessage(message_id="m", body=b"{}", key=signing_key("a")), 0)
    assert timeouts == [web_hooks.POST_SECONDS]


def test_a_receiver_is_reached_by_any_address_of_its_name(receiver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name often has one of IPv6, at which the receiver or its network does not answer."""
    looked_up = socket.getaddrinfo

    def found(host: str, *arguments: Any, **options: Any) -> list[Any]:
        hosts = ("::1", "127.0.0.1") if host == "hooks.example" else (host,)
        return [entry for each in hosts for entry in looked_up(each, *arguments, **options)]

    monkeypatch.setattr(web_hooks.socket, "getaddrinfo", found)
    message = web_hooks.WebhookMessage(message_id="m", body=b"{}", key=signing_key("a"))
    post(receiver.replace("127.0.0.1", "hooks.example"), message, 0)
    assert len(Receiver.taken) == 1


def test_a_name_that_leads_to_a_private_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[object] = []
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("93.184.216.34", "10.0.0.7")]
    monkeypatch.setattr(web_hooks.socket, "getaddrinfo", lambda *arguments, **options: found)
    monkeypatch.setattr(web_hooks.socket, "create_connection", lambda *arguments: reached.append(arguments))
    message = web_hooks.WebhookMessage(message_id="m", body=b"{}", key=signing_key("a"))
    with pytest.raises(web_hooks.PostFailedError, match="private network"):
        post("http://hooks.example/", message, 0)
    assert reached == []
