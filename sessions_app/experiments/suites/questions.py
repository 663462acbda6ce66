"""What each test of a suite asks when it is run against a target."""

from collections.abc import Mapping
from copy import replace
from dataclasses import dataclass, field
from typing import Any

from mrpvm.conversation.answers import cited_sources
from mrpvm.errors import Conflict
from mrpvm.values import Selection
from mrpvm.wire import from_wire, to_wire
from sessions_app.experiments.replays.recorded import RecordedTurn, recorded_turn
from sessions_app.experiments.replays.unsent import unsent_turn
from sessions_app.experiments.suites.expected import Answered
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.trial import TrialOutcome
from sessions_app.models import Session, TestCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a suite is run against; with nothing said, each test asks where it was kept.

    `base` is put below all tests, at `revision` or as it is now. `draft` is the id of a session: its base is put below,
    as a save would make it (`without_told`: one without what the conversation told), and only tests of that base run.
    With `heads` each test asks the present state of its own base. With `only_of`, the id of a base, only tests of that
    base run. With `allow_model` a model is asked what is not recorded. `choices` override those of the tests.
    """

    base: str | None = None
    revision: int | None = None
    draft: str | None = None
    without_told: bool = False
    heads: bool = False
    tags: tuple[str, ...] = ()
    only_of: str | None = None
    state: str | None = None
    allow_model: bool = False
    choices: Changes = field(default_factory=Changes)

    def as_record(self) -> dict[str, Any]:
        """Return the target as JSON data."""
        record = {**to_wire(self), "choices": self.choices.as_record()}
        return {name: value for name, value in record.items() if value}

    @property
    def may_come(self) -> bool:
        """Return whether the state may become that of a base: a draft or a revision."""
        return self.draft is not None or self.revision is not None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Target":
        """Return what `as_record` gave."""
        return from_wire(cls, record)


AS_KEPT = Target()
"""Each test where it was kept."""


def question_of(test: TestCase, target: Target, session: Session) -> tuple[RecordedTurn, Changes]:
    """Return what a test asks, and with which changes.

    Args:
        session: the suite's own, in which tests of a base ask.

    Raises:
        Conflict: NOT_REPLAYABLE; the turn or base of the test is gone.
        MRPError: as for `unsent_turn`.
    """
    if test.turn is not None:
        recorded: RecordedTurn = recorded_turn(test.turn)
    elif test.base is not None:
        recorded = unsent_turn(session, test.message)
    else:
        raise Conflict("The turn or the knowledge base that this test asks was removed.")
    changes = _chosen(from_wire(Changes, test.choices), target.choices)
    if test.message != recorded.message:
        changes = replace(changes, message=test.message)
    if target.draft is not None:
        changes = replace(changes, draft=target.draft, without_told=target.without_told)
    elif target.base is not None:
        changes = replace(changes, base=target.base, revision=target.revision)
    elif test.base is not None and (target.heads or test.turn is None):
        changes = replace(changes, base=test.base.kb_id, revision=None if target.heads else test.revision)
    return recorded, changes


def _chosen(own: Changes, wanted: Changes) -> Changes:
    """Return a test's choices, overridden by the target's."""
    unchosen = Changes()
    named = {
        name: value
        for name in Changes.__dataclass_fields__
        if (value := getattr(wanted, name)) != getattr(unchosen, name) and name != "pins"
    }
    pins = {name: getattr(wanted.pins, name) or getattr(own.pins, name) for name in Selection.__struct_fields__}
    return replace(own, pins=Selection(**pins), **named)


def answered_by(outcome: TrialOutcome) -> Answered:
    """Return a trial's answer in the parts that expectations check."""
    used = outcome.used
    return Answered(
        text=outcome.answer,
        status=outcome.answer_status or "failed",
        basis=outcome.basis,
        cited_unit_ids=outcome.cited_unit_ids,
        cited_sources=cited_sources(outcome.document) if outcome.document else (),
        plugins=[plugin for plugin in (used.planner, used.seed_detector, used.kb, used.goal_solver) if plugin],
        token_count=outcome.token_count,
        cost=None if outcome.cost is None else float(outcome.cost),
        duration_ms=outcome.duration_ms,
    )
