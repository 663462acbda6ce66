"""What a start makes of the key that the settings name."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions_app.actions.settings.api_keys import create_key, find_key, revoke_key
from sessions_app.management.announcement import announcement
from sessions_app.management.bootstrap import bootstrap
from sessions_app.models import Project
from sessions_app.turns.machine import install_plugins

FIRST, SECOND = ("mrp_" + letter * 32 for letter in "ab")


@pytest.fixture(autouse=True)
def _server(project: Project, tmp_path: Path, settings: Settings) -> None:
    settings.MRPVM_DATA_DIR = tmp_path
    settings.MRPVM_API_KEY = FIRST
    install_plugins()


def test_a_start_with_another_key_revokes_the_one_before(project: Project) -> None:
    _, made_on_the_page = create_key(project, "laptop", "admin")
    bootstrap(FIRST, False, alone=True)
    bootstrap(SECOND, False, alone=True)
    assert find_key(FIRST) is None
    assert find_key(SECOND) is not None
    assert find_key(made_on_the_page) is not None


def test_a_start_without_the_setting_revokes_nothing() -> None:
    bootstrap(FIRST, False, alone=True)
    bootstrap(None, False, alone=True)
    assert find_key(FIRST) is not None


def test_a_start_says_that_the_given_key_was_revoked() -> None:
    line = "the one in MRPVM_API_KEY was revoked"
    assert line not in announcement(bootstrap(FIRST, False, alone=True), "127.0.0.1", 8000)
    key = find_key(FIRST)
    assert key is not None
    revoke_key(key)
    assert line in announcement(bootstrap(FIRST, False, alone=True), "127.0.0.1", 8000)
    assert find_key(FIRST) is None


@pytest.mark.rule("DECISION-26")
def test_production_prints_no_link_after_the_first_login(settings: Settings, client: Client) -> None:
    settings.ALLOWED_HOSTS, links = ["mrpvm.example"], []
    for settings.PRODUCTION in (True, False, True):
        links.append(bootstrap(FIRST, False, alone=True).login_url_path)
    assert None not in links
    assert len(set(links)) == 3
    assert client.get(links[-1], headers={"Host": "mrpvm.example"}).status_code == 302
    started = bootstrap(FIRST, False, alone=True)
    assert started.login_url_path is None
    printed = announcement(started, "0.0.0.0", 8000)  # noqa: S104 (not bound)
    assert "Log in     https://mrpvm.example/\n             (the command `user NAME` prints a link" in printed
    assert "login/link" not in printed
    settings.PRODUCTION = False
    assert bootstrap(FIRST, False, alone=True).login_url_path
