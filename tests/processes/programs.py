"""Small programs for tests, and a check whether their processes have ended."""

import os
import sys
import time
from pathlib import Path

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def program(source: str) -> list[str]:
    """Return the command that runs Python code; it starts quickly, since site packages are not loaded."""
    return [sys.executable, "-I", "-S", "-c", source]


def is_gone(pid: int) -> bool:
    """Return whether the process has ended; one that was killed may need a moment."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True  # killed, but not yet reaped by its parent
        time.sleep(0.01)
    return False
