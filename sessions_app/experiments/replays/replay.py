"""Replay: a recorded turn run again with nothing changed, and the first thing that came out differently."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from mrpvm import registry
from mrpvm.contracts import Detection, PluginError, Retrieval, Solution, Validation
from mrpvm.errors import ErrorRecord, TurnCancelled, TurnInterrupted
from mrpvm.kernel.calls import CallReturn, PluginCall
from mrpvm.llm.recorder import Recorder
from mrpvm.llm.redaction import REDACTED, redacted_json
from mrpvm.trace.events import Event, PluginFinished, PluginStarted, TurnStarted, UnitsJudged, record_of, said
from mrpvm.trace.graph import path_key
from mrpvm.trace.order import in_frame_order
from mrpvm.trace.replay import Difference, first_different_event, first_different_item, without_times
from mrpvm.values import KnowledgeUnit, Plan
from mrpvm.wire import WireWriter, from_wire
from mrpvm.wrappers.wrapper import Help
from sessions_app.actions.turns.conditions import product_version
from sessions_app.actions.turns.payloads import judged_step
from sessions_app.experiments.replays.recorded import Conditions, NotReplayable, RecordedTurn, forgotten, recorded_turn
from sessions_app.experiments.replays.recorded_command import recorded_command
from sessions_app.experiments.replays.run import Rerun, Setup, rerun
from sessions_app.experiments.trials.models import models_of, recorded_exchanges
from sessions_app.models import ExplainabilityTurn
from sessions_app.models.redacted import redacted_value
from sessions_app.queries.experiments.forgetting.acts import forgotten_since
from sessions_app.queries.turns.registry import answer_of
from sessions_app.running_turns import running_turns
from sessions_app.turns.view import plugin_versions

type Reason = Literal[
    "plugin-missing",
    "plugin-version",
    "product-version",
    "plugin-new",
    "model-request",
    "nondeterministic-plugin",
    "unexplained",
]
_RETURNED: Mapping[str, type] = {
    "seed-detector": Detection, "planner": Plan, "kb": Retrieval, "goal-solver": Solution, "validation": Validation,
    "helper": Help,
}  # fmt: skip
"""What a plugin returns, by the stage that it is called in."""
TOO_LATE = "PLUGIN_TIMEOUT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where a replay left its record, and why it may have."""

    difference: Difference
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """Whether a turn came out as it is recorded; `divergence` is None where it did."""

    request_id: str
    duration_ms: int
    divergence: Divergence | None = None

    @property
    def result(self) -> Literal["identical", "diverged"]:
        """Return the result's name."""
        return "identical" if self.divergence is None else "diverged"


def replay(turn: ExplainabilityTurn, *, live_plugins: bool = False) -> ReplayResult:
    """Run an ended turn again over what it saw and compare what it does with its record; nothing is written.

    Args:
        live_plugins: call plugins that are not deterministic, in place of taking what they returned.

    Raises:
        Conflict: as for `recorded_turn`.
    """
    started = time.monotonic()
    is_command = turn.kind == ExplainabilityTurn.Kind.COMMAND
    divergence = _of_command(turn) if is_command else _of_machine(turn, live_plugins=live_plugins)
    return ReplayResult(
        request_id=turn.request_id, duration_ms=round((time.monotonic() - started) * 1000), divergence=divergence
    )


def _of_machine(turn: ExplainabilityTurn, *, live_plugins: bool) -> Divergence | None:
    recorded = recorded_turn(turn)
    difference = _difference(recorded, rerun_unchanged(recorded, live_plugins=live_plugins))
    if difference is None:
        return None
    since = forgotten_since(turn, recorded.knowledge.chain)
    if since is not None:  # rarer words weigh more: what is gone changes the scores of what is left
        raise forgotten(since)
    payloads = (item.text for item in recorded.payloads.values())
    _check_no_secrets(turn, (recorded.message, json.dumps(recorded.records), *payloads))
    return _explained(recorded, difference, live_plugins=live_plugins)


def _of_command(turn: ExplainabilityTurn) -> Divergence | None:
    recorded = recorded_command(turn)
    difference = recorded.difference()
    if difference is None:
        return None
    _check_no_secrets(turn, (turn.user_message, json.dumps(recorded.payload)))
    return _of_other_product(recorded.conditions, difference) or _because(
        difference, "unexplained", "Versions are the same: a tool or a setting outside of the session."
    )


def _check_no_secrets(turn: ExplainabilityTurn, texts: Iterable[str]) -> None:
    """Refuse a turn whose replay differs where secrets were redacted in what it read and wrote.

    Raises:
        NotReplayable: a text holds the mark of a redacted secret.
    """
    if any(REDACTED in text for text in texts):
        raise NotReplayable(
            "Secrets were redacted in what this turn was told, and what is left is read differently. It cannot be run"
            " again.",
            "secrets",
            turn.created_at,
        )


