"""A soak run: work, faults, and the checks afterwards."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.soak.load import KEY, Noted, Person
from tests.soak.sites import START_SECONDS, Fault, Site

QUIET_SECONDS = 2.0
"""The longest time between two faults."""
LATEST = 3
"""How many times the asked time the faults may take: on a crowded machine not each has happened by then."""
SETTLE_SECONDS = 300
"""The longest time after the last fault in which no turn ends and no page learns of anything, but some have to."""
BEGUN_AFTER = 3
"""How many things everybody has done when the first size is taken: the caches of a process are filled by then."""
GIVEN_UP = {"TimeoutError"}
"""Errors of waiting for no longer than a limit: they tell of a slow machine, not of a loss."""
MEMORY_GROWTH, DESCRIPTOR_GROWTH = 1.5, 60
"""How much more a process may hold at the end than when everybody had begun."""


@dataclass(frozen=True)
class Size:
    """The memory and open descriptors of a process."""

    memory_kib: int
    descriptors: int


@dataclass
class Outcome:
    """The work that was done, the failures, and the broken promises."""

    noted: Noted
    seconds: float = 0
    faults: Counter[str] = field(default_factory=Counter)
    left_out: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    given_up: Counter[str] = field(default_factory=Counter)
    slow: Counter[str] = field(default_factory=Counter)
    """What was not tried or judged because the machine was too slow."""
    sizes: list[Size] = field(default_factory=list)
    """At the beginning and the end of each round."""

    def rows(self) -> dict[str, str]:
        """Return the figures by name."""
        noted, first, last = self.noted, self.sizes[0], self.sizes[-1]
        return {
            "seconds of work": f"{self.seconds:.0f}",
            "turns acknowledged": str(sum(map(len, noted.messages.values()))),
            "other writes acknowledged": str(sum(noted.done[kind] for kind in ("upload", "save", "fork", "deletion"))),
            "pages opened": str(noted.done["page"]),
            "events received, each once and in order": str(noted.done["event"]),
            **{f"put off or cut: {name}": str(count) for name, count in sorted(noted.put_off.items())},
            **{f"fault: {name}": str(count) for name, count in sorted(self.faults.items())},
            **{f"given up and logged: {name}": str(count) for name, count in sorted(self.given_up.items())},
            **{f"too slow: {name}": str(count) for name, count in sorted(self.slow.items())},
            "memory of a process, MiB": f"{first.memory_kib // 1024} → {last.memory_kib // 1024}",
            "descriptors of a process": f"{first.descriptors} → {last.descriptors}",
            "defects and losses": str(len(self.broken)),
        }


def soak(
    open_site: Callable[[], AbstractContextManager[Site]],
    seconds: float,
    sessions: int,
    only: Collection[str] = (),
    rounds: int = 1,
) -> Outcome:
    """Run users and faults for some seconds, then check that everything acknowledged is stored.

    Args:
        seconds: the shortest duration; up to `LATEST` times that, until each fault has happened.
        only: the names of the faults; empty means all.
        rounds: the number of parts of the time; acknowledged data is checked after each.
    """
    noted = Noted()
    with open_site() as site:
        people = [Person(site.url, cookies, noted, number) for cookies in [site.log_in()] for number in range(sessions)]
        outcome = Outcome(noted, left_out=site.left_out)
        for _ in range(rounds):
            asyncio.run(_work(site, people, outcome, seconds / rounds, only))
            outcome.broken += _losses(site, people, noted)
        outcome.broken += noted.defects
        outcome.broken += [f"doctor: {line}" for line in _doctor(site)]
        unexpected: dict[str, str] = {}
        for error, text in (item for server in site.servers for item in _tracebacks(server.output)):
            if error in GIVEN_UP:
                outcome.given_up[error] += 1
            else:
                unexpected.setdefault(text.splitlines()[-1], text)
        outcome.broken += [f"traceback: {text}" for text in unexpected.values()]
        if not outcome.slow["to fill the caches before the faults"]:
            outcome.broken += _growth(outcome.sizes[0], outcome.sizes[-1])
    return outcome


async def _work(site: Site, people: list[Person], outcome: Outcome, seconds: float, only: Collection[str]) -> None:
    stop_asked, leave_asked = asyncio.Event(), asyncio.Event()
    working = [asyncio.create_task(person.work(stop_asked)) for person in people]
    following = [asyncio.create_task(person.follow(leave_asked)) for person in people]
    until = time.monotonic() + START_SECONDS
    while min(person.done_count for person in people) < BEGUN_AFTER and time.monotonic() < until:
        await asyncio.sleep(0.1)
    if time.monotonic() >= until:
        outcome.slow["to fill the caches before the faults"] += 1
    outcome.sizes.append(_size(site))
    hanging_up = Fault("clients hang up", partial(_hang_up, asyncio.get_running_loop(), people))
    faults = [fault for fault in [*site.faults, hanging_up] if not only or fault.name in only]
    began = time.monotonic()
    await asyncio.to_thread(_go_wrong, site, faults, outcome, seconds)
    outcome.seconds += time.monotonic() - began
    stop_asked.set()
    await asyncio.gather(*working)
    await asyncio.to_thread(site.wait_until_ready)
    await _settled(site, people)
    leave_asked.set()
    await asyncio.gather(*following)
    outcome.sizes.append(_size(site))


async def _settled(site: Site, people: list[Person]) -> None:
    """Wait until no turn runs and every page has all events, or until there was no progress for `SETTLE_SECONDS`."""
    until, known = 0.0, None
    while known is None or time.monotonic() < until:
        running = site.running_turns()
        behind = [person for person in people if person.sequences[-1:] != [site.event_sequence(person.session_id)]]
        if not behind and not running:
            return
        found = (running, [person.sequences[-1:] for person in behind])
        if found != known:
            until, known = time.monotonic() + SETTLE_SECONDS, found
        await asyncio.sleep(0.5)


def _hang_up(loop: asyncio.AbstractEventLoop, people: list[Person]) -> None:
    """Cut the connections of every client at once."""
    for person in people:
        loop.call_soon_threadsafe(person.hang_up)


def _go_wrong(site: Site, faults: Sequence[Fault], outcome: Outcome, seconds: float) -> None:
    """Cause every fault in order, then again in random orders, until the time is over."""
    choice = random.Random(1)
    began, waiting = time.monotonic(), list(reversed(faults))
    try:
        while (took := time.monotonic() - began) < seconds or len(outcome.faults) < len(faults):
            if took > LATEST * seconds:
                outcome.slow |= Counter(f.name for f in faults if f.name not in outcome.faults)
                return
            waiting = waiting or choice.sample(faults, len(faults))
            fault = waiting.pop()
            fault.happen()
            outcome.faults[fault.name] += 1
            site.wait_until_ready()
            time.sleep(choice.uniform(0, QUIET_SECONDS))
    except Exception as error:
        outcome.broken.append(f"the faults ended early: {error!r}")


def _size(site: Site) -> Size:
    """Return the size of the first process."""
    place = Path("/proc", str(site.processes()[0]))
    held = next(line for line in (place / "status").read_text().splitlines() if line.startswith("VmRSS"))
    return Size(int(held.split()[1]), len(list((place / "fd").iterdir())))


def _growth(first: Size, last: Size) -> list[str]:
    found = []
    if last.memory_kib > MEMORY_GROWTH * first.memory_kib:
        found.append(f"memory grew from {first.memory_kib} to {last.memory_kib} KiB")
    if last.descriptors > first.descriptors + DESCRIPTOR_GROWTH:
        found.append(f"descriptors grew from {first.descriptors} to {last.descriptors}")
    return found


def _losses(site: Site, people: list[Person], noted: Noted) -> list[str]:
    """Return acknowledged data that is missing or stored twice, and events that a page did not get in order."""
    found: list[str] = []
    with httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=START_SECONDS) as client:
        for person in people:
            root = f"/api/sessions/{person.session_id}"
            stored = Counter(_messages(client, root))
            told = Counter(noted.messages[person.session_id])
            lost = told - stored
            found += [f"{root}: lost {text!r}" for text in lost]
            found += [f"{root}: stored {count} times {text!r}" for text, count in stored.items() if count > 1]
            expected = list(range(1, site.event_sequence(person.session_id) + 1))
            if person.sequences != expected:
                found.append(f"{root}: of {len(expected)} events a page got {person.sequences}")
        bases = {base["id"] for base in _all(client, "/api/kbs", "kbs")}
        found += [f"lost the base {kb_id}" for kb_id in noted.bases - bases]
        for session_id in noted.deleted:
            if client.get(f"/api/sessions/{session_id}").status_code != 404:
                found.append(f"the deleted session {session_id} is there again")
    found += [f"lost the source {name}" for name in noted.sources - site.sources()]
    found += [f"{request_id} still runs" for request_id in site.running_turns()]
    found += [f"the messages of session {key} have gaps or doubles" for key in site.sessions_with_gaps()]
    return found


def _messages(client: httpx.Client, root: str) -> list[str]:
    return [item["content"] for item in _all(client, f"{root}/messages", "messages") if item["role"] == "user"]


def _all(client: httpx.Client, path: str, name: str) -> list[dict[str, Any]]:
    """Return the items on all pages of a list."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        answer = client.get(path, params={"limit": 100, **({"cursor": cursor} if cursor else {})})
        answer.raise_for_status()
        page = answer.json()
        found += page[name]
        cursor = page.get("next_cursor")
        if not cursor:
            return found


def _doctor(site: Site) -> list[str]:
    """Return the findings of `mrpvm doctor`, without those that the faults cause: a small disk, a later time."""
    _, said = site.servers[0].manage("doctor", seconds=600)
    ended = ("disk:", "clock:", "size:", "CommandError:", "No problem was found.")
    return [line for line in said.splitlines() if line and not line.startswith(ended)]


def _tracebacks(output: str) -> Iterator[tuple[str, str]]:
    """Yield the error's class of each printed traceback, and the traceback with the line before it.

    Errors that the product raises by name are left out.
    """
    said, *parts = output.split("Traceback (most recent call last):")
    for part in parts:
        before, said = said.strip().rpartition("\n")[2], part
        if "direct cause of the following exception" in part or "During handling of the above exception" in part:
            continue  # the next one is the result
        lines = part.splitlines()
        place = next(place for place, line in enumerate(lines) if line and not line.startswith(" "))
        error = lines[place].partition(":")[0]
        if not error.startswith("mrpvm.errors."):
            yield error, "\n".join([before, *lines[: place + 1]])
