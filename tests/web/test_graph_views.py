"""The other views of the graph: the path to an error, timeline, outline, opening and closing frames."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.web.turns.graph import render_outline, render_shown, render_timeline
from sessions_app.web.turns.graph.error_path import error_path
from sessions_app.web.turns.graph.standalone import standalone
from sessions_app.web.turns.graph.structure import Edge
from tests.web.graph_structures import chain, edge, execution, fan_out, frame, graph, graphs, shown_of, structure_of
from tests.web.page_scene import attributes_of, parsed, texts_of

ATTACK = "<script>alert(1)</script>"


def failed_turn() -> dict[str, Any]:
    """Return a turn in which one of two parallel frames failed after a retry."""
    return graph(
        [
            frame("frame-0", status="failed"),
            frame("frame-0.1", "frame-0"),
            frame("frame-0.2", "frame-0", status="failed"),
        ],
        [
            execution("exec-0.1~1"),
            execution("exec-0.1.1~1", "frame-0.1"),
            execution("exec-0.2.1~1", "frame-0.2"),
            execution("exec-0.2.1~2", "frame-0.2"),
            execution("exec-0.2.2~1", "frame-0.2", status="rejected"),
        ],
        [
            edge("exec-0.1~1", "frame-0.1", "child-frame"),
            edge("exec-0.1~1", "frame-0.2", "child-frame"),
            edge("exec-0.2.1~1", "exec-0.2.1~2", "retry"),
            edge("exec-0.2.1~2", "exec-0.2.2~1"),
        ],
    )


def test_the_error_path_follows_recorded_edges_to_the_start() -> None:
    found = error_path(structure_of(failed_turn()))
    assert found.edges == {
        Edge("exec-0.2.1~2", "exec-0.2.2~1", "flow"),
        Edge("exec-0.2.1~1", "exec-0.2.1~2", "retry"),
        Edge("exec-0.1~1", "frame-0.2", "child-frame"),
    }
    assert "exec-0.1.1~1" not in found.items
    svg = render_shown(shown_of(failed_turn()))
    assert len(parsed(svg).css(".edge-child-frame.leads-to-error")) == 1
    assert parsed(svg).css('.node.leads-to-error[data-id="exec-0.2.2~1"]')


def test_a_succeeded_turn_has_no_error_path() -> None:
    stored = graph([frame("frame-0")], [execution("exec-0.1~1", status="error"), execution("exec-0.1~2")])
    assert error_path(structure_of(stored)).items == frozenset()


@given(graphs())
def test_the_way_to_the_error_uses_only_what_was_recorded(stored: dict[str, Any]) -> None:
    for each in stored["frames"]:
        each["status"] = "failed"
    structure = structure_of(stored)
    found = error_path(structure)
    assert found.edges <= set(structure.edges)
    assert {end for each in found.edges for end in (each.source, each.target)} <= found.items
    assert structure.root_id in found.items


def bars(svg: str) -> dict[str, tuple[float, float]]:
    """Return the start and length of each execution's bar, in percent."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - made here
    found = {}
    for group in root.iter():
        if "run" in group.get("class", "").split():
            rect = [each for each in group if "bar" in each.get("class", "").split()][-1]
            found[str(group.get("data-id"))] = (float(rect.get("x", "")[:-1]), float(rect.get("width", "")[:-1]))
    return found


def test_bars_stand_where_and_as_long_as_their_executions_ran() -> None:
    stored = graph(
        [frame("frame-0", startedAtMs=0, durationMs=200)],
        [
            execution("exec-0.1~1", startedAtMs=0, durationMs=50),
            execution("exec-0.2~1", startedAtMs=100, durationMs=100),
        ],
    )
    shown = bars(render_timeline(shown_of(stored)))
    first, second = shown["exec-0.1~1"], shown["exec-0.2~1"]
    assert second[1] == pytest.approx(2 * first[1], abs=0.05)
    assert second[0] - first[0] == pytest.approx(second[1], abs=0.05)
    assert second[0] + second[1] == pytest.approx(98.5, abs=0.05)