def replay_turn(turn: ExplainabilityTurn) -> ReplayResult:
    """Replay an ended turn; see `replay`. It takes a place among the turns that run at once."""
    with running_turns.place(turn.session.project_id) as take_place:
        take_place()
        return replay(turn)


def rerun_unchanged(recorded: RecordedTurn, *, live_plugins: bool = False) -> Rerun:
    """Run a recorded turn again as it was, at the recorded times."""
    course = _Course(recorded, live_plugins=live_plugins)
    setup = Setup(
        state=recorded.state,
        knowledge=recorded.knowledge,
        models=models_of(recorded, recorded_exchanges(recorded)),
        clock=course,
        plugins=registry.installed,
        replies=course.reply,
        tick=course.tick,
        listen=course.passed,
    )
    return rerun(recorded, setup)


class _Course:
    """A recorded turn as its replay follows it: its times, where it was stopped, and calls that are not repeated."""

    def __init__(self, recorded: RecordedTurn, *, live_plugins: bool) -> None:
        self._recorded = recorded
        self._live_plugins = live_plugins
        self._times = [at_ms for _, at_ms, _ in recorded.records]
        self._ended = {ended.execution_id: ended for ended in said(PluginFinished, recorded.events)}
        self._count = 0
        self._now_ms = 0.0

    def now(self) -> datetime:
        """Return when the machine took the turn up."""
        started_at = next((turn.started_at for turn in said(TurnStarted, self._recorded.events)), None)
        return datetime.fromisoformat(started_at) if started_at else self._recorded.turn.created_at

    def monotonic_ms(self) -> float:
        """Return when the next recorded event took place."""
        return self._now_ms

    def passed(self, event: Event) -> None:
        """Continue to the next recorded event."""
        if not isinstance(event.data, UnitsJudged):
            self._count += 1
            if self._count < len(self._times):
                self._now_ms = max(self._now_ms, self._times[self._count])

    def tick(self) -> None:
        """Stop the turn where it was stopped.

        Raises:
            TurnCancelled, TurnInterrupted: the recorded turn was stopped or interrupted here.
        """
        if self._recorded.stopped_by and self._count >= len(self._times):
            error = self._recorded.turn.error or {}
            kind = TurnCancelled if self._recorded.stopped_by == "TURN_CANCELLED" else TurnInterrupted
            raise kind(error["message"])

    def reply(self, call: PluginCall) -> CallReturn | None:
        """Return the outcome of a call that timed out, or whose outcome may differ now."""
        ended = self._ended.get(call.execution_id)
        if ended is None:
            return None
        error = ended.error
        if error and error["code"] == TOO_LATE:
            return CallReturn(error=_plugin_error(error), recorder=_recorder(ended))
        if call.descriptor.is_deterministic or self._live_plugins:
            return None
        if error and error["code"] == "PLUGIN_EXCEPTION":
            return CallReturn(error=_plugin_error(error), recorder=_recorder(ended))
        return CallReturn(value=_returned(self._recorded, call.execution_id), recorder=_recorder(ended))


def _recorder(ended: PluginFinished) -> Recorder:
    """Return what a recorded call said to models, without the requests."""
    return Recorder(
        call_count=ended.llm_calls,
        model=ended.model,
        role=ended.model_role,
        usage=ended.usage,
        answer_was_cut=ended.finish_reason == "length",
    )


def _plugin_error(error: ErrorRecord) -> PluginError:
    return PluginError(code=error["code"], message=error["message"], details=error.get("details") or {})


def _returned(recorded: RecordedTurn, execution_id: str) -> Any:
    """Return what a recorded call returned.

    Raises:
        NotReplayable: its payload was cut.
    """
    detail = recorded.payloads.get(execution_id)
    payload = detail.payload if detail else None
    if payload is None:
        raise NotReplayable(f"The payload of {execution_id} was cut; what it returned is not known.", "payload")
    stage = next(call.stage for call in said(PluginStarted, recorded.events) if call.execution_id == execution_id)
    return None if payload["output"] is None else from_wire(_RETURNED[stage], payload["output"])


