"""A process that keeps reading, with warm caches, while others write and are killed.

`python -m tests.faults.lasting_reader WRITER` reads the newest session and its base until its input ends. Each distinct
result is printed once, as a JSON line with the view's name.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import django

from tests.server import ROOT

type Views = Mapping[str, list[Any]]


@contextmanager
def lasting_reader(writer: str, environment: Mapping[str, str]) -> Iterator[dict[str, list[Any]]]:
    """Read during the block; after it, the mapping holds what each view showed, in order."""
    shown: dict[str, list[Any]] = {}
    command = [sys.executable, "-m", "tests.faults.lasting_reader", writer]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield shown
        printed, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    finally:
        process.kill()
    for line in printed.splitlines():
        name, found = json.loads(line)
        shown.setdefault(name, []).append(found)


def main(writer: str) -> None:
    """Read until the input ends."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
    django.setup()
    from tests.faults import reading

    views: Mapping[str, Callable[[], Views]] = {
        "ingest": reading.leaves_shown, "save": reading.claims_shown, "compaction": reading.ranks_shown
    }  # fmt: skip
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    known: set[str] = set()
    while not ended.wait(0.002):
        for name, found in views[writer]().items():
            line = json.dumps([name, found])
            if line not in known:
                known.add(line)
                print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
