"""`python -m bench.pages.versions COMMIT...`: what each page costs in this tree and in other versions, in one run.

Each version serves from its own tree over its own database. Each gets the same conversation by HTTP, and requests
for the same pages alternate. The CPU times of the processes are compared. A page that a version does not
have is left out. All versions use the packages of this tree.
"""

import argparse
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Self

from bench.conversation import conversation
from bench.databases import new_database
from bench.servers import ROOT, MeasuredServer

ROUNDS, ASKED_A_ROUND = 9, 12
TURNS = 12
SLOWER_AT_MOST = 1.05
"""A ratio below this is no more than the noise of two equal trees."""
_PAGES: Sequence[tuple[str, str]] = (
    ("sessions", "/"),
    ("session", "/sessions/{session}"),
    ("session, turns", "/sessions/{session}?panel=turns"),
    ("turn", "/sessions/{session}/turns/{turn}"),
    ("turn, timeline", "/sessions/{session}/turns/{turn}?view=timeline"),
    ("turn, context", "/sessions/{session}/turns/{turn}?tab=context"),
    ("turn, state", "/sessions/{session}/turns/{turn}?tab=state"),
    ("turn, choice", "/sessions/{session}/turns/{turn}?tab=choice"),
    ("compare", "/sessions/{session}/turns/{turn}/compare"),
    ("turns", "/turns"),
    ("overview", "/overview"),
    ("search", "/search?q=dog"),
    ("knowledge", "/knowledge"),
    ("base", "/knowledge/{base}"),
    ("plugins", "/plugins"),
    ("settings", "/settings"),
    ("keys", "/api-keys"),
    ("members", "/members"),
)


class Version:
    """A running version with the addresses of its pages."""

    def __init__(self, server: MeasuredServer) -> None:
        with server.client() as client:
            self._cookies = client.log_in(server.login_path)
            session = client.new_session()
            for said in islice(conversation(seed=7), TURNS):
                turn = json.loads(client.say(session, said.message))
            base = json.loads(client.post("/api/kbs", {"name": "Handbook"}))["kb_id"]
        self._server = server
        self._names = {"session": session, "turn": turn["request_id"], "base": base}
        self.pages = {name: address.format(**self._names) for name, address in _PAGES if self._has(address)}

    def _has(self, address: str) -> bool:
        with self._server.client() as client:
            try:
                client.page(address.format(**self._names), self._cookies)
            except RuntimeError:
                return False
        return True

    def cpu_ms(self, name: str) -> float:
        """Return the CPU ms of one request for the page."""
        with self._server.client() as client:
            before = self._server.cpu_ms
            for _ in range(ASKED_A_ROUND):
                client.page(self.pages[name], self._cookies)
            return (self._server.cpu_ms - before) / ASKED_A_ROUND

    @classmethod
    def of(cls, commit: str, directory: Path, stack: ExitStack) -> Self:
        """Return the version of a commit (this tree if it is empty), which serves until the stack is closed."""
        server = MeasuredServer(stack.enter_context(new_database(directory / "data")))
        if commit:
            server.root = directory / "tree"
            archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
            with tarfile.open(fileobj=archive.stdout, mode="r|") as tree:
                tree.extractall(server.root, filter="data")
            if archive.wait():
                raise SystemExit(f"There is no commit {commit!r} here.")
        return cls(stack.enter_context(server))


def main() -> None:
    """Serve the versions, measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.pages.versions", description=__doc__)
    parser.add_argument("commits", nargs="+", metavar="COMMIT")
    parser.add_argument("--quick", action="store_true", help="one round: shows that it runs")
    options = parser.parse_args()
    rounds = 1 if options.quick else ROUNDS
    with tempfile.TemporaryDirectory(prefix="mrpvm-bench-") as directory, ExitStack() as stack:
        here, *others = (
            Version.of(commit, Path(directory, commit or "here"), stack) for commit in ("", *options.commits)
        )
        print("CPU ms of a page here; in another version; here / there")
        for commit, other in zip(options.commits, others, strict=True):
            print("", commit, "", sep="\n")
            for line in _lines(here, other, rounds):
                print(line, flush=True)


def _lines(here: Version, other: Version, rounds: int) -> Iterator[str]:
    for name in here.pages:
        if name not in other.pages:
            yield f"{name:<18}not there"
            continue
        ours, theirs = _measured(lambda name=name: (here.cpu_ms(name), other.cpu_ms(name)), rounds)  # type: ignore[misc]
        ratio = median(one / another for one, another in zip(ours, theirs, strict=True))
        verdict = "met" if ratio <= SLOWER_AT_MOST else "not met"
        yield f"{name:<18}{median(ours):8.2f}{median(theirs):9.2f}{ratio:8.2f}   at most {SLOWER_AT_MOST}: {verdict}"


def _measured(measure: Callable[[], tuple[float, float]], rounds: int) -> tuple[list[float], list[float]]:
    """Return the cost of both in each round. One earlier round warms them up."""
    measure()
    ours, theirs = zip(*(measure() for _ in range(rounds)), strict=True)
    return list(ours), list(theirs)


if __name__ == "__main__":
    main()
