"""The console script: what it does around every command."""

import io
import os
import sys

import pytest
from django.conf import settings

from tests.command_line import CommandRunner


@pytest.mark.parametrize("command", ["version", "--version"])
def test_the_version_is_the_servers(commands: CommandRunner, command: str) -> None:
    assert commands.run(command) == (0, f"{settings.MRPVM_VERSION}\n")


@pytest.mark.parametrize("command", ["help", "version"])
def test_a_reader_that_is_gone_ends_a_command_in_silence(
    commands: CommandRunner, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with io.TextIOWrapper(os.fdopen(writing, "wb")) as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert commands.run(command) == (1, "")
