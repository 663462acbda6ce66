"""Logging in by password and by the printed link, and logging out."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from sessions_app.actions.settings.projects import create_login_link
from sessions_app.call_rates import used_in_minute
from sessions_app.models import LoginLink, Project
from tests.web.page_scene import check_html, member_client, parsed, text_at, texts_of


@pytest.fixture
def user(project: Project) -> User:
    member_client(project, name="anna")
    anna = User.objects.get(username="anna")
    anna.set_password("correct horse")
    anna.save()
    return anna


def attempt(client: Client, password: str = "wrong", name: str = "anna", **more: str) -> int:
    return client.post(reverse("login"), {"username": name, "password": password, **more}).status_code


def test_a_link_logs_in_once_and_sends_no_referrer(user: User, client: Client) -> None:
    address = reverse("login-link", args=[create_login_link(user)])
    response = client.get(address)
    assert response.status_code == 302
    assert response["Location"] == "/"
    assert response["Referrer-Policy"] == "same-origin"
    assert "no-store" in response["Cache-Control"]
    assert client.get("/").status_code == 200
    again = Client().get(address)
    assert again.status_code == 400
    assert again["Referrer-Policy"] == "same-origin"
    assert "used already or is too old" in text_at(again.text, "h1 + p")
    for page, place in ((again, "h1 + p"), (Client().get(reverse("login")), ".notice > span")):
        assert "mrpvm user NAME" in text_at(page.text, place), "no restart is needed"


def test_an_old_or_unknown_link_does_not_log_in(user: User, client: Client) -> None:
    address = reverse("login-link", args=[create_login_link(user)])
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    for path in (address, reverse("login-link", args=["made-up"])):
        assert client.get(path).status_code == 400
        assert client.get("/").status_code == 302


def test_a_new_link_ends_the_earlier_one(user: User, client: Client) -> None:
    earlier, later = create_login_link(user), create_login_link(user)
    assert client.get(reverse("login-link", args=[earlier])).status_code == 400
    assert client.get(reverse("login-link", args=[later])).status_code == 302


def test_a_password_logs_in_and_leads_where_one_wanted_to_go(user: User, client: Client) -> None:
    html = client.get("/plugins", follow=True).text
    check_html(html)
    assert "prints a login link when it starts" in text_at(html, ".notice")
    assert parsed(html).css('[name="next"][value="/plugins"]')
    response = client.post(reverse("login"), {"username": "anna", "password": "correct horse", "next": "/plugins"})
    assert response["Location"] == "/plugins"
    assert client.get("/login")["Location"] == "/"


def test_a_login_leads_to_no_other_server(user: User, client: Client) -> None:
    form = {"username": "anna", "password": "correct horse", "next": "https://evil.example/"}
    assert client.post(reverse("login"), form)["Location"] == "/"


def test_a_wrong_password_says_nothing_about_the_user(user: User, client: Client) -> None:
    answers = [
        client.post(reverse("login"), {"username": name, "password": "wrong"}).text.replace(name, "")
        for name in ("anna", "nobody")
    ]
    for html in answers:
        assert text_at(html, ".notice[role=alert] span") == "The name or the password is wrong."


@pytest.mark.rule("DECISION-25")
def test_the_eleventh_attempt_in_a_minute_waits(user: User, client: Client, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 10
    assert [attempt(client) for _ in range(10)] == [200] * 10
    response = client.post(reverse("login"), {"username": "Anna", "password": "correct horse"})
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 61
    assert text_at(response.text, ".notice.status-warn strong") == "Too many attempts."
    assert client.get("/").status_code == 302
    # Other users, and the same user from another address, are not delayed.
    assert attempt(client, name="berta") == 200
    elsewhere = Client(REMOTE_ADDR="10.0.0.7")
    assert attempt(elsewhere, "correct horse") == 302


@pytest.mark.parametrize("other", ["anna ", " anna", "ANNA", "ａnna", "anna\u3000"])
def test_another_spelling_is_counted_as_the_same_user(
    user: User, client: Client, settings: Settings, other: str
) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 2
    assert [attempt(client) for _ in range(2)] == [200, 200]
    assert attempt(client, name=other) == 429


def test_an_address_cannot_try_ever_more_names(client: Client, project: Project, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 2
    assert [attempt(client, name=f"user {number}") for number in range(12)] == [200] * 10 + [429] * 2


def test_whoever_has_a_network_is_one_caller(user: User, project: Project, settings: Settings) -> None:
    """An IPv6 subscriber has 2**64 addresses, which count as one."""
    settings.MRPVM_LOGINS_PER_MINUTE = 2
    own = [Client(REMOTE_ADDR=f"2001:db8:0:1::{number:x}") for number in range(1, 4)]
    assert [attempt(client) for client in own] == [200, 200, 429]
    assert attempt(Client(REMOTE_ADDR="2001:db8:0:2::1")) == 200
    mapped = [Client(REMOTE_ADDR=f"::ffff:10.0.0.{number}") for number in range(1, 4)]
    assert [attempt(client) for client in mapped] == [200, 200, 200]


def test_a_refused_address_has_no_more_names_counted(client: Client, project: Project, settings: Settings) -> None:
    """Each counter is a cache entry, and the number of entries is limited."""
    settings.MRPVM_LOGINS_PER_MINUTE = 1
    assert [attempt(client, name=f"user {number}") for number in range(7)] == [200] * 5 + [429] * 2
    assert used_in_minute("login:127.0.0.1:user 4") == 1
    assert used_in_minute("login:127.0.0.1:user 6") == 0


@pytest.mark.parametrize(
    "form",
    [{f"field{number}": "" for number in range(1_001)}, {"username": "a" * 2_700_000}],
    ids=["too many fields", "too long"],
)
def test_a_stranger_fills_no_log(client: Client, form: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    client.raise_request_exception = False
    assert client.post(reverse("login"), urlencode(form), "application/x-www-form-urlencoded").status_code == 400
    assert caplog.text == ""


@pytest.mark.parametrize("door", ["password", "link"])
def test_a_login_goes_on_in_no_session_that_somebody_prepared(user: User, client: Client, door: str) -> None:
    prepared = client.session
    prepared["left"] = "by a stranger"
    prepared.save()
    if door == "password":
        assert attempt(client, "correct horse") == 302
    else:
        client.get(reverse("login-link", args=[create_login_link(user)]))
    assert client.get("/").status_code == 200
    assert client.cookies["mrpvm_session"].value != prepared.session_key
    stranger = Client()
    stranger.cookies["mrpvm_session"] = prepared.session_key
    assert stranger.get("/").status_code == 302


def test_no_limit_when_it_is_switched_off(user: User, client: Client, settings: Settings) -> None:
    settings.MRPVM_LOGINS_PER_MINUTE = 0
    assert {attempt(client) for _ in range(15)} == {200}


def test_logging_out_takes_a_post(user: User, client: Client) -> None:
    client.force_login(user)
    assert client.get(reverse("logout")).status_code == 405
    assert client.get("/").status_code == 200
    assert client.post(reverse("logout"))["Location"] == reverse("login")
    assert client.get("/").status_code == 302


def test_error_pages_are_ours(user: User, client: Client) -> None:
    missing = client.get("/nothing/here")
    assert missing.status_code == 404
    assert text_at(missing.text, "main a.button") == "Go to the sessions"
    check_html(missing.text)
    client.force_login(user)
    check_html(client.get("/nothing/here").text)
    client.raise_request_exception = False
    broken = client.get("/", headers={"Host": "<b>.example"})
    assert broken.status_code == 400
    check_html(broken.text)
    assert "The server is not reached by the name <b>.example." in texts_of(broken.text, "main p")
    assert "Its operator allows a name by the setting ALLOWED_HOSTS." in texts_of(broken.text, "main p")
    shapeless = client.post(reverse("login"), b"no form", content_type="multipart/form-data; boundary=é")
    assert shapeless.status_code == 400
    assert "The server could not understand this request." in texts_of(shapeless.text, "main p")


def test_a_defect_shows_a_page_without_details(user: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("sessions_app.web.settings.plugin_views.page", broken)
    client.force_login(user)
    client.raise_request_exception = False
    response = client.get("/plugins")
    assert response.status_code == 500
    html = response.text
    assert text_at(html, "h1") == "The server failed"
    assert "secret detail" not in html
    check_html(html)
