"""SIGKILL at every edge of an ingest's transactions: readers see the old or the new, never a mixture."""

import json

import pytest

from tests.faults.conftest import KilledProcesses
from tests.faults.lasting_reader import lasting_reader

pytestmark = pytest.mark.crash

MOST_EDGES = 60
OLD = [f"The old pump {part} is blue." for part in range(4)]
NEW = [f"The new pump {part} is red." for part in range(6)]


@pytest.mark.rule("BASE-13")
def test_a_kill_at_any_edge_leaves_the_old_or_the_new(killed: KilledProcesses) -> None:
    kinds: list[str] = []
    left_over = 0
    with lasting_reader("ingest", killed.environment) as shown:
        for edge in range(MOST_EDGES):
            done = killed.run("-m", "tests.faults.crashing_ingest", str(edge))
            assert done.stdout, done.stderr
            found = json.loads(done.stdout)
            assert found["after"] == found["seen"]
            left_over += found["left_over"]
            if edge:
                kinds.append(kind_of(found["seen"]))
            if done.returncode == 0:
                break
            assert done.returncode == -9, done.stderr
        else:
            pytest.fail(f"the ingest had more than {MOST_EDGES} edges")
    # The session's load comes first, then the base's; each is visible after its last transaction.
    assert kinds == sorted(kinds, key=("old old", "new old", "new new").index)
    assert set(kinds) == {"old old", "new old", "new new"}
    assert left_over > 4
    # The process that kept reading saw each state whole; it may have missed the first one at its start.
    for found in shown.values():
        assert sorted(texts for texts in found if texts) == [NEW, OLD]


def kind_of(seen: list[list[str]]) -> str:
    """Return which text is visible in the session and in the base; fail unless it is the old or the new one."""
    names = {json.dumps(OLD): "old", json.dumps(NEW): "new"}
    found, rows, held = (names[json.dumps(texts)] for texts in seen)
    assert found == rows
    return f"{found} {held}"
