"""The second factor of logins by password: setup, login, throttling, audit log, recovery."""

from io import StringIO
from time import time

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from pytest_django import Settings
from selectolax.lexbor import LexborHTMLParser

from sessions_app.actions.settings.members import create_invitation
from sessions_app.actions.settings.projects import create_login_link
from sessions_app.models import AuditEntry, AuditKind, Project
from tests.web.page_scene import check_html, member_client, text_at, texts_of, visible_text

PASSWORD = "correct horse"
PAGE, LOGIN, CODE, ENROLMENT = "/second-factor", "/login", "/login/code", "/login/second-factor"


@pytest.fixture
def ann(project: Project) -> Client:
    """Return the client of a member who has a password."""
    client = member_client(project, name="ann")
    user = User.objects.get(username="ann")
    user.set_password(PASSWORD)
    user.save()
    client.force_login(user)
    return client


def app_code() -> str:
    """Return the authenticator's current code, and forget that it was used, since each code works once."""
    device = TOTPDevice.objects.get()
    TOTPDevice.objects.update(last_t=-1, throttling_failure_timestamp=None, throttling_failure_count=0)
    shown = TOTP(device.bin_key, device.step, device.t0, device.digits)
    shown.time = time()
    return f"{shown.token():06d}"


def wrong_code() -> str:
    return f"{(int(app_code()) + 500_000) % 1_000_000:06d}"


def recovery_codes(page: HttpResponse) -> list[str]:
    check_html(page.text)
    shown = LexborHTMLParser(page.text).css_first("pre[aria-label='Recovery codes']")
    assert shown is not None, page.text
    return shown.text().split()


def set_up(client: Client) -> list[str]:
    """Set up a second factor as its page describes; return the recovery codes."""
    assert client.post(PAGE, {"act": "begin"}).status_code == 302
    return recovery_codes(client.post(PAGE, {"act": "confirm", "code": app_code()}))


def test_a_right_code_too_soon_is_not_called_wrong(ann: Client) -> None:
    ann.post(PAGE, {"act": "begin"})
    right = app_code()
    ann.post(PAGE, {"act": "confirm", "code": wrong_code()})
    TOTPDevice.objects.update(throttling_failure_count=12)  # on a busy machine one second has passed
    refused = ann.post(PAGE, {"act": "confirm", "code": right})
    assert refused.status_code == 400
    assert text_at(refused.text, "#second-error span").startswith("Too many wrong codes. Try again in")
    TOTPDevice.objects.update(throttling_failure_timestamp=None)
    recovery_codes(ann.post(PAGE, {"act": "confirm", "code": right}))


def password_given(**more: str) -> Client:
    """Return a new client after the password was accepted, which must not lead to the first page."""
    client = Client()
    answer = client.post(LOGIN, {"username": "ann", "password": PASSWORD, **more})
    assert answer["Location"] in (CODE, ENROLMENT)
    return client


def is_logged_in(client: Client) -> bool:
    return client.get("/plugins").status_code == 200


def kinds() -> list[str]:
    return list(AuditEntry.objects.order_by("id").values_list("kind", flat=True))


def test_a_password_alone_logs_in_who_has_none(ann: Client) -> None:
    client = Client()
    assert client.post(LOGIN, {"username": "ann", "password": PASSWORD})["Location"] == "/"
    assert is_logged_in(client)


def test_setting_up_shows_a_qr_code_and_recovery_codes_once(ann: Client) -> None:
    check_html(ann.get(PAGE).text)
    ann.post(PAGE, {"act": "begin"})
    page = ann.get(PAGE)
    check_html(page.text)
    parsed = LexborHTMLParser(page.text)
    assert parsed.css_first(".qr-code svg path") is not None
    secret = parsed.css_first("pre[aria-label='The secret']").text().replace(" ", "")
    address = parsed.css_first("a[href^='otpauth:']").attributes["href"] or ""
    assert f"secret={secret}" in address
    assert ann.post(PAGE, {"act": "confirm", "code": wrong_code()}).status_code == 400
    assert not TOTPDevice.objects.filter(confirmed=True).exists()
    codes = recovery_codes(ann.post(PAGE, {"act": "confirm", "code": app_code()}))
    assert len(set(codes)) == 10
    later = ann.get(PAGE).text
    assert "10 recovery codes left" in texts_of(later, "main .stack > p")[0]
    assert not [code for code in codes if code in visible_text(later)]
    assert secret not in later.replace(" ", "")
    assert "second factor" in texts_of(ann.get(reverse("members")).text, "td .badge")
    assert AuditKind.SECOND_FACTOR_ADDED in kinds()


