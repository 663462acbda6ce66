"""Running an experiment: its trials one after the other, each stored when it has ended; it gives way to turns."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mrpvm.errors import MRPError, TurnCancelled, TurnInterrupted, Unavailable
from mrpvm.wire import from_wire, to_wire
from sessions_app import shutdown
from sessions_app.actions.experiments.experiments import INTERRUPTED, end_experiment, is_wanted
from sessions_app.database import as_unavailable
from sessions_app.experiments.bisect import Step, bisect, moments_of_base, moments_of_session, told_by
from sessions_app.experiments.changes import Changes, check_changes
from sessions_app.experiments.recorded import RecordedTurn, recorded_turn
from sessions_app.experiments.replay import Divergence, replay
from sessions_app.experiments.search import Bounds, Expectation, Finding, Search
from sessions_app.experiments.storing import fill_trial, store_trial, store_without_traces
from sessions_app.experiments.trial import TrialOutcome, run_trial
from sessions_app.experiments.unsent import unsent_turn
from sessions_app.models import Experiment, KnowledgeBase, Trial
from sessions_app.pacing import Pacer
from sessions_app.queries.turns.registry import answer_of
from sessions_app.turns.running_turns import running_turns

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.25
_FULL_SECONDS = 0.05
Status = Experiment.Status
type Result = Mapping[str, Any]


class Watch:
    """A running experiment's sign of life: it sees who stops it, and says how far it has come."""

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._looked_at = 0.0
        self._pacer = Pacer()
        self._is_stopped = False
        self.tried_count = 0

    def look(self) -> None:
        """Raise if the experiment must end; asks the database four times a second at most.

        Raises:
            TurnInterrupted: the server ends.
            TurnCancelled: somebody stopped or removed the experiment.
        """
        if shutdown.remaining_seconds() is not None:
            raise TurnInterrupted("The server was stopped while this ran.")
        if not self._is_stopped and time.monotonic() - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = time.monotonic()
            self._is_stopped = not is_wanted(self._experiment, self.tried_count)
        if self._is_stopped:
            raise TurnCancelled("The experiment was stopped.")

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place among the turns that run at once, for which this waits; turns go first.

        Raises:
            TurnInterrupted, TurnCancelled: as for `look`.
        """
        self._pacer.pause()
        with running_turns.place() as take_place:
            while True:
                self.look()
                try:
                    take_place()
                except Unavailable:
                    time.sleep(_FULL_SECONDS)
                else:
                    break
            yield


def run_experiment(experiment: Experiment) -> None:
    """Run what waits of an experiment and close it, however it ends.

    Effects: rows and traces of its trials; `experiment.progressed`.
    """
    watch = Watch(experiment)
    try:
        result = _RUNS[experiment.kind](experiment, watch)
    except TurnCancelled:
        end_experiment(experiment, Status.CANCELLED, tried_count=watch.tried_count)
    except TurnInterrupted:
        end_experiment(experiment, Status.INTERRUPTED, tried_count=watch.tried_count, error=INTERRUPTED)
    except Exception as defect:
        error = as_unavailable(defect)
        if not isinstance(error, MRPError):
            logger.error("experiment %s failed on a defect", experiment.experiment_id, exc_info=defect)
            error = MRPError(f"The server has a defect ({type(defect).__name__}).")
        end_experiment(experiment, Status.FAILED, tried_count=watch.tried_count, error=error.as_record())
    else:
        end_experiment(experiment, Status.FINISHED, tried_count=watch.tried_count, result=result)


def asked_turn(experiment: Experiment) -> RecordedTurn:
    """Return what the experiment's trials run over.

    Raises:
        Conflict: as for `recorded_turn`.
        MRPError: as for `unsent_turn`.
    """
    if experiment.turn is None:
        return unsent_turn(experiment.session, experiment.message)
    return recorded_turn(experiment.turn)


def changes_of_record(record: Mapping[str, Any]) -> Changes:
    """Return changes as `Changes.as_record` gave them."""
    return from_wire(Changes, record)


def _run_trials(experiment: Experiment, watch: Watch) -> Result | None:
    recorded = asked_turn(experiment)
    for trial in experiment.trials.filter(status=Trial.Status.WAITING).order_by("position"):
        with watch.place():
            try:
                changes = changes_of_record(trial.changes)
                check_changes(changes)
                outcome = run_trial(recorded, changes, watch.look)
            except (TurnCancelled, TurnInterrupted):
                raise
            except MRPError as refused:
                trial.status, trial.error = Trial.Status.REFUSED, refused.as_record()
                trial.save()
                continue
            watch.look()
            store_trial(trial, recorded, outcome)
        watch.tried_count += 1
    return None


def _run_diagnosis(experiment: Experiment, watch: Watch) -> Result:
    started = time.monotonic()

    def came_to(result: str, **more: Any) -> Result:
        return {"result": result, **more, "duration_ms": round((time.monotonic() - started) * 1000)}

    recorded = asked_turn(experiment)
    expected, bounds = from_wire(Expectation, experiment.question), from_wire(Bounds, experiment.question)
    if experiment.turn is not None:
        with watch.place():
            replayed = replay(experiment.turn)
        if replayed.divergence is not None:
            return came_to("diverged", divergence=divergence_record(replayed.divergence))
        if expected.is_stated and expected.is_met(answer_of(experiment.turn)):
            return came_to("met")
    search = Search(recorded, expected, bounds, watch.look, watch.place)
    stored: dict[int, Trial] = {}

    def keep_rest() -> None:
        rest = [
            fill_trial(Trial(experiment=experiment, position=position), recorded, outcome)
            for position, outcome in enumerate(search.tried, start=1)
            if position not in stored
        ]
        store_without_traces(rest)

    try:
        for finding in search.run():
            position = _position(search.tried, finding.outcome)
            trial = stored.setdefault(position, Trial(experiment=experiment, position=position))
            trial.findings = [*trial.findings, finding_record(finding)]
            if trial.pk is None:
                store_trial(trial, recorded, finding.outcome)
            else:
                trial.save(update_fields=["findings"])
            watch.tried_count = len(search.tried)
    finally:
        watch.tried_count = len(search.tried)
        keep_rest()
    return came_to("found" if search.findings else "nothing-found", not_tried=list(search.not_tried))


def _position(tried: list[TrialOutcome], outcome: TrialOutcome) -> int:
    return next(position for position, other in enumerate(tried, start=1) if other is outcome)


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as it is stored with its trial."""
    return {
        "kind": finding.kind,
        "text": finding.text,
        "advice": finding.advice,
        "before": finding.before,
        "meets": finding.meets,
        "weight": finding.weight,
        "links": to_wire(finding.links),
    }


