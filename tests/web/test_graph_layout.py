"""The layout of nested frames: nothing overlaps, edges avoid boxes, later nodes are lower."""

import math
import sys
from itertools import combinations, pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.trace.graph import fold_graph
from sessions_app.web.turns.graph.layout import HEADER_HEIGHT, GraphLayout, layout_graph
from sessions_app.web.turns.graph.shapes import Box
from sessions_app.web.turns.graph.structure import GraphStructure, collapse, frames_to_collapse, read_structure
from tests.web.graph_structures import chain, edge, execution, fan_out, frame, graph, graphs, mark, structure_of

_EPSILON = 0.01


def laid_out(stored: dict[str, Any]) -> tuple[GraphStructure, GraphLayout]:
    structure = structure_of(stored)
    return structure, layout_graph(structure)


def contents(structure: GraphStructure, layout: GraphLayout, frame_id: str) -> list[str]:
    marks = structure.marks.get(frame_id, ())
    return [*structure.items[frame_id], *(each.id for each in marks if each.id in layout.boxes)]


def overlaps(one: Box, other: Box) -> bool:
    """Return whether two boxes share more than a border."""
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


def holds(outer: Box, inner: Box) -> bool:
    """Return whether the outer box contains the inner one."""
    return outer.x <= inner.x and outer.y <= inner.y and inner.right <= outer.right and inner.bottom <= outer.bottom


@pytest.mark.rule("PAGE-3")
@given(graphs())
def test_items_lie_in_their_frame_and_siblings_never_overlap(stored: dict[str, Any]) -> None:
    structure, layout = laid_out(stored)
    picture = Box(0, 0, layout.width, layout.height)
    for frame_id in structure.frames:
        around = layout.boxes[frame_id]
        body = Box(around.x, around.y + HEADER_HEIGHT, around.width, around.height - HEADER_HEIGHT)
        inside = contents(structure, layout, frame_id)
        assert holds(picture, around)
        assert all(holds(body, layout.boxes[item]) for item in inside)
        assert not any(overlaps(layout.boxes[one], layout.boxes[other]) for one, other in combinations(inside, 2))
    for box in layout.boxes.values():
        assert all(math.isfinite(value) for value in (box.x, box.y, box.width, box.height))
        assert box.width > 0
        assert box.height > 0


@pytest.mark.rule("PAGE-6")
@given(graphs())
def test_items_have_boxes_and_marks_are_placed_or_counted(stored: dict[str, Any]) -> None:
    structure, layout = laid_out(stored)
    assert structure.frames.keys() | structure.executions.keys() <= layout.boxes.keys()
    for frame_id in structure.frames:
        marks = structure.marks.get(frame_id, ())
        placed = sum(each.id in layout.boxes for each in marks)
        assert placed + layout.unplaced_marks.get(frame_id, 0) == len(marks)


def ancestors(structure: GraphStructure, item: str) -> set[str]:
    found = set()
    current = structure.parent_of(item)
    while current is not None:
        found.add(current)
        current = structure.parent_of(current)
    return found


def crosses(first: tuple[float, float], second: tuple[float, float], box: Box) -> bool:
    """Return whether a vertical or horizontal line crosses the inside of a box."""
    left, right = sorted((first[0], second[0]))
    top, bottom = sorted((first[1], second[1]))
    return (
        left < box.right - _EPSILON
        and right > box.x + _EPSILON
        and top < box.bottom - _EPSILON
        and bottom > box.y + _EPSILON
    )


@pytest.mark.rule("PAGE-4")
@given(graphs())
def test_no_edge_runs_under_a_box_or_a_header(stored: dict[str, Any]) -> None:
    structure, layout = laid_out(stored)
    for route in layout.routes:
        around = ancestors(structure, route.source) | ancestors(structure, route.target)
        # An edge must avoid other frames completely, and the headers of frames that contain one of its ends.
        obstacles = [layout.boxes[item] for item in structure.executions]
        for frame_id in structure.frames:
            box = layout.boxes[frame_id]
            obstacles.append(Box(box.x, box.y, box.width, HEADER_HEIGHT) if frame_id in around else box)
        for first, second in zip(route.points, route.points[1:], strict=False):
            assert first[0] == second[0] or first[1] == second[1]
            assert not any(crosses(first, second, box) for box in obstacles)


