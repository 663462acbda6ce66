"""The console script: what it does around every command."""

import io
import os
import sys

import pytest
from django.conf import settings as used
from django.core.management import call_command
from pytest_django import Settings

from sessions_app.models import Project
from tests.command_line import CommandRunner


def test_a_login_link_is_whole_in_production(project: Project, settings: Settings) -> None:
    settings.ALLOWED_HOSTS, links = ["mrpvm.example"], []
    for settings.PRODUCTION in (False, True):
        said = io.StringIO()
        call_command("user", "ann", stdout=said)
        links.append(said.getvalue().splitlines()[-1])
    assert links[0].startswith("/login/link/")
    assert links[1].startswith("https://mrpvm.example/login/link/")


@pytest.mark.parametrize("command", ["version", "--version"])
def test_the_version_is_the_servers(commands: CommandRunner, command: str) -> None:
    assert commands.run(command) == (0, f"{used.MRPVM_VERSION}\n")


@pytest.mark.parametrize("command", ["help", "version"])
def test_a_reader_that_is_gone_ends_a_command_in_silence(
    commands: CommandRunner, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with io.TextIOWrapper(os.fdopen(writing, "wb")) as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert commands.run(command) == (1, "")
