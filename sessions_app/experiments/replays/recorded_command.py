"""A recorded command answered again from what it was given and read; nothing of the session is asked or changed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mrpvm.commands import answer, resolve
from mrpvm.commands.recorded import CallNotRecorded, Given, PortCall, RecordedPorts, recorded_facts
from mrpvm.trace.events import ROOT_FRAME_ID, Record, record_of
from mrpvm.trace.replay import Difference, first_different_event, first_different_item
from mrpvm.wire import from_wire, to_wire
from sessions_app.commands.trace import payload_parts, trace_of
from sessions_app.experiments.replays.recorded import Conditions, NotReplayable, check_kept
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.sessions.skill_files import tools
from sessions_app.queries.turns.registry import all_details, event_records


@dataclass(frozen=True)
class RecordedCommand:
    """An answered command: its payload, its events, and conditions with the frozen content that it was resolved by."""

    turn: ExplainabilityTurn
    payload: dict[str, Any]
    conditions: Conditions
    records: Sequence[Record]

    @cached_property
    def calls(self) -> tuple[PortCall, ...]:
        """What it asked of its session and server, in order."""
        return tuple(from_wire(PortCall, call) for call in self.payload["input"]["calls"])

    def difference(self) -> Difference | None:
        """Return the first thing that comes out differently now: an event, then what it asked, gave and changed."""
        facts = recorded_facts(from_wire(Given, self.payload["input"]["session"]), self.conditions["command"], tools())
        resolved = resolve(self.turn.user_message, facts)
        ports = RecordedPorts(self.calls)
        try:
            outcome = answer(resolved, facts, ports)
            ports.end()
        except CallNotRecorded as other:
            return first_different_item("payload", _item(to_wire(other.recorded)), _item(to_wire(other.made)))
        events = [record_of(event) for event in trace_of(self.turn, resolved, outcome, facts)]
        difference = first_different_event(self.records, events)
        if difference is not None:
            return difference
        parts = payload_parts(self.turn.user_message, facts, self.calls, resolved, outcome)
        replayed = json.loads(json.dumps(to_wire(parts)))
        difference = first_different_item(
            "payload", _item({name: self.payload[name] for name in replayed}), _item(replayed)
        )
        if difference is not None or replayed["output"] == self.turn.command_result:
            return difference
        return first_different_item("answer", _item(self.turn.command_result), _item(replayed["output"]))


def _item(value: Any) -> list[tuple[str, Any]]:
    return [(ROOT_FRAME_ID, value)]


def recorded_command(turn: ExplainabilityTurn) -> RecordedCommand:
    """Return what is stored of a command.

    Raises:
        NotReplayable: its payload was removed or cut, or it is older than replay.
    """
    check_kept(turn)
    if turn.conditions is None or not turn.conditions.content:
        raise NotReplayable("What this command read was not recorded: it is older than its replay.", "view")
    payload = next((item.payload for _, item in all_details([turn]) if item.ref == ROOT_FRAME_ID), None)
    if payload is None:
        raise NotReplayable("The payload of this command was cut; what it read is not known.", "payload")
    return RecordedCommand(turn=turn, payload=payload, conditions=turn.conditions.content, records=event_records(turn))
