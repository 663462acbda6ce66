"""Aligning two graphs: each node occurs once, within its frame, beside its equal in the other graph."""

from collections import Counter
from copy import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrpvm.trace.compare import align_graphs
from mrpvm.trace.graph import Edge, Graph, GraphExecution, GraphFrame, fold_graph
from tests.kernel.test_graph_invariants import TURNS, play


def execution(path: str, plugin: str, frame: str = "frame-0") -> GraphExecution:
    return GraphExecution(
        id=f"exec-{path}", frame_id=frame, stage=plugin.partition("-")[0], plugin_id=plugin, plugin_name=plugin,
        plugin_type="", ordinal=1, status="success", started_at_ms=0, duration_ms=0, detail_ref=f"exec-{path}",
    )  # fmt: skip


def graph(*held: GraphExecution, frames: tuple[tuple[str, str, str], ...] = ()) -> Graph:
    """Return a graph of a root that contains these frames `(id, purpose, label)`."""
    root = ("frame-0", "turn", "turn")
    return Graph(
        root_frame_id="frame-0",
        frames=tuple(
            GraphFrame(
                id=name, parent_frame_id=None if name == "frame-0" else "frame-0", purpose=purpose, label=label,
                status="succeeded", started_at_ms=0, duration_ms=0, detail_ref=name,
            )
            for name, purpose, label in (root, *frames)
        ),
        plugin_executions=held,
        edges=(),
        control_nodes=(),
        control_edges=(),
    )  # fmt: skip


def nested(places: list[tuple[int, str, str]], runs: list[tuple[int, str]]) -> Graph:
    """Return a graph of frames inside earlier ones, each opened by an execution of its holder if there is one."""
    frames = [graph().frames[0]]
    for number, (place, purpose, label) in enumerate(places, start=1):
        holder = frames[place % len(frames)].id
        name = f"{holder}.{number}"
        frames.append(replace(frames[0], id=name, parent_frame_id=holder, purpose=purpose, label=label))
    held = [
        execution(f"{frame.id.removeprefix('frame-')}.{number}~1", name, frame.id)
        for number, (place, name) in enumerate(runs, start=1)
        for frame in [frames[place % len(frames)]]
    ]
    openers = {run.frame_id: run.id for run in held}
    opened = [frame for frame in frames[1:] if frame.parent_frame_id in openers]
    edges = (Edge(openers[frame.parent_frame_id], frame.id, "child-frame") for frame in opened)
    return replace(graph(*held), frames=tuple(frames), edges=tuple(edges))


PLACES = st.integers(0, 6)
GRAPHS = st.builds(
    nested,
    st.lists(st.tuples(PLACES, st.sampled_from(["sub", "retry"]), st.sampled_from(["dog", "cat", "hen"])), max_size=6),
    st.lists(st.tuples(PLACES, st.sampled_from(["kb-a", "kb-b", "gs-a"])), max_size=10),
)


def shown(left: Graph, right: Graph) -> list[tuple[str | None, str | None, int]]:
    return [(pair.left, pair.right, pair.depth) for pair in align_graphs(left, right)]


def test_what_only_one_turn_ran_stands_alone_where_it_ran() -> None:
    left = graph(execution("0.1~1", "sd-a"), execution("0.2~1", "gs-a"), execution("0.3~1", "val-a"))
    right = graph(execution("0.1~1", "sd-a"), execution("0.2~1", "kb-a"), execution("0.3~1", "val-a"))
    assert shown(left, right) == [
        ("frame-0", "frame-0", 0),
        ("exec-0.1~1", "exec-0.1~1", 1),
        ("exec-0.2~1", None, 1),
        (None, "exec-0.2~1", 1),
        ("exec-0.3~1", "exec-0.3~1", 1),
    ]


def test_of_several_alike_the_first_stands_beside_the_first() -> None:
    once = graph(execution("0.1~1", "kb-a"), execution("0.2~1", "gs-a"))
    again = graph(execution("0.1~1", "kb-a"), execution("0.2~1", "gs-a"), execution("0.2~2", "gs-a"))
    assert shown(once, again)[-2:] == [("exec-0.2~1", "exec-0.2~1", 1), (None, "exec-0.2~2", 1)]


def test_frames_of_one_purpose_are_matched_by_label() -> None:
    def inner(frame: str) -> GraphExecution:
        return execution(f"{frame.removeprefix('frame-')}.1~1", "gs-a", frame)

    left = graph(
        inner("frame-0.1"),
        inner("frame-0.2"),
        frames=(("frame-0.1", "sub", "the dog"), ("frame-0.2", "sub", "the cat")),
    )
    right = graph(
        inner("frame-0.1"),
        inner("frame-0.2"),
        frames=(("frame-0.1", "sub", "the cat"), ("frame-0.2", "sub", "the hen")),
    )
    assert shown(left, right) == [
        ("frame-0", "frame-0", 0),
        ("frame-0.1", "frame-0.2", 1),
        ("exec-0.1.1~1", "exec-0.2.1~1", 2),
        ("frame-0.2", "frame-0.1", 1),
        ("exec-0.2.1~1", "exec-0.1.1~1", 2),
    ]


@pytest.mark.rule("GRAPH-14")
@settings(max_examples=200)
@given(GRAPHS, GRAPHS)
def test_each_node_of_both_graphs_is_aligned_once(left: Graph, right: Graph) -> None:
    pairs = align_graphs(left, right)
    for side, whole in (("left", left), ("right", right)):
        seen = [name for pair in pairs if (name := getattr(pair, side))]
        holders = {frame.id: frame.parent_frame_id for frame in whole.frames}
        holders |= {run.id: run.frame_id for run in whole.plugin_executions}
        assert Counter(seen) == Counter([*holders])
        assert len(holders) == len(whole.frames) + len(whole.plugin_executions)
        path: list[str | None] = []
        for pair in pairs:
            path[pair.depth :] = [getattr(pair, side)]
            name = getattr(pair, side)
            assert name is None or name == whole.root_frame_id or holders[name] == path[pair.depth - 1]


@settings(max_examples=20)
@given(TURNS)
def test_a_graph_beside_itself_is_the_same_all_over(turn) -> None:
    whole = fold_graph(play(turn, is_quick=True).events)
    assert all(pair.left == pair.right for pair in align_graphs(whole, whole))


def test_a_frame_follows_what_opened_it() -> None:
    whole = graph(execution("0.1~1", "sd-a"), execution("0.2~1", "gs-a"), frames=(("frame-0.1", "sub", "the dog"),))
    whole = replace(whole, edges=(Edge("exec-0.2~1", "frame-0.1", "child-frame"),))
    assert [pair.left for pair in align_graphs(whole, whole)] == ["frame-0", "exec-0.1~1", "exec-0.2~1", "frame-0.1"]


def test_a_turn_that_ran_nothing_yet_has_nothing_to_align() -> None:
    empty = fold_graph([])
    assert align_graphs(empty, empty) == []
    assert shown(empty, graph()) == [(None, "frame-0", 0)]