def test_a_code_of_the_app_is_asked_for_and_works_once(ann: Client) -> None:
    set_up(ann)
    client = password_given(next="/plugins")
    assert not is_logged_in(client)
    check_html(client.get(CODE).text)
    code = app_code()
    assert client.post(CODE, {"code": f" {code[:3]} {code[3:]}"})["Location"] == "/plugins"
    assert is_logged_in(client)
    again = password_given()
    assert again.post(CODE, {"code": code}).status_code == 400
    assert not is_logged_in(again)
    assert kinds()[-2:] == [AuditKind.LOGIN_SUCCEEDED, AuditKind.LOGIN_FAILED]


def test_a_recovery_code_works_once_and_is_recorded(ann: Client) -> None:
    code = set_up(ann)[3]
    client = password_given()
    assert client.post(CODE, {"code": code.upper()}).status_code == 302
    assert is_logged_in(client)
    assert AuditEntry.objects.get(kind=AuditKind.RECOVERY_CODE_USED).facts == {"left": 9}
    again = password_given()
    assert again.post(CODE, {"code": code}).status_code == 400
    assert not is_logged_in(again)


def test_wrong_codes_make_everybody_wait(ann: Client, settings: Settings) -> None:
    set_up(ann)
    settings.MRPVM_LOGINS_PER_MINUTE = 3
    client = password_given()
    wrong = wrong_code()
    assert client.post(CODE, {"code": wrong}).status_code == 400
    # The right code is throttled after the wrong ones.
    device = TOTPDevice.objects.get()
    TOTPDevice.objects.update(throttling_failure_count=12)
    refused = client.post(CODE, {"code": app_code_of(device)})
    assert refused.status_code == 400
    assert text_at(refused.text, "#code-error span").startswith("Too many wrong codes.")
    right = app_code()
    # Other addresses are throttled too, since the caller knows the password.
    elsewhere = Client(REMOTE_ADDR="10.0.0.7")
    elsewhere.post(LOGIN, {"username": "ann", "password": PASSWORD})
    assert elsewhere.post(CODE, {"code": wrong}).status_code == 400
    waits = elsewhere.post(CODE, {"code": right})
    assert waits.status_code == 429
    assert int(waits["Retry-After"]) > 0
    assert not is_logged_in(elsewhere)
    assert kinds().count(AuditKind.LOGIN_FAILED) == 3


def app_code_of(device: TOTPDevice) -> str:
    shown = TOTP(device.bin_key)
    shown.time = time()
    return f"{shown.token():06d}"