def test_parallel_branches_have_rows_of_their_own() -> None:
    stored = fan_out(2)
    svg = render_timeline(shown_of(stored))
    places = bars(svg)
    assert places["exec-0.1.1~1"] == places["exec-0.2.1~1"]
    (first,), (second,) = (attributes_of(svg, f'[data-id="exec-0.{branch}.1~1"] .row-ground', "y") for branch in (1, 2))
    assert first != second


def test_what_still_runs_reaches_to_the_last_known_moment() -> None:
    stored = graph(
        [frame("frame-0", status="active", startedAtMs=0, durationMs=None)],
        [
            execution("exec-0.1~1", startedAtMs=0, durationMs=40),
            execution("exec-0.2~1", status="running", startedAtMs=40, durationMs=None),
        ],
    )
    assert 'class="bar is-open"' in render_timeline(shown_of(stored))


@given(graphs(), st.text(max_size=30))
def test_timeline_and_outline_are_well_formed_for_any_text(stored: dict[str, Any], text: str) -> None:
    for each in [*stored["frames"], *stored["pluginExecutions"]]:
        each |= {"label": text, "pluginName": text, "stage": text, "purpose": text, "status": text}
    shown = shown_of(stored)
    for markup in (render_timeline(shown), f"<ul>{render_outline(shown).rows}</ul>"):
        for element in ElementTree.fromstring(markup).iter():  # noqa: S314 - made here
            assert "style" not in element.attrib
            assert not any(name.startswith("on") for name in element.attrib)


def rows(stored: dict[str, Any], **options: Any) -> list[ElementTree.Element]:
    markup = render_outline(shown_of(stored, **options)).rows
    return list(ElementTree.fromstring(f"<ul>{markup}</ul>"))  # noqa: S314 - made here


@given(graphs())
def test_every_row_of_the_outline_says_where_it_stands(stored: dict[str, Any]) -> None:
    structure = structure_of(stored)
    found = rows(stored)
    assert [row.get("data-id") for row in found].count("frame-0") == 1
    assert {row.get("data-id") for row in found} == structure.frames.keys() | structure.executions.keys()
    depth = {"": 0}
    for row in found:
        item = str(row.get("data-id"))
        parent = structure.parent_of(item) or ""
        depth[item] = depth[parent] + 1
        siblings = structure.items[parent] if parent else (item,)
        assert int(row.get("aria-level", "")) == depth[item]
        assert siblings[int(row.get("aria-posinset", "")) - 1] == item
        assert int(row.get("aria-setsize", "")) == len(siblings)


def test_rows_below_a_shut_frame_begin_hidden() -> None:
    found = {row.get("data-id"): row for row in rows(fan_out(2), shut=["frame-0.1"])}
    assert found["frame-0.1"].get("aria-expanded") == "false"
    assert found["exec-0.1.1~1"].get("hidden") is not None
    assert found["exec-0.2.1~1"].get("hidden") is None


def test_a_long_outline_says_how_much_is_missing() -> None:
    found = render_outline(shown_of(chain(50)), limit=20)
    assert len(parsed(found.rows).css("[role=treeitem]")) == 20
    assert (found.row_count, found.left_out) == (51, 31)


def test_all_frames_fold_at_once_and_the_selection_shows() -> None:
    large = fan_out(90)
    assert shown_of(large, opened=["all"]).collapsed == frozenset()
    shut = shown_of(large, shut=["all"])
    assert len(shut.collapsed) == 90
    assert shown_of(large, shut=["all"], selected="exec-0.7.1~1").collapsed == shut.collapsed - {"frame-0.7"}
    assert shown_of(fan_out(800), opened=["all"]).collapsed, "more than a reader can look at stays shut"


