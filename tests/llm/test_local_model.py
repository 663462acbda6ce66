"""The process of the local model, where no model is installed."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mrpvm.llm.local_model import LocalModel

PROGRAM = 'print(\'{"url": "http://127.0.0.1:1/v1"}\', flush=True); import sys; sys.stdin.read()'
"""Says where it serves, and serves nothing."""


def test_a_model_that_could_not_start_again_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []
    is_back = threading.Event()

    def start(self: LocalModel, port: int) -> "subprocess.Popen[bytes]":
        starts.append(port)
        if len(starts) == 2:
            raise OSError("Cannot allocate memory")
        if len(starts) == 3:
            is_back.set()
        return subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(LocalModel, "_start", start)
    model = LocalModel(Path("none.gguf"), health_seconds=0.01)
    model.wait()
    assert is_back.wait(10)
    model.close()