def test_without_the_password_no_code_helps(ann: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = set_up(ann)
    client = Client()
    assert client.post(CODE, {"code": app_code()})["Location"] == LOGIN
    assert client.post(CODE, {"code": codes[0]})["Location"] == LOGIN
    late, changed, disabled = password_given(), password_given(), password_given()
    now = time()
    monkeypatch.setattr("sessions_app.web.shell.login.time.time", lambda: now + 601)
    assert late.post(CODE, {"code": codes[0]})["Location"] == LOGIN
    monkeypatch.undo()
    user = User.objects.get(username="ann")
    User.objects.update(is_active=False)
    assert disabled.post(CODE, {"code": codes[1]})["Location"] == LOGIN
    User.objects.update(is_active=True)
    user.set_password("another horse")
    user.save()
    assert changed.post(CODE, {"code": codes[2]})["Location"] == LOGIN
    assert StaticDevice.objects.get().token_set.count() == 10


def test_a_password_cannot_replace_a_second_factor(ann: Client, settings: Settings) -> None:
    set_up(ann)
    settings.MRPVM_SECOND_FACTOR = "required"
    client = password_given()
    assert client.get(ENROLMENT)["Location"] == LOGIN
    assert client.post(ENROLMENT, {"code": app_code()})["Location"] == LOGIN
    assert ann.post(PAGE, {"act": "begin"}).status_code == 302
    waiting = TOTPDevice.objects.get(confirmed=False)
    assert ann.post(PAGE, {"act": "confirm", "code": app_code_of(waiting)}).status_code == 400
    assert TOTPDevice.objects.filter(confirmed=True).exists()


def test_a_required_second_factor_is_set_up_at_login(ann: Client, settings: Settings) -> None:
    settings.MRPVM_SECOND_FACTOR = "required"
    client = password_given(next="/admin/")
    assert not is_logged_in(client)
    page = client.get(ENROLMENT)
    check_html(page.text)
    assert LexborHTMLParser(page.text).css_first(".qr-code svg") is not None
    assert client.post(ENROLMENT, {"code": wrong_code()}).status_code == 400
    assert not is_logged_in(client)
    done = client.post(ENROLMENT, {"code": app_code()})
    assert len(recovery_codes(done)) == 10
    assert LexborHTMLParser(done.text).css_first("main a[href='/admin/']").text() == "Go on"
    assert is_logged_in(client)


def test_logged_in_user_is_asked_once_second_factor_is_required(ann: Client, settings: Settings) -> None:
    by_password, by_code, by_link = Client(), Client(), Client()
    by_password.post(LOGIN, {"username": "ann", "password": PASSWORD})
    set_up(ann)
    by_code.post(LOGIN, {"username": "ann", "password": PASSWORD})
    by_code.post(CODE, {"code": app_code()})
    by_link.get(reverse("login-link", args=[create_login_link(User.objects.get(username="ann"))]))
    assert all(map(is_logged_in, (by_password, by_code, by_link, ann)))
    settings.MRPVM_SECOND_FACTOR = "required"
    assert [is_logged_in(client) for client in (by_password, by_code, by_link, ann)] == [False, True, True, True]
    assert by_password.get("/api/sessions").status_code == 401
    assert by_password.get("/plugins")["Location"].startswith(LOGIN)
    by_password.post(LOGIN, {"username": "ann", "password": PASSWORD})
    by_password.post(CODE, {"code": app_code()})
    assert is_logged_in(by_password)


def test_invited_user_is_asked_where_it_is_required(project: Project, settings: Settings) -> None:
    settings.MRPVM_SECOND_FACTOR = "required"
    _, secret = create_invitation(project, "editor", "", "ada")
    client = Client()
    client.post(reverse("invitation", args=[secret]), {"name": "bob", "password": PASSWORD})
    assert not is_logged_in(client)
    answer = client.post(LOGIN, {"username": "bob", "password": PASSWORD})
    assert answer["Location"] == ENROLMENT


def test_the_admin_asks_for_it_and_shows_no_secret(ann: Client) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    set_up(ann)
    client = Client()
    at_login = client.get("/admin/", follow=True)
    assert at_login.redirect_chain[-1][0].startswith(LOGIN)
    client.post(LOGIN, {"username": "ann", "password": PASSWORD, "next": "/admin/"})
    assert client.get("/admin/").status_code == 302
    assert client.post(CODE, {"code": app_code()})["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/otp_totp/totpdevice/").status_code == 404
    assert client.get("/admin/otp_static/staticdevice/").status_code == 404


def test_a_login_link_asks_for_no_code(ann: Client, settings: Settings) -> None:
    set_up(ann)
    settings.MRPVM_SECOND_FACTOR = "required"
    client = Client()
    client.get(reverse("login-link", args=[create_login_link(User.objects.get(username="ann"))]))
    assert is_logged_in(client)


def test_codes_are_renewed_and_removed_with_a_code(ann: Client) -> None:
    earlier = set_up(ann)
    for act in ("renew", "remove"):
        assert ann.post(PAGE, {"act": act, "code": "aaaa-aaaa"}).status_code == 400
    StaticDevice.objects.update(throttling_failure_timestamp=None, throttling_failure_count=0)
    later = recovery_codes(ann.post(PAGE, {"act": "renew", "code": earlier[0]}))
    assert not set(earlier) & set(later)
    assert password_given().post(CODE, {"code": earlier[1]}).status_code == 400
    assert ann.post(PAGE, {"act": "remove", "code": app_code()}).status_code == 302
    assert not TOTPDevice.objects.exists()
    assert not StaticDevice.objects.exists()
    assert kinds()[-1] == AuditKind.SECOND_FACTOR_REMOVED
    assert Client().post(LOGIN, {"username": "ann", "password": PASSWORD})["Location"] == "/"
    assert ann.post(PAGE, {"act": "nonsense"}).status_code == 400


def test_a_command_resets_a_lost_second_factor(ann: Client) -> None:
    set_up(ann)
    said = StringIO()
    call_command("user", "ann", "--reset-second-factor", stdout=said)
    call_command("user", "ann", "--reset-second-factor", stdout=said)
    assert said.getvalue() == "ann has no second factor any more.\nann had no second factor.\n"
    assert not TOTPDevice.objects.exists()
    assert AuditEntry.objects.get(kind=AuditKind.SECOND_FACTOR_REMOVED).actor_kind == "server"
    with pytest.raises(CommandError, match="No user 'nobody'"):
        call_command("user", "nobody", "--reset-second-factor")
