"""The server as a separate process, started with `manage.py serve` as by an operator."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60
LONGEST_WAIT = 5
LAST_LINE = "My dog is called Rex"  # of the printed block


class Patience:
    """A time limit that does not count the time in which programs of this machine waited for a core.

    On a busy machine a server is slow; it hangs only if it makes no progress while a core is free.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began, self._crowded = time.monotonic(), _crowded_seconds()

    def is_over(self) -> bool:
        """Return whether the limit has passed without waiting for a core, or `LONGEST_WAIT` times the limit in all."""
        elapsed = time.monotonic() - self._began
        crowded = _crowded_seconds() - self._crowded
        return elapsed - crowded > self._seconds or elapsed > LONGEST_WAIT * self._seconds


def _crowded_seconds() -> float:
    """Return how long programs have waited for a core since the machine started; 0 if the kernel does not tell."""
    try:
        return int(Path("/proc/pressure/cpu").read_text().split("total=")[1].split()[0]) / 1e6
    except OSError:
        return 0


class ServerProcess:
    """`manage.py serve` on a free port with a data directory; `url`, `output` and `login_link` once it is ready.

    It gets no variable of the developer; the fixture `own_services` has those of a separate database.
    """

    def __init__(self, data: Path, *arguments: str, **variables: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        without = {"MRPVM_DEMO": "0", "MRPVM_LOCAL_MODEL": "0"}
        self.environment = kept | {"MRPVM_DATA_DIR": str(data), "PORT": "0"} | without | variables
        self.command = [sys.executable, "manage.py", "serve", *arguments]
        self.cwd = ROOT
        self.output = ""
        self.start_seconds = START_SECONDS
        self._is_ready = threading.Event()

    def __enter__(self) -> Self:
        """Start, and wait until the server says that it is ready."""
        self.process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # Read until the end, since a server blocks on a full pipe.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        patience = Patience(self.start_seconds)
        while not self._is_ready.wait(1):
            if patience.is_over():
                self.process.kill()
        address = re.search(r"127\.0\.0\.1:\d+", self.output)
        if not address:
            self.__exit__()
            raise AssertionError(f"the server did not start:\n{self.output}")
        self.url = f"http://{address[0]}"
        return self

    def _read(self) -> None:
        last = "mrpvm serves" if "--no-bootstrap" in self.command else LAST_LINE
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.output += line
                if last in line:
                    self._is_ready.set()
        self._is_ready.set()

    def __exit__(self, *raised: object) -> None:
        """Stop the server unless the test has."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()

    @property
    def login_link(self) -> str:
        """Return the printed one-time link."""
        found = re.search(r"Log in +(\S+)", self.output)
        assert found, self.output
        return found[1]

    @property
    def api_key(self) -> str | None:
        """Return the printed API key, if one was printed."""
        found = re.search(r"mrp_[A-Za-z0-9_-]{32,}", self.output)
        return found[0] if found else None

    def stop(self, sent: signal.Signals = signal.SIGINT) -> tuple[int, float, str]:
        """Stop the server; return the exit code, the seconds until its end, and its last output."""
        began, said = time.monotonic(), len(self.output)
        self.process.send_signal(sent)
        code = self.process.wait(timeout=START_SECONDS)
        seconds = time.monotonic() - began
        self._reader.join()
        return code, seconds, self.output[said:]

    def refused(self) -> tuple[int, str]:
        """Start the server, which must fail; return the exit code and the output."""
        return self._run(self.command)

    def manage(self, *arguments: str, seconds: float = START_SECONDS) -> tuple[int, str]:
        """Run another command in the server's environment; return the exit code and the output."""
        return self._run([*self.command[:2], *arguments], seconds)

    def _run(self, command: list[str], seconds: float = START_SECONDS) -> tuple[int, str]:
        done = subprocess.run(
            command,
            cwd=self.cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr
