"""Two server processes on one PostgreSQL and one Redis act as one server."""

import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx
import pytest
from django.conf import settings

from tests.migrated import new_database
from tests.server import ServerProcess
from tests.services.conftest import two_nodes
from tests.services.node import SHARED_SECRET, Node, kinds_until

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, shared_directory: Path) -> Iterator[tuple[Node, Node]]:
    """Return one pair for all tests here, none of which stops a process or changes data of another test."""
    # Even a quick turn sends events of its progress.
    variables = {"REDIS_URL": os.environ["REDIS_URL"], "MRPVM_TRACE_FLUSH_MS": "1"}
    with (
        new_database(shared_directory, os.environ["DATABASE_URL"]) as url,
        two_nodes(tmp_path_factory.mktemp("nodes"), {"DATABASE_URL": url, **variables}) as both,
    ):
        yield both


def test_a_turn_in_one_process_is_seen_live_in_the_other(nodes: tuple[Node, Node]) -> None:
    here, there = nodes
    session_id = here.new_session()
    with there.socket(session_id) as socket:
        assert here.say(session_id, "My dog is called Rex.").status_code == 200
        events = kinds_until(socket, "turn.committed")
    numbers = [number for number, _ in events if number is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "units.pending" in [kind for _, kind in events]


def test_a_base_change_reaches_a_page_of_the_other_process(nodes: tuple[Node, Node]) -> None:
    """The page is updated before the next heartbeat, which would also report the change."""
    here, there = nodes
    session_id = here.new_session()
    revision = here.http.get("/api/kbs/default").raise_for_status().json()["revision"]
    with there.socket(session_id, since=f"2&revision={revision}") as socket:
        time.sleep(1)  # the socket has joined its group
        begun = time.monotonic()
        assert here.post("/kbs/default/sources", {"name": "a.txt", "content": "The valve leaks."}).is_success
        message = json.loads(socket.recv(timeout=20))
    assert (message["kind"], message["payload"]["revision"]) == ("kb.revised", revision + 1)
    assert time.monotonic() - begun < settings.MRPVM_HEARTBEAT_MS / 2_000


def test_a_socket_that_moves_to_the_other_process_misses_nothing(nodes: tuple[Node, Node]) -> None:
    here, there = nodes
    session_id = here.new_session()
    with here.socket(session_id) as socket:
        there.say(session_id, "My dog is called Rex.")
        seen = kinds_until(socket, "turn.committed")
    there.say(session_id, "My cat is called Tom.")
    with there.socket(session_id, since=seen[-1][0]) as socket:
        rest = kinds_until(socket, "turn.committed")
    numbers = [number for number, _ in seen + rest if number is not None]
    assert numbers == sorted(set(numbers))


def test_pages_joining_in_the_other_process_get_each_event_once(nodes: tuple[Node, Node]) -> None:
    """No page waits for its heartbeat, and none gets an event twice."""
    here, there = nodes
    session_id = here.new_session()
    renames = 40
    with ThreadPoolExecutor(9) as pool:
        readers = [pool.submit(numbers_until, there, session_id, last=2 + renames) for _ in range(8)]
        for place in range(renames):
            here.http.patch(f"/api/sessions/{session_id}", json={"title": f"name {place}"}).raise_for_status()
        assert [reader.result() for reader in readers] == [list(range(1, 3 + renames))] * 8


def numbers_until(node: Node, session_id: str, last: int) -> list[int]:
    """Open a page now; return the event numbers that it gets, up to `last`."""
    with node.socket(session_id) as socket:
        seen: list[int] = []
        while not seen or seen[-1] != last:
            seen.append(json.loads(socket.recv(timeout=30))["sequence"])
        return seen


def test_what_one_process_learnt_the_other_knows(nodes: tuple[Node, Node]) -> None:
    here, there = nodes
    session_id = here.new_session()
    here.say(session_id, "My dog is called Rex.")
    answer = there.say(session_id, "What is my dog called?").json()
    assert "Rex" in answer["choices"][0]["message"]["content"]


@pytest.mark.rule("TURN-3")
def test_one_session_takes_one_turn_at_a_time_across_processes(nodes: tuple[Node, Node]) -> None:
    """The slot is a database constraint and no lock in one process."""
    session_id = nodes[0].new_session()
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda place: nodes[place % 2].say(session_id, f"My item {place} is new."), range(16)))
    codes = {reply.status_code for reply in replies}
    assert codes <= {200, 409}
    answered = sum(reply.status_code == 200 for reply in replies)
    messages = nodes[1].http.get(f"/api/sessions/{session_id}/messages").json()["messages"]
    assert len(messages) == 2 * answered >= 2
    for reply in replies:
        if reply.status_code == 409:
            assert reply.json()["error"]["code"] == "TURN_IN_PROGRESS"


@pytest.mark.rule("TURN-38")
def test_a_turn_of_a_killed_process_is_closed_before_its_lease(own_services: dict[str, str], tmp_path: Path) -> None:
    dying = ServerProcess(tmp_path, "--no-bootstrap", **own_services, SECRET_KEY=SHARED_SECRET)
    dying.command = [sys.executable, "-m", "tests.faults.crashing_server", "2", *dying.command[2:]]
    with two_nodes(tmp_path, own_services) as (one, other), dying as third:
        session_id = one.new_session()
        with pytest.raises(httpx.TransportError):
            Node(third).say(session_id, "My dog is called Rex.")
        turns = one.http.get(f"/api/sessions/{session_id}/explainability").json()["turns"]
        assert [turn["status"] for turn in turns] == ["running"]
        body = {"session_id": session_id, "messages": [{"role": "user", "content": "My dog is called Max."}]}
        # The lease lasts 70 seconds.
        assert one.post("/chat/completions", {**body, "wait_ms": 25_000}).status_code == 200
        turns = other.http.get(f"/api/sessions/{session_id}/explainability").json()["turns"]
        assert sorted(turn["status"] for turn in turns) == ["interrupted", "succeeded"]


@pytest.mark.rule("POLICY-37", "FOLLOWUP-46")
def test_what_one_process_remembers_the_other_prefers(nodes: tuple[Node, Node]) -> None:
    first, second = nodes
    source = {
        "name": "pumps.md",
        "content": "# Pumps\n\nThe red pump needs oil.\n\nThe valve of the red pump is blue.\n",
    }
    used = [first.post("/kbs/default/sources", source).json()["sourceId"]]
    session_id = first.new_session()
    assert first.say(session_id, "What does the red pump need?").json()["session_memory"]["active_documents"] == used
    told = second.say(session_id, "And what about its valve?").json()
    assert told["session_memory"]["preferred_documents"] == used
    assert told["query_rewriting"]["terms"]