def divergence_record(divergence: Divergence) -> dict[str, Any]:
    """Return where a replay left its record."""
    difference = divergence.difference
    return {
        "reason": divergence.reason,
        "detail": divergence.detail,
        "part": difference.part,
        "name": difference.name,
        "frame_id": difference.frame_id,
        "execution_id": difference.execution_id,
        "recorded": difference.recorded,
        "replayed": difference.replayed,
    }


def _run_bisect(experiment: Experiment, watch: Watch) -> Result:
    recorded = asked_turn(experiment)
    kb_id = experiment.question.get("kbId")
    if kb_id:
        moments = moments_of_base(recorded, KnowledgeBase.objects.get(project=experiment.project, kb_id=kb_id))
    elif experiment.turn is not None:
        moments = moments_of_session(experiment.turn)
    else:
        moments = []
    numbers: dict[int, int] = {}

    def keep(step: Step) -> None:
        watch.tried_count += 1
        numbers[step.moment.number] = watch.tried_count
        trial = Trial(experiment=experiment, position=watch.tried_count)
        trial.findings = [{"kind": "moment", "number": step.moment.number, "is_as_last": step.is_as_last}]
        store_trial(trial, step.recorded, step.outcome)

    expected = from_wire(Expectation, experiment.question)
    with watch.place():
        found = bisect(moments, expected, Changes(), keep, watch.look)
    after = found.first.moment.after if found.first else None
    return {
        "result": found.result,
        "over": "base" if kb_id else "session",
        "number": found.first.moment.number if found.first else None,
        "request_id": after.request_id if after else None,
        "message": after.user_message if after else "",
        "told": told_by(after) if after else [],
        "before": found.before.outcome.answer if found.before else "",
        "after": found.first.outcome.answer if found.first else found.steps[-1].outcome.answer,
        "moment_count": len(moments),
        "is_monotonous": found.is_monotonous,
        "changes": list(found.changes),
    }


_RUNS: Mapping[str, Callable[[Experiment, Watch], Result | None]] = {
    Experiment.Kind.TRIALS: _run_trials,
    Experiment.Kind.DIAGNOSIS: _run_diagnosis,
    Experiment.Kind.BISECT: _run_bisect,
}