@given(graphs())
def test_edges_begin_at_their_source_and_end_at_their_target(stored: dict[str, Any]) -> None:
    structure, layout = laid_out(stored)
    recorded = {(each.source, each.target, each.kind) for each in structure.edges}
    for route in layout.routes:
        assert (route.source, route.target, route.kind) in recorded
        source, target = layout.boxes[route.source], layout.boxes[route.target]
        (x0, y0), (x1, y1) = route.points[0], route.points[-1]
        assert source.x <= x0 <= source.right
        assert y0 == source.bottom or x0 == source.right
        assert target.x <= x1 <= target.right
        assert y1 == target.y or x1 == target.x


@given(graphs(), st.randoms(use_true_random=False))
def test_the_picture_does_not_depend_on_the_order_of_edges(stored: dict[str, Any], random: Any) -> None:
    shuffled = stored | {"edges": random.sample(stored["edges"], len(stored["edges"]))}
    assert laid_out(stored)[1] == laid_out(stored)[1]
    assert laid_out(stored)[1].boxes == laid_out(shuffled)[1].boxes


def test_a_frame_with_two_openers_stands_behind_the_first() -> None:
    executions = [execution("exec-0.1~1"), execution("exec-0.1.1~1", "frame-0.1"), execution("exec-0.2~1")]
    opened = [edge("exec-0.1~1", "frame-0.1", "child-frame"), edge("exec-0.2~1", "frame-0.1", "child-frame")]
    frames = [frame("frame-0"), frame("frame-0.1", "frame-0")]
    for edges in (opened, opened[::-1]):
        structure, _ = laid_out(graph(frames, executions, edges))
        assert structure.items["frame-0"] == ("exec-0.1~1", "frame-0.1", "exec-0.2~1")


@given(graphs(), st.data())
def test_a_collapsed_graph_counts_what_it_hides(stored: dict[str, Any], data: st.DataObject) -> None:
    whole = structure_of(stored)
    shut = data.draw(st.sets(st.sampled_from(sorted(whole.frames))))
    visible = collapse(whole, shut)
    hidden = sum(visible.hidden_counts.values())
    assert len(visible.executions) + hidden == len(whole.executions)
    layout = layout_graph(visible)
    assert visible.frames.keys() | visible.executions.keys() <= layout.boxes.keys()
    assert all(each.source != each.target for each in visible.edges)


def test_a_chain_reads_downwards_in_one_column() -> None:
    structure, layout = laid_out(chain(7))
    boxes = [layout.boxes[item] for item in structure.executions]
    assert len({box.x for box in boxes}) == 1
    assert all(above.bottom < below.y for above, below in pairwise(boxes))


def test_a_retry_stands_beside_the_attempt_that_it_replaces() -> None:
    ids = ["exec-0.1~1", "exec-0.2~1", "exec-0.3~1"]
    edges = [edge(ids[0], ids[1], "retry"), edge(ids[1], ids[2])]
    _, layout = laid_out(graph([frame("frame-0")], [execution(each) for each in ids], edges))
    failed, tried, following = (layout.boxes[each] for each in ids)
    assert failed.y == tried.y
    assert tried.x > failed.right
    assert following.y > failed.bottom
    assert following.x == failed.x
    assert layout.routes[0].points == ((failed.right, failed.y + 20), (tried.x, failed.y + 20))


