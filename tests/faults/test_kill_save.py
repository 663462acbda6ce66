"""SIGKILL at every edge of a save, a fork and the staging of a source: readers see the old or the new."""

import json

import pytest

from tests.faults.conftest import KilledProcesses
from tests.faults.crashing_save import STAGED
from tests.faults.lasting_reader import lasting_reader

pytestmark = pytest.mark.crash

MOST_EDGES = 40
TOLD = ["The pump is loud"]
ALL = sorted([*STAGED, *TOLD])
BEFORE = {"seen": ALL, "mounted": [], "origin": [], "dirty": True}
STATES = {
    "save": (BEFORE, {"seen": ALL, "mounted": ALL, "origin": ALL, "dirty": False}),
    "fork": (BEFORE, {"seen": ALL, "mounted": ALL, "origin": [], "dirty": False}),
    "stage": ({"seen": TOLD, "mounted": [], "origin": [], "dirty": False}, BEFORE),
}


@pytest.mark.rule("TURN-39", "BASE-13")
@pytest.mark.parametrize("verb", STATES)
def test_a_kill_at_any_edge_leaves_the_old_or_the_new(verb: str, killed: KilledProcesses) -> None:
    old, new = STATES[verb]
    was_new: list[bool] = []
    with lasting_reader("save", killed.environment) as shown:
        for edge in range(MOST_EDGES):
            done = killed.run("-m", "tests.faults.crashing_save", verb, str(edge))
            if edge:
                found = json.loads(done.stdout)
                assert found in (old, new)
                was_new.append(found == new)
            if done.returncode == 0:
                break
            assert done.returncode == -9, done.stderr
        else:
            pytest.fail(f"the {verb} had more than {MOST_EDGES} edges")
    # The process that kept reading saw each state whole; it may have missed the first one at its start.
    assert sorted(claims for claims in shown["session"] if claims) == sorted([TOLD, ALL])
    assert [claims for claims in shown["base"] if claims] == ([] if verb == "stage" else [ALL])
    assert not was_new[0]
    assert was_new == sorted(was_new)  # after the last transaction, the change stays
    assert json.loads(killed.run("-m", "tests.faults.crashing_save", verb, "0").stdout) == new
