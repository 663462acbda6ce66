"""The SVG of a turn: escaped text, no style attributes, every box focusable and named."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.web.turns.graph import render_shown
from sessions_app.web.turns.graph.labels import clean, fit, text_width
from sessions_app.web.turns.graph.status import Tone, duration_badge, tone_of
from tests.web.graph_structures import (
    chain,
    edge,
    execution,
    fan_out,
    frame,
    graph,
    graphs,
    mark,
    shown_of,
    structure_of,
)

SVG = "{http://www.w3.org/2000/svg}"


def parsed(stored: dict[str, Any], uid: str = "graph") -> ElementTree.Element:
    return ElementTree.fromstring(render_shown(shown_of(stored), uid=uid))  # noqa: S314 - as above


def with_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def by_id(root: ElementTree.Element, item_id: str) -> ElementTree.Element:
    return next(element for element in root.iter() if element.get("data-id") == item_id)


@given(graphs(), st.text(max_size=60))
def test_any_text_gives_well_formed_markup_without_inline_code(stored: dict[str, Any], text: str) -> None:
    for each in [*stored["frames"], *stored["pluginExecutions"], *stored["controlNodes"]]:
        each |= {"label": text, "pluginName": text, "stage": text, "purpose": text, "status": text}
    root = parsed(stored)
    for element in root.iter():
        assert "style" not in element.attrib
        assert not any(name.startswith("on") for name in element.attrib)
        assert element.tag != f"{SVG}script"


@pytest.mark.rule("GRAPH-15")
@pytest.mark.parametrize("attack", ["<script>alert(1)</script>", '" onload="alert(1)', "</text><image href=x>", "&lt;"])
def test_names_are_shown_as_text(attack: str) -> None:
    stored = graph(
        [frame("frame-0", label=attack, purpose=attack, status=attack)],
        [execution("exec-0.1~1", pluginName=attack, pluginId=attack, stage=attack, status=attack)],
        nodes=[mark("node-1", label=attack, status=attack)],
    )
    root = parsed(stored)
    allowed = {"svg", "defs", "marker", "symbol", "path", "circle", "g", "rect", "text", "title", "use"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    node = by_id(root, "exec-0.1~1")
    assert attack in node.get("aria-label", "")


@pytest.mark.rule("PAGE-3")
def test_frames_and_executions_have_focus_and_a_label() -> None:
    root = parsed(fan_out(2))
    focusable = [element for element in root.iter() if element.get("data-id")]
    assert {element.get("data-id") for element in focusable} == {
        *structure_of(fan_out(2)).frames,
        *structure_of(fan_out(2)).executions,
    }
    for element in focusable:
        assert element.get("tabindex") == "0"
        assert element.get("role") == "button"
    assert by_id(root, "exec-0.1~1").get("aria-label") == "KB fast retrieve 12 ms, kb-fast, success"


def test_focus_goes_through_a_frame_before_what_follows_it() -> None:
    order = [element.get("data-id") for element in parsed(fan_out(2)).iter() if element.get("data-id")]
    assert order == [
        "frame-0",
        "exec-0.1~1",
        "exec-0.2~1",
        "frame-0.1",
        "exec-0.1.1~1",
        "exec-0.1.2~1",
        "frame-0.2",
        "exec-0.2.1~1",
        "exec-0.2.2~1",
        "exec-0.3~1",
    ]


def test_edges_are_drawn_by_kind_and_nesting_is_not() -> None:
    stored = fan_out(1)
    stored["edges"].append(edge("frame-0", "exec-0.1~1", "contains"))
    drawn = with_class(parsed(stored), "edge")
    kinds = {(element.get("data-from"), element.get("data-to")): element.get("data-kind") for element in drawn}
    assert kinds == {
        ("exec-0.1~1", "exec-0.2~1"): "flow",
        ("exec-0.2~1", "frame-0.1"): "child-frame",
        ("exec-0.1.1~1", "exec-0.1.2~1"): "flow",
        ("exec-0.1.2~1", "exec-0.3~1"): "flow",
    }
    assert all(element.get("marker-end") == f"url(#graph-arrow-{element.get('data-kind')})" for element in drawn)


def test_two_graphs_on_one_page_share_no_id() -> None:
    ids = [
        {element.get("id") for element in parsed(chain(2), uid=uid).iter() if element.get("id")}
        for uid in ("left", "right")
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_a_long_name_is_cut_and_whole_in_the_title() -> None:
    name = "A retrieval plugin with a remarkably long name"
    node = by_id(parsed(graph([frame("frame-0")], [execution("exec-0.1~1", pluginName=name)])), "exec-0.1~1")
    shown = next(element.text for element in node if element.get("class") == "node-name")
    assert shown is not None
    assert shown.endswith("…")
    assert name.startswith(shown.removesuffix("…"))
    assert name in (node.findtext(f"{SVG}title") or "")


LONG = "A text that is longer than any box of the picture, so that it is cut: "


@pytest.mark.parametrize("output", ["The ferry to Ravenna leaves at nine in the morning. [1]", "ferry " * 30, ""])
@pytest.mark.parametrize("name", ["KB fast retrieve", LONG])
def test_a_cut_label_begins_with_what_is_shown_and_ends_whole(name: str, output: str) -> None:
    stored = graph(
        [frame("frame-0", label=f"{LONG}label", intent=f"{LONG}intent")], [execution("exec-0.1~1", pluginName=name)]
    )
    root = ElementTree.fromstring(render_shown(shown_of(stored), outputs={"exec-0.1~1": output}))  # noqa: S314 - as above
    for item, whole in [
        ("exec-0.1~1", (name.strip(), output.strip())),
        ("frame-0", (f"{LONG}label", f"{LONG}intent")),
    ]:
        node = by_id(root, item)
        label = node.get("aria-label", "").removeprefix("Frame ")
        texts = [element.text for element in node if element.tag == f"{SVG}text" and element.text]
        assert label.startswith(" ".join(texts))
        assert all(text in label for text in whole)


@pytest.mark.rule("GRAPH-15", "PAGE-4")
def test_a_plugin_without_a_name_shows_its_id_alone() -> None:
    stored = graph([frame("frame-0")], [execution("exec-0.1~1", pluginName="", input="secret", error="secret")])
    svg = render_shown(shown_of(stored))
    assert ">kb-fast</text>" in svg
    assert "secret" not in svg


@pytest.mark.rule("PAGE-6")
def test_marks_are_drawn_and_other_control_nodes_are_not() -> None:
    nodes = [mark(f"node-{kind}", type=kind) for kind in ("policy", "candidate", "comparison", "challenge", "seed")]
    root = parsed(graph([frame("frame-0")], nodes=nodes))
    assert {element.get("data-id") for element in with_class(root, "mark")} == {
        "node-policy",
        "node-candidate",
        "node-comparison",
        "node-challenge",
    }


def test_a_running_frame_colours_what_has_no_status_yet() -> None:
    stored = graph(
        [frame("frame-0", status="active", durationMs=None)],
        [execution("exec-0.1~1", status="", durationMs=None), execution("exec-0.2~1", status="queued")],
    )
    root = parsed(stored)
    assert "status-active" in by_id(root, "exec-0.1~1").get("class", "")
    assert "status-idle" in by_id(root, "exec-0.2~1").get("class", "")


def test_a_second_attempt_says_so() -> None:
    root = parsed(graph([frame("frame-0")], [execution("exec-0.1~1"), execution("exec-0.1~2")]))
    assert "try 2" in by_id(root, "exec-0.1~2").get("aria-label", "")
    assert "try" not in by_id(root, "exec-0.1~1").get("aria-label", "")


def test_the_reader_shuts_and_opens_frames() -> None:
    shut = shown_of(fan_out(3), shut=["frame-0.2", "frame-9"])
    assert shut.collapsed == {"frame-0.2"}
    svg = render_shown(shut)
    assert "2 executions inside" in svg
    assert "exec-0.2.1~1" not in svg
    large = fan_out(90)
    closed = shown_of(large)
    assert closed.collapsed
    assert len(closed.whole.executions) == 183
    chosen = max(closed.collapsed)
    assert chosen not in shown_of(large, opened=[chosen]).collapsed


def test_a_graph_of_a_thousand_executions_is_shown_in_few_boxes() -> None:
    root = parsed(fan_out(500))
    assert len(with_class(root, "node")) <= 150


@pytest.mark.rule("GRAPH-16")
@pytest.mark.parametrize(
    ("duration_ms", "shown"),
    [
        (None, ""),
        (0, "0 ms"),
        (184, "184 ms"),
        (999.4, "999 ms"),
        (999.6, "1.0 s"),
        (1000, "1.0 s"),
        (2449, "2.4 s"),
        (9949, "9.9 s"),
        (9960, "10 s"),
        (12_300, "12 s"),
        (60_000, "60 s"),
    ],
)
def test_duration_badges(duration_ms: float | None, shown: str) -> None:
    assert duration_badge(duration_ms) == shown


@pytest.mark.rule("PLUGIN-22", "GRAPH-17", "GRAPH-18")
@pytest.mark.parametrize(
    ("tone", "statuses"),
    [
        (Tone.OK, "success succeeded accepted answered settled strong resolved"),
        (Tone.WARN, "unsupported refused needs-decomposition"),
        (Tone.WEAK, "insufficient no-context sufficient weak comparative_open open"),
        (Tone.ERROR, "error failed rejected plugin-error timeout"),
        (Tone.IDLE, "skipped skipped-budget inactive queued deactivated superseded unknown"),
        (Tone.ACTIVE, "active running candidate_found"),
    ],
)
def test_every_status_has_its_colour(tone: Tone, statuses: str) -> None:
    assert {tone_of(status) for status in statuses.split()} == {tone}
    assert {tone_of(status, frame_active=True) for status in statuses.split()} == {tone}


def test_an_unlisted_status_is_blue_while_running_then_gray() -> None:
    assert tone_of("thinking", frame_active=True) is Tone.ACTIVE
    assert tone_of("thinking") is Tone.IDLE


@given(st.text(max_size=80), st.floats(20, 300), st.booleans())
def test_a_fitted_text_keeps_to_its_width(text: str, width_px: float, bold: bool) -> None:
    shown = fit(text, width_px, 12, bold=bold)
    assert text_width(shown, 12, bold=bold) <= width_px + _TOLERANCE
    assert shown == text or text.startswith(shown.removesuffix("…"))


_TOLERANCE = 1e-6


@given(st.text(max_size=80))
def test_cleaned_text_is_one_line_that_xml_can_hold(text: str) -> None:
    cleaned = clean(text)
    assert not re.search(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", cleaned)
    assert clean(cleaned) == cleaned
