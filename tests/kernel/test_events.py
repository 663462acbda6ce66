"""Machine events and their stored form: one dataclass each, converted both ways without loss."""

import json

import pytest
from hypothesis import given, settings

from mrpvm.trace.events import EVENT_TYPES, Event, PluginFinished, TurnStarted, event_of, record_of
from mrpvm.values import Selection, Usage
from tests.kernel.scripted import Ran
from tests.kernel.test_graph_invariants import TURNS, play


def plain(ran: Ran) -> list[Event]:
    return [Event(at_ms=event.at_ms, data=event.data) for event in ran.events]


@pytest.mark.rule("DECISION-37")
@settings(max_examples=40)
@given(TURNS)
def test_a_stored_event_is_read_back_as_it_was(turn) -> None:
    events = plain(play(turn, is_quick=True))
    assert [event_of(json.loads(json.dumps(record_of(event)))) for event in events] == events


@pytest.mark.rule("PLUGIN-46")
def test_names_are_noun_and_past_participle() -> None:
    assert len(EVENT_TYPES) == 24
    assert EVENT_TYPES["turn.started"] is TurnStarted
    assert all(name.count(".") == 1 for name in EVENT_TYPES)


def test_what_is_left_out_while_it_is_none() -> None:
    finished = PluginFinished(
        execution_id="exec-0.1~1", frame_id="frame-0", status="success", duration_ms=3, llm_calls=0
    )
    name, at_ms, data = record_of(Event(at_ms=5, data=finished))
    assert (name, at_ms) == ("plugin.finished", 5)
    assert data["model"] is None
    assert not {"usage", "finishReason"} & data.keys()


def test_nested_values_are_read_back_typed() -> None:
    usage = Usage(input_tokens=3, output_tokens=4, is_estimated=True)
    finished = PluginFinished(
        execution_id="exec-0.1~1", frame_id="frame-0", status="success", duration_ms=3, llm_calls=1, usage=usage
    )
    record = record_of(Event(at_ms=5, data=finished))
    assert record[2]["usage"] == {"inputTokens": 3, "outputTokens": 4, "estimated": True}
    assert event_of(record).data == finished
    started = TurnStarted(
        request_id="r", session_id="s", input_message="m", deliberation_level=0, effective_level=0,
        pins=Selection(kb="kb-fast"),
    )  # fmt: skip
    assert event_of(record_of(Event(at_ms=0, data=started))).data == started


def test_a_record_that_lacks_what_has_no_default_is_refused() -> None:
    with pytest.raises(TypeError):
        event_of(["frame.closed", 1, {"frameId": "frame-0"}])
