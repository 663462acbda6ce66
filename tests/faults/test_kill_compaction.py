"""SIGKILL at every edge of a fold's transactions: readers see the same before, during and after it."""

import json
from typing import Any

import pytest

from tests.faults.conftest import KilledProcesses
from tests.faults.crashing_compaction import DEEP, UNITS
from tests.faults.lasting_reader import lasting_reader

pytestmark = pytest.mark.crash

MOST_EDGES = 60


@pytest.mark.rule("BASE-13")
def test_a_kill_at_any_edge_changes_nothing_that_is_seen(killed: KilledProcesses) -> None:
    expected: list[Any] = []
    left_over = 0
    with lasting_reader("compaction", killed.environment) as shown:
        for edge in range(MOST_EDGES):
            done = killed.run("-m", "tests.faults.crashing_compaction", str(edge))
            found, chain = (json.loads(line) for line in done.stdout.splitlines())
            assert found["seen"] == found["after"] == expected
            left_over += found["left_over"]
            if edge:
                assert chain == expected
            expected = chain
            if done.returncode == 0:
                break
            assert done.returncode == -9, done.stderr
        else:
            pytest.fail(f"the fold had more than {MOST_EDGES} edges")
    # The process that kept reading saw the sources being added one by one, and then no change.
    assert [len(hits) for hits in shown["base"]] == sorted(len(hits) for hits in shown["base"])
    assert {len(hits) % UNITS for hits in shown["base"]} == {0}
    assert [hits for hits in shown["base"] if len(hits) == len(expected)] == [expected]
    assert edge > 6
    assert left_over > 4
    last = json.loads(killed.run("-m", "tests.faults.crashing_compaction", "0").stdout.splitlines()[0])
    assert last["seen"] == expected
    assert last["depth"] < DEEP