def _difference(recorded: RecordedTurn, again: Rerun) -> Difference | None:
    """Return the first difference: among events, then payloads, then the ledger, then the answer."""
    events = [event for event in again.events if not isinstance(event.data, UnitsJudged)]
    ordered = in_frame_order(events, lambda event: event.frame_id)
    replayed = redacted_value([record_of(event) for event in ordered])  # as they are stored
    if recorded.stopped_by:
        replayed = replayed[: len(recorded.records)]
    difference = first_different_event(recorded.records, replayed)
    if difference is not None or recorded.stopped_by:
        return difference
    difference = first_different_item("payload", *_payloads(recorded, again))
    if difference is not None or recorded.turn.status != ExplainabilityTurn.Status.SUCCEEDED:
        return difference
    difference = first_different_item("ledger", _steps(_judged(recorded)), _steps(_judged_again(again)))
    if difference is not None:
        return difference
    answer = answer_of(recorded.turn)
    # A client's limit on the length cuts the answer after the machine.
    if again.outcome.answer_text != answer and not (answer and again.outcome.answer_text.startswith(answer)):
        return first_different_item("answer", [("answer", answer)], [("answer", again.outcome.answer_text)])
    return None


def _payloads(recorded: RecordedTurn, again: Rerun) -> tuple[Sequence[tuple[str, Any]], Sequence[tuple[str, Any]]]:
    """Return inputs and outputs of the nodes of both by their ids; those that were cut when stored are left out."""
    parts: dict[str, dict[str, Any]] = {}
    for event in again.events:
        if event.detail_ref is not None:
            parts.setdefault(event.detail_ref, {}).update(event.detail)
    whole = {ref: payload for ref, detail in recorded.payloads.items() if (payload := detail.payload) is not None}
    refs = sorted((ref for ref in parts if ref in whole), key=path_key)
    shown = {ref: {name: parts[ref].get(name) for name in _SHOWN} for ref in refs}
    replayed = json.loads(redacted_json(WireWriter(brief=KnowledgeUnit).json(shown)))  # as it is stored
    return (
        [(ref, without_times({name: whole[ref].get(name) for name in _SHOWN})) for ref in refs],
        [(ref, without_times(replayed[ref])) for ref in refs],
    )


_SHOWN = ("input", "output", "error")


def _judged(recorded: RecordedTurn) -> list[list[Any]]:
    batches = recorded.turn.event_batches.filter(judged__isnull=False).order_by("first_sequence")
    return [step for steps in batches.values_list("judged", flat=True) for step in steps or ()]


def _judged_again(again: Rerun) -> list[list[Any]]:
    judged = [event.data for event in again.events if isinstance(event.data, UnitsJudged)]
    rows = sorted(((data.execution_id, row) for data in judged for row in data.rows), key=lambda row: path_key(row[0]))
    return [judged_step(execution_id, row) for execution_id, row in rows]


def _steps(judged: Sequence[list[Any]]) -> Iterator[tuple[str, list[Any]]]:
    return ((step[3], step) for step in judged)


def _explained(recorded: RecordedTurn, difference: Difference, *, live_plugins: bool) -> Divergence:
    """Return the difference with the reason that is left by what is known of both runs."""
    then, now = recorded.conditions["plugins"], plugin_versions()
    error = (difference.replayed or {}).get("error") if isinstance(difference.replayed, Mapping) else None
    if error and error.get("code") == "MODEL_NOT_RECORDED":
        return _because(difference, "model-request", "The model would be asked something else now.")
    missing = sorted(then.keys() - now.keys())
    if missing:
        return _because(difference, "plugin-missing", f"Not installed any more: {', '.join(missing)}.")
    changed = sorted(key for key in then if then[key] != now[key])
    if changed:
        changes = ", ".join(f"{key.partition(' ')[2]} was {then[key]} and is {now[key]}" for key in changed)
        return _because(difference, "plugin-version", f"Plugins changed: {changes}.")
    other_product = _of_other_product(recorded.conditions, difference)
    if other_product is not None:
        return other_product
    added = sorted(now.keys() - then.keys())
    if added:
        return _because(difference, "plugin-new", f"Installed since: {', '.join(added)}.")
    plugin_id = _plugin_of(recorded, difference.execution_id)
    if (
        live_plugins
        and plugin_id
        and any(item.id == plugin_id and not item.is_deterministic for item in registry.installed.descriptors())
    ):
        return _because(difference, "nondeterministic-plugin", f"{plugin_id} may answer differently each time.")
    return _because(
        difference, "unexplained", "Versions are the same: a setting outside of the turn, or a plugin that does not say"
        " that it is not deterministic."
    )  # fmt: skip


def _of_other_product(conditions: Conditions, difference: Difference) -> Divergence | None:
    """Return the difference where another version of the product made the record."""
    if conditions["product"] == product_version():
        return None
    note = f"The turn ran under version {conditions['product']}; this is {product_version()}."
    return _because(difference, "product-version", note)


def _because(difference: Difference, reason: Reason, detail: str) -> Divergence:
    return Divergence(difference=difference, reason=reason, detail=detail)


def _plugin_of(recorded: RecordedTurn, execution_id: str | None) -> str | None:
    started = said(PluginStarted, recorded.events)
    return next((call.plugin_id for call in started if call.execution_id == execution_id), None)
