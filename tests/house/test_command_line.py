"""The console script: what it does around every command."""

import gc
import io
import os
import sys

import pytest

from sessions_app.management.command_line import CommandLine, run


@pytest.mark.parametrize("command", ["help", "version"])
def test_a_reader_that_is_gone_ends_a_command_in_silence(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gc, "disable", gc.enable)  # both are for a process of its own
    monkeypatch.setattr(os, "umask", oct)
    reading, writing = os.pipe()
    os.close(reading)
    utility = CommandLine(["mrpvm", command])
    with io.TextIOWrapper(os.fdopen(writing, "wb")) as output:
        monkeypatch.setattr(sys, "stdout", output)
        with pytest.raises(SystemExit) as ended:
            run(utility)
    assert ended.value.code == 1
    assert capfd.readouterr().err == ""
