"""Equal input, clock and statistics give identical records, whichever plugin is quicker."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.trace.order import in_frame_order
from mrpvm.values import Limits
from tests.kernel.recorded_turns import SCRIPTED, as_bytes, shipped_turns
from tests.kernel.scripted import Ran
from tests.server import ROOT


@pytest.mark.rule("KERNEL-17")
@pytest.mark.parametrize("turn", SCRIPTED.values(), ids=SCRIPTED.keys())
def test_two_runs_leave_the_same_bytes(turn: Callable[..., Ran]) -> None:
    assert as_bytes(turn()) == as_bytes(turn())


@pytest.mark.rule("KERNEL-17", "EVAL-6")
@pytest.mark.parametrize("turn", SCRIPTED.values(), ids=SCRIPTED.keys())
def test_a_parallel_run_leaves_what_a_sequential_one_does(turn: Callable[..., Ran]) -> None:
    assert as_bytes(turn()) == as_bytes(turn(limits=Limits(max_parallel_seeds=1)))


@pytest.mark.rule("KERNEL-17", "KERNEL-18")
def test_calls_are_shared_out_in_the_order_of_the_questions() -> None:
    """The order in which they ask makes no difference."""
    ran = SCRIPTED["few calls"]()
    assert [group.answer_markdown for group in ran.outcome.answer.groups[:3]] == [  # type: ignore[union-attr]
        "About one.", "About two.", "About three.",
    ]  # fmt: skip
    assert ran.outcome.answer.groups[3].status == "plugin-error"  # type: ignore[union-attr]


@pytest.mark.rule("UNIT-7")
def test_units_of_parallel_frames_have_numbers_of_their_own() -> None:
    ids = [unit.id.rpartition("::")[2] for unit in SCRIPTED["subtasks"]().outcome.staged_units]
    assert ids == ["unit-1000", "unit-2000"]


@pytest.mark.rule("PLUGIN-27")
def test_shipped_plugins_do_not_depend_on_the_process() -> None:
    """Sets of strings are ordered differently in every process."""
    digests = {
        subprocess.run(
            [sys.executable, "-m", "tests.kernel.recorded_turns"],
            cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True, timeout=60,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1


def test_the_shipped_turns_cover_what_can_happen() -> None:
    """The digest above covers answers, refusals and several frames."""
    turns = list(shipped_turns())
    assert {ran.outcome.answer_status for ran in turns} == {"answered", "no-context"}
    names = {event.name for ran in turns for event in ran.events}
    assert {"units.staged", "backtrack.taken", "candidate.promoted"} <= names
    assert max(len(ran.named("frame.opened")) for ran in turns) > 3


FRAMES = st.recursive(st.just(()), lambda children: st.lists(children, max_size=4).map(tuple), max_leaves=8)
type Frames = tuple["Frames", ...]
type Events = list[tuple[str, str]]


def played(children: Frames, path: str, merged: Callable[[list[Events]], Events]) -> Events:
    """Return the events of a frame and its descendants; `merged` gives the order of the children's events."""
    below = [played(child, f"{path}.{number}", merged) for number, child in enumerate(children, start=1)]
    return [(path, "opened"), *merged(below), (path, "closed")]


@given(FRAMES, st.randoms(use_true_random=False))
def test_frame_order_undoes_any_interleaving_of_children(frames: Frames, chance: random.Random) -> None:

    def taking_turns(below: list[Events]) -> Events:
        left = [list(events) for events in below]
        mixed: Events = []
        while any(left):
            mixed.append(chance.choice([events for events in left if events]).pop(0))
        return mixed

    in_turn = played(frames, "frame-0", lambda below: list(chain.from_iterable(below)))
    assert in_frame_order(played(frames, "frame-0", taking_turns), lambda event: event[0]) == in_turn