def test_the_exported_picture_has_its_colours_and_no_more() -> None:
    stored = graph([frame("frame-0", label=ATTACK)], [execution("exec-0.1~1", pluginName=ATTACK)])
    text = standalone(render_shown(shown_of(stored), uid="file")).decode()
    root = ElementTree.fromstring(text)  # noqa: S314 - made here
    style = next(each.text or "" for each in root.iter() if each.tag.endswith("style"))
    assert "--ok:#17692f" in style
    assert "light-dark" not in style
    assert ".node-box{" in style
    assert not re.search(r"url\(|@import|http", style)
    assert ATTACK not in text


def returned_to() -> dict[str, Any]:
    """Return a turn that goes back to retrieval after each refusal and plans again."""
    return graph(
        [frame("frame-0")],
        [
            execution("exec-0.1~1", stage="planner", pluginName="Planner", ordinal=1, phase="post-seed"),
            execution("exec-0.2~1", ordinal=2),
            execution("exec-0.2~2", ordinal=5),
            execution("exec-0.3~1", stage="goal-solver", ordinal=3),
            execution("exec-0.4~1", stage="validation", status="rejected", ordinal=4),
            execution("exec-0.5~1", stage="planner", pluginName="Planner", ordinal=6, phase="post-kb"),
        ],
        [
            edge("exec-0.1~1", "exec-0.2~1"),
            edge("exec-0.2~1", "exec-0.2~2", "retry"),
            edge("exec-0.2~1", "exec-0.3~1"),
            edge("exec-0.3~1", "exec-0.4~1"),
            edge("exec-0.2~2", "exec-0.5~1"),
        ],
    )


def test_what_was_returned_to_later_stands_later() -> None:
    structure = structure_of(returned_to())
    began = ["exec-0.1~1", "exec-0.2~1", "exec-0.3~1", "exec-0.4~1", "exec-0.2~2", "exec-0.5~1"]
    assert list(structure.items["frame-0"]) == began
    rows = render_outline(shown_of(returned_to())).rows
    assert attributes_of(rows, '[data-id^="exec"]', "data-id") == began


def test_planners_are_told_apart_by_their_phase() -> None:
    shown = shown_of(returned_to())
    for markup in (render_shown(shown), render_timeline(shown)):
        drawn = " ".join(texts_of(markup, "title"))
        assert "planner · post-seed" in drawn
        assert "planner · post-kb" in drawn
    assert parsed(render_outline(shown).rows).css('[aria-label="Planner post-kb 12 ms, success"]')


def test_a_child_frame_shows_its_question_short_and_whole() -> None:
    question = "How heavy may a bag be that a passenger takes on board without a cabin?"
    stored = graph(
        [frame("frame-0"), frame("frame-0.1", "frame-0", label="parallel-intent 1", intent=question)],
        [execution("exec-0.1~1"), execution("exec-0.1.1~1", "frame-0.1")],
    )
    shown = shown_of(stored)
    svg = render_shown(shown)
    [below] = [text for text in texts_of(svg, ".frame-purpose") if text.startswith("How")]
    assert below.endswith("…")
    assert question.startswith(below[:-1] + " ")
    assert [title for title in texts_of(svg, "title") if title.startswith(f"parallel-intent 1, {question}, ")]
    assert f'title="parallel-intent 1: {question} (' in render_outline(shown).rows


def test_a_child_frame_follows_its_opener_whatever_its_number() -> None:
    stored = graph(
        [frame("frame-0"), frame("frame-0.1", "frame-0", purpose="challenge")],
        [execution("exec-0.1~1"), execution("exec-0.1.1~1", "frame-0.1"), execution("exec-0.2~1")],
        [edge("exec-0.1~1", "exec-0.2~1"), edge("exec-0.2~1", "frame-0.1", "child-frame")],
    )
    assert structure_of(stored).items["frame-0"] == ("exec-0.1~1", "exec-0.2~1", "frame-0.1")
