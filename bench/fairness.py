"""`python -m bench.fairness [--clients N]`: what one project's load does to the turns of another."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from statistics import median, quantiles

from bench.databases import Database, new_database
from bench.servers import API_KEY, ROOT, MeasuredServer

CLIENTS, ROUNDS, TURNS = 12, 4, 40
AIM = 2.0
"""The p95 beside the load is at most so many times that without it."""
_OTHER_KEY = "mrp_only_for_measurements_of_another_project_0"
_MESSAGES = ("My dog is called Rex.", "What is my dog called?", "I like tea.", "What do I like?")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure alternately without and with the load, and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.fairness", description="Measure one project beside another.")
    parser.add_argument("--clients", type=int, default=CLIENTS, help=f"of the project with the load ({CLIENTS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory, new_database(Path(directory, "rows")) as own:
        _make_other_project(own)
        with MeasuredServer(own, MRPVM_MAX_RUNNING_TURNS="16") as server:
            alone, beside, loaded = _measured(server.port, given.clients, given.rounds)
    print(f"mrpvm bench: one project beside {given.clients} clients of another, {own.product}")
    for name, times in (("alone", alone), ("beside the load", beside)):
        print(f"{f'ms of a turn, {name}':44}p50 {median(times):8.1f}   p95 {_p95(times):8.1f}")
    print(f"{'turns of the load in a second':44}{loaded:8.1f}")
    ratio = _p95(beside) / _p95(alone)
    print(f"{'p95 beside the load / alone':44}{ratio:8.2f}   {'ok' if ratio <= AIM else f'more than {AIM}'}")


def _make_other_project(database: Database) -> None:
    script = (
        "from sessions_app.actions.settings.projects import create_project\n"
        "from sessions_app.models import ApiKey\n"
        "from sessions_app.models.settings.project import digest\n"
        "loud = create_project('Loud')\n"
        f"ApiKey.objects.create(project=loud, name='load', prefix='mrp_', digest=digest('{_OTHER_KEY}'))"
    )
    environment = {**os.environ, "MRPVM_DATA_DIR": str(database.directory), "DATABASE_URL": database.url}
    for command in (("migrate", "-v0"), ("shell", "-v0", "-c", script)):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)


def _measured(port: int, client_count: int, rounds: int) -> tuple[list[float], list[float], float]:
    alone: list[float] = []
    beside: list[float] = []
    loaded_count, loaded_seconds = 0, 0.0
    _turn_times(port, 10)
    for _ in range(rounds):
        alone += _turn_times(port, TURNS)
        with _load(port, client_count) as done:
            while done.value < client_count:
                time.sleep(0.05)
            began, before = time.monotonic(), done.value
            beside += _turn_times(port, TURNS)
            loaded_count += done.value - before
            loaded_seconds += time.monotonic() - began
    return alone, beside, loaded_count / loaded_seconds


@contextmanager
def _load(port: int, client_count: int) -> "Iterator[Synchronized[int]]":
    """Let clients of the other project send turns without pause. Yield the counter of answered turns.

    They run in a separate process, so that their CPU time is not measured.
    """
    spawning = get_context("spawn")
    done = spawning.Value("q", 0)
    process = spawning.Process(target=_send, args=(port, client_count, done))
    process.start()
    try:
        yield done
    finally:
        process.terminate()
        process.join()


def _send(port: int, client_count: int, done: "Synchronized[int]") -> None:
    def send() -> None:
        session, number = None, 0
        while True:
            with suppress(OSError):
                session = _turn(port, _OTHER_KEY, _MESSAGES[number % len(_MESSAGES)], session)
                with done:
                    done.value += 1
            number += 1

    for _ in range(client_count):
        threading.Thread(target=send).start()


def _turn_times(port: int, count: int) -> list[float]:
    times, session = [], None
    for number in range(count):
        began = time.perf_counter()
        session = _turn(port, API_KEY, _MESSAGES[number % len(_MESSAGES)], session)
        times.append((time.perf_counter() - began) * 1000)
    return times


def _turn(port: int, key: str, message: str, session: str | None) -> str:
    """Run one turn and return the id of its session."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    said = {"messages": [{"role": "user", "content": message}], "session_id": session}
    body = {name: value for name, value in said.items() if value is not None}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", "/api/chat/completions", json.dumps(body), headers)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    if response.status != 200:
        raise OSError(f"{response.status}: {answer[:300]!r}")
    return str(json.loads(answer)["session_id"])


def _p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()
