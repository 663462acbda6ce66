"""Two server processes change, fork and fold one knowledge base at once: readers see only complete states."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.server import ServerProcess
from tests.services.node import KEY, SHARED_SECRET, Node

pytestmark = pytest.mark.services

SOURCES = 6


@pytest.fixture
def nodes(tmp_path: Path, own_services: dict[str, str]) -> Iterator[tuple[Node, Node]]:
    """Return two processes on one database that sweep, and so fold, several times a second."""
    assert "REDIS_URL" in os.environ, "these tests need PostgreSQL and Redis"
    variables = own_services | {
        "MRPVM_API_KEY": KEY,
        "SECRET_KEY": SHARED_SECRET,
        "MRPVM_SWEEP_INTERVAL_MS": "200",
    }
    places = [tmp_path / "first", tmp_path / "second"]
    for place in places:
        place.mkdir()
    with (
        ServerProcess(places[0], **variables) as first,
        ServerProcess(places[1], "--no-bootstrap", **variables) as second,
    ):
        yield Node(first), Node(second)


def done(node: Node, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = node.post(path, body)
    assert answer.status_code in (200, 201, 202), answer.text
    found: dict[str, Any] = answer.json()
    return found


def shown(node: Node, kb_id: str) -> tuple[int, int]:
    """Return the numbers of sources and units in the base."""
    found = node.http.get(f"/api/kbs/{kb_id}").json()
    return (found["sourceCount"], found["unitCount"])


def upload(node: Node, kb_id: str, name: str) -> None:
    text = f"Lamp {name} uses bulb {name}. Fan {name} uses motor {name}."
    done(node, f"/kbs/{kb_id}/sources", {"name": f"{name}.txt", "content": text})


def fork(node: Node, kb_id: str) -> str:
    """Fork the base by a new session; return the fork's id."""
    session = node.new_session()
    done(node, f"/sessions/{session}/kb/load", {"kb_id": kb_id})
    return str(done(node, f"/sessions/{session}/kb/fork", {"name": "fork"})["kb_id"])


def test_whatever_both_do_at_once_readers_see_whole_states(nodes: tuple[Node, Node]) -> None:
    kb_id = done(nodes[0], "/kbs", {"name": "Works"})["kb_id"]
    upload(nodes[0], kb_id, "first")
    source_count, a_source = shown(nodes[0], kb_id)
    assert (source_count, a_source > 1) == (1, True)

    def load(node: Node, own: str) -> None:
        for number in range(SOURCES):
            upload(node, kb_id, f"{own}{number}")
            done(node, f"/kbs/{kb_id}/compaction", {})

    with ThreadPoolExecutor(4) as pool:
        works: list[Future[Any]] = [pool.submit(load, node, own) for node, own in zip(nodes, "ab", strict=True)]
        works += [pool.submit(lambda node=node: [fork(node, kb_id) for _ in range(4)]) for node in nodes]
        seen = []
        while not all(work.done() for work in works):
            seen += [shown(node, kb_id) for node in nodes]
        forks = [kb for work in works[2:] for kb in work.result()]
        for work in works:
            work.result()
    assert all(units == sources * a_source for sources, units in seen)
    assert len(set(seen)) > 2
    for node in nodes:
        assert shown(node, kb_id) == (1 + 2 * SOURCES, (1 + 2 * SOURCES) * a_source)
        for kb in forks:
            sources, units = shown(node, kb)
            assert units == sources * a_source
        for name in ("first", "a3", "b5"):
            session = node.new_session()
            done(node, f"/sessions/{session}/kb/load", {"kb_id": kb_id})
            answer = node.say(session, f"What does lamp {name} use?").json()["choices"][0]["message"]["content"]
            assert f"bulb {name}" in answer
