"""Small real programs for tests, and whether what they started is still there."""

import os
import sys
import time
from pathlib import Path

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def program(source: str) -> list[str]:
    """Return the command that runs a few lines of Python, without site packages so that it starts at once."""
    return [sys.executable, "-I", "-S", "-c", source]


def is_gone(pid: int) -> bool:
    """Return whether no such process runs any more; one that was killed may need a moment to go."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True  # killed; whoever inherited it has yet to ask
        time.sleep(0.01)
    return False