@pytest.mark.rule("PAGE-9")
def test_parallel_frames_stand_between_opener_and_join() -> None:
    _, layout = laid_out(fan_out(3))
    children = [layout.boxes[f"frame-0.{number}"] for number in (1, 2, 3)]
    assert len({box.y for box in children}) == 1
    assert children[0].right < children[1].x < children[1].right < children[2].x
    assert layout.boxes["exec-0.2~1"].bottom < children[0].y
    assert layout.boxes["exec-0.3~1"].y > max(box.bottom for box in children)


def test_a_step_after_child_frames_stands_below_them() -> None:
    stored = fan_out(2)
    stored["edges"] = [each for each in stored["edges"] if each["to"] != "exec-0.3~1"]
    _, layout = laid_out(stored)
    assert layout.boxes["exec-0.3~1"].y > layout.boxes["frame-0.1"].bottom


def test_ten_comes_after_two_among_siblings() -> None:
    _, layout = laid_out(fan_out(11))
    order = sorted(range(1, 12), key=lambda n: (layout.boxes[f"frame-0.{n}"].y, layout.boxes[f"frame-0.{n}"].x))
    assert order == list(range(1, 12))


def test_a_long_chain_is_broken_into_stacks_instead_of_a_tower() -> None:
    _, layout = laid_out(chain(60))
    assert layout.height < 1400
    assert layout.width < 2.5 * layout.height


def test_the_graph_of_a_running_turn_is_drawn() -> None:
    stored = graph(
        [frame("frame-0", status="active", durationMs=None)],
        [execution("exec-0.1~1", durationMs=None, status="running")],
        [edge("frame-0", "exec-0.1~1", "contains")],
    )
    structure, layout = laid_out(stored)
    assert structure.frames["frame-0"].is_active
    assert layout.boxes.keys() == {"frame-0", "exec-0.1~1"}
    assert layout.routes == ()


def test_a_turn_without_frames_gives_an_empty_picture() -> None:
    layout = layout_graph(read_structure(fold_graph([])))
    assert (layout.width, layout.height, dict(layout.boxes)) == (0, 0, {})


def test_large_graphs_shut_their_deepest_frames_first() -> None:
    frames, executions = [frame("frame-0")], [execution("exec-0.1~1")]
    for outer in range(1, 11):
        frames.append(frame(f"frame-0.{outer}", "frame-0"))
        executions.append(execution(f"exec-0.{outer}.1~1", f"frame-0.{outer}"))
        for inner in range(1, 6):
            child = f"frame-0.{outer}.{inner}"
            frames.append(frame(child, f"frame-0.{outer}"))
            executions += [execution(f"exec-0.{outer}.{inner}.{n}~1", child) for n in range(1, 5)]
    structure = structure_of(graph(frames, executions))
    shut = frames_to_collapse(structure, box_limit=150)
    assert len(collapse(structure, shut).executions) <= 150
    assert all(frame_id.count(".") == 2 for frame_id in shut)
    assert "frame-0.1.1" not in shut
    assert "frame-0.10.5" in shut


def test_marks_beyond_the_headers_room_are_counted() -> None:
    marks = [mark(f"node-{n}") for n in range(40)]
    structure, layout = laid_out(graph([frame("frame-0")], [execution("exec-0.1~1")], nodes=marks))
    placed = sum(each.id in layout.boxes for each in structure.marks["frame-0"])
    assert 0 < placed < 40
    assert layout.unplaced_marks["frame-0"] == 40 - placed


def test_layout_time_grows_about_linearly() -> None:
    def step_count(frame_count: int) -> int:
        """Return the number of executed lines, which counts loops with and without calls."""
        structure, count, earlier = structure_of(fan_out(frame_count)), 0, sys.gettrace()

        def step(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal count
            count += event == "line"
            return step

        sys.settrace(step)
        try:
            layout_graph(structure)
        finally:
            sys.settrace(earlier)
        return count

    # With four times the executions, linear work grows 4 times and quadratic work 16 times.
    assert step_count(480) / step_count(120) < 6
