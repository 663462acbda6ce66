"""Since when a turn is answered as it is: a binary search over the turns of a session, or the revisions of a base."""

from collections.abc import Callable, Iterator, Sequence
from copy import replace
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal

from mrpvm.errors import InvalidInput
from sessions_app.experiments.diagnosis.search import Expectation, compared_text
from sessions_app.experiments.replays.recorded import NotReplayable, RecordedTurn, SupposedTurn, recorded_turn
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.trial import Tick, TrialOutcome, run_trial
from sessions_app.models import ExplainabilityTurn, KnowledgeBase, UnitEvent
from sessions_app.queries.experiments.rerun import turns_through
from sessions_app.queries.turns.registry import own_unit_events

SAMPLED = 8
"""How many moments are tried where the first and the last answer are alike."""
MOST_MOMENTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A state in which the message is asked; `number` is that of the turn, or of the base's revision, that led to it.

    0 is the state before the first turn. `after` is the turn that led to it, None for a revision.
    """

    number: int
    read: Callable[[], RecordedTurn]
    changes: Changes
    after: ExplainabilityTurn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectStep:
    """A moment that was looked at."""

    moment: Moment
    recorded: RecordedTurn
    outcome: TrialOutcome
    is_as_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bisection:
    """Since which moment the answer is as at the last one.

    `first` is the first moment with that answer and `before` the one before it; both are None where all moments that
    were looked at answer alike. `changes` are the numbers of all moments at which a change was seen: more than one
    means that the answer changed more than once, and that there may be others.
    """

    result: Literal["found", "always"]
    steps: Sequence[BisectStep]
    first: BisectStep | None = None
    before: BisectStep | None = None
    changes: tuple[int, ...] = ()

    @property
    def is_monotonous(self) -> bool:
        """Return whether one change at most was seen."""
        return len(self.changes) <= 1


def moments_of_session(turn: ExplainabilityTurn) -> list[Moment]:
    """Return the states of the session before each of its turns up to `turn`, all asked what that turn was asked.

    Turns that cannot be run again, such as commands, are left out.

    Raises:
        InvalidInput: too many turns.
    """
    question = recorded_turn(turn)
    turns = turns_through(turn, MOST_MOMENTS + 1)
    if len(turns) > MOST_MOMENTS:
        raise InvalidInput(f"At most {MOST_MOMENTS} turns can be searched.")
    moments: list[Moment] = []
    previous: ExplainabilityTurn | None = None
    for each in turns:
        each.session = turn.session
        if each.view and each.conditions_id and each.kind == ExplainabilityTurn.Kind.CHAT and not each.is_running:
            number = previous.turn_index if previous else 0
            moments.append(
                Moment(number=number, read=partial(_asked_before, each, question), changes=Changes(), after=previous)
            )
        previous = each
    return moments


def _asked_before(turn: ExplainabilityTurn, then_asked: RecordedTurn) -> RecordedTurn:
    """Return the state before an earlier turn with the question and the choices of a later one."""
    then = recorded_turn(turn)
    question = replace(then_asked.state.asked, history=then.state.asked.history, added=then.state.asked.added)
    return SupposedTurn(
        turn=turn,
        view=then.view,
        conditions=then.conditions,
        records=(),
        given_state=replace(then.state, asked=question),
        given_knowledge=then.knowledge,
    )


def moments_of_base(turn: RecordedTurn, base: KnowledgeBase) -> list[Moment]:
    """Return the base's revisions, the oldest first, each mounted for the turn."""
    numbers = base.revisions.order_by("revision").values_list("revision", flat=True)
    return [
        Moment(number=number, read=lambda: turn, changes=Changes(base=base.kb_id, revision=number))
        for number in numbers
    ]


class MomentSearch:
    """Searches for the first moment whose answer is as that of the last, or as far from the expectation.

    A history that changes once costs at most 2 + log2(n) trials.

    Args:
        looked_at: called with each moment after it was tried.
        tick: called between trials and in them; what it raises ends the search.

    Raises:
        NotReplayable: there is no moment.
    """

    def __init__(
        self,
        moments: Sequence[Moment],
        expected: Expectation,
        looked_at: Callable[[BisectStep], None],
        tick: Tick,
    ) -> None:
        if not moments:
            raise NotReplayable("None of the earlier turns can be run again.", "view")
        self._moments, self._expected = moments, expected
        self._looked_at, self._tick = looked_at, tick
        self._steps: dict[int, BisectStep] = {}
        self._last: TrialOutcome | None = None

    def run(self) -> Bisection:
        """Return what was found.

        Raises:
            NotReplayable: a moment's turn cannot be run again any more.
        """
        last = len(self._moments) - 1
        self._look(last)
        if last and not self._look(0).is_as_last:
            return self._found(*self._narrowed(0, last))
        for place in self._between(0, last):
            if not self._look(place).is_as_last:
                following = next(later for later in sorted(self._steps) if later > place)
                return self._found(*self._narrowed(place, following))
        return Bisection(result="always", steps=self._in_order())

    def _narrowed(self, low: int, high: int) -> tuple[int, int]:
        """Return two neighbouring moments, of which only the second is answered like the last."""
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._look(middle).is_as_last else (middle, high)
        return low, high

    def _between(self, low: int, high: int) -> Iterator[int]:
        places = {low + (high - low) * number // (SAMPLED + 1) for number in range(1, SAMPLED + 1)}
        return (place for place in sorted(places, reverse=True) if low < place < high)

    def _look(self, place: int) -> BisectStep:
        if place not in self._steps:
            self._tick()
            moment = self._moments[place]
            recorded = moment.read()
            outcome = run_trial(recorded, moment.changes, self._tick)
            self._tick()
            self._last = self._last or outcome
            self._steps[place] = BisectStep(
                moment=moment, recorded=recorded, outcome=outcome, is_as_last=self._is_as_last(outcome)
            )
            self._looked_at(self._steps[place])
        return self._steps[place]

    def _is_as_last(self, outcome: TrialOutcome) -> bool:
        last = self._last or outcome
        if self._expected.is_stated:
            return self._expected.is_met(outcome.answer) == self._expected.is_met(last.answer)
        return compared_text(outcome.answer) == compared_text(last.answer)

    def _in_order(self) -> list[BisectStep]:
        return [self._steps[place] for place in sorted(self._steps)]

    def _found(self, before: int, first: int) -> Bisection:
        ordered = self._in_order()
        changed = [
            later.moment.number for earlier, later in pairwise(ordered) if earlier.is_as_last != later.is_as_last
        ]
        return Bisection(
            result="found",
            steps=ordered,
            first=self._steps[first],
            before=self._steps[before],
            changes=tuple(changed),
        )


def told_by(turn: ExplainabilityTurn) -> list[str]:
    """Return the texts of the units that a turn added, in their order."""
    staged = own_unit_events(turn).filter(step=UnitEvent.Step.STAGED)
    return list(staged.values_list("text", flat=True)[:20])
