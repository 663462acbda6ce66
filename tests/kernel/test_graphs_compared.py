"""Two graphs aligned: each node once, within its frame, and what is alike beside what is alike."""

from collections import Counter

from hypothesis import given, settings

from mrpvm.trace.compare import align_graphs
from mrpvm.trace.graph import Graph, fold_graph
from tests.kernel.test_graph_invariants import TURNS, play


def execution(path: str, plugin: str, frame: str = "frame-0") -> dict[str, str]:
    return {"id": f"exec-{path}", "frameId": frame, "stage": plugin.partition("-")[0], "pluginId": plugin}


def graph(*held: dict[str, str], frames: tuple[tuple[str, str, str], ...] = ()) -> Graph:
    """Give a graph of a root and these frames `(id, purpose, label)` within it."""
    inner = [
        {"id": name, "parentFrameId": "frame-0", "purpose": purpose, "label": label} for name, purpose, label in frames
    ]
    root = {"id": "frame-0", "parentFrameId": None, "purpose": "turn", "label": "turn"}
    return {"rootFrameId": "frame-0", "frames": [root, *inner], "pluginExecutions": list(held), "edges": []}


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


def test_frames_of_one_purpose_are_told_apart_by_what_they_are_about() -> None:
    def inner(frame: str) -> dict[str, str]:
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


@settings(max_examples=40)
@given(TURNS, TURNS)
def test_every_node_of_both_graphs_is_there_once_and_inside_its_frame(one, other) -> None:
    left, right = fold_graph(play(one).records), fold_graph(play(other).records)
    pairs = align_graphs(left, right)
    for side, whole in (("left", left), ("right", right)):
        seen = [name for pair in pairs if (name := getattr(pair, side))]
        nodes = [*whole["frames"], *whole["pluginExecutions"]]
        assert Counter(seen) == Counter(node["id"] for node in nodes)
        holders = {node["id"]: node.get("frameId", node.get("parentFrameId")) for node in nodes}
        path: list[str | None] = []
        for pair in pairs:
            path[pair.depth :] = [getattr(pair, side)]
            name = getattr(pair, side)
            assert name is None or pair.depth == 0 or holders[name] == path[pair.depth - 1]


@settings(max_examples=20)
@given(TURNS)
def test_a_graph_beside_itself_is_the_same_all_over(turn) -> None:
    whole = fold_graph(play(turn).records)
    assert all(pair.left == pair.right for pair in align_graphs(whole, whole))


def test_a_frame_follows_what_opened_it() -> None:
    whole = graph(execution("0.1~1", "sd-a"), execution("0.2~1", "gs-a"), frames=(("frame-0.1", "sub", "the dog"),))
    whole["edges"] = [{"from": "exec-0.2~1", "to": "frame-0.1", "kind": "child-frame"}]
    assert [pair.left for pair in align_graphs(whole, whole)] == ["frame-0", "exec-0.1~1", "exec-0.2~1", "frame-0.1"]


def test_a_turn_that_ran_nothing_yet_has_nothing_to_align() -> None:
    empty: Graph = {"rootFrameId": None, "frames": [], "pluginExecutions": [], "edges": []}
    assert align_graphs(empty, empty) == []
    assert shown(empty, graph()) == [(None, "frame-0", 0)]
