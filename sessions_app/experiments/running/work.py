"""Running an experiment: its trials one after the other, each stored when it has ended; it gives way to turns."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import replace

from django.conf import settings

from mrpvm.errors import Conflict, MRPError, TurnCancelled, TurnInterrupted, Unavailable
from mrpvm.wire import from_wire
from sessions_app.actions.experiments.experiments import INTERRUPTED, end_experiment, is_wanted, store_trials
from sessions_app.database import as_own_error
from sessions_app.experiments.diagnosis.bisect import (
    BisectStep,
    MomentSearch,
    moments_of_base,
    moments_of_session,
    told_by,
)
from sessions_app.experiments.diagnosis.search import Bounds, CauseSearch, Expectation, shows_only
from sessions_app.experiments.replays.recorded import RecordedTurn, recorded_turn
from sessions_app.experiments.replays.replay import replay
from sessions_app.experiments.replays.unsent import unsent_turn
from sessions_app.experiments.running.pool import pool
from sessions_app.experiments.running.watch import Watch
from sessions_app.experiments.suites.expected import Expected, failures_of
from sessions_app.experiments.suites.judging import Judgement, judge
from sessions_app.experiments.suites.questions import Target, answered_by, question_of
from sessions_app.experiments.trials.changes import Changes, check_changes
from sessions_app.experiments.trials.live import Allowance, LiveModel
from sessions_app.experiments.trials.results import (
    BisectResult,
    DiagnosisFound,
    DiagnosisResult,
    divergence_record,
    finding_record,
    known_record,
)
from sessions_app.experiments.trials.storing import fill_trial, store_trial
from sessions_app.experiments.trials.trial import TrialOutcome, run_trial
from sessions_app.language_model import endpoint
from sessions_app.models import Experiment, ExplainabilityTurn, TestCase, TestResult, Trial
from sessions_app.queries.experiments.suites import outcome_counts, waiting_results
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.turns.registry import answer_of, cited_unit_ids
from sessions_app.running_turns import running_turns

_FULL_SECONDS = 0.05
Status = Experiment.Status
type WorkResult = DiagnosisResult | BisectResult | Mapping[str, int]
"""The result of a search, or the number of tests of a run by outcome."""


class ExperimentWatch(Watch):
    """The watch of a running experiment: how many trials it has run, and which model these may ask."""

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(lambda: is_wanted(experiment, self.tried_count))
        self._experiment = experiment
        self._allowance = Allowance(settings.MRPVM_TRIAL_BUDGET if experiment.asks_models else 0)
        self.tried_count = experiment.tried_count

    def live_model(self) -> LiveModel | None:
        """Return the model for one trial, None where none may be asked or none is configured."""
        provider = endpoint() if self._experiment.asks_models else None
        return LiveModel(provider, self._allowance, self._experiment.project_id) if provider is not None else None

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place among the turns that run at once, for which this waits; turns go first.

        Raises:
            TurnInterrupted, TurnCancelled: as for `look`.
        """
        self.pause()
        with running_turns.place(self._experiment.project_id) as take_place:
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
    watch = ExperimentWatch(experiment)
    try:
        with pool.place(watch.look):
            result = _RUNS[experiment.kind](experiment, watch)
    except TurnCancelled:
        end_experiment(experiment, Status.CANCELLED, tried_count=watch.tried_count)
    except TurnInterrupted:
        end_experiment(experiment, Status.INTERRUPTED, tried_count=watch.tried_count, error=INTERRUPTED)
    except Exception as defect:
        error = as_own_error(defect, f"experiment {experiment.experiment_id}")
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


def _run_trials(experiment: Experiment, watch: ExperimentWatch) -> None:
    recorded = asked_turn(experiment)
    for trial in experiment.trials.filter(status=Trial.Status.WAITING).order_by("position"):
        with watch.place(), _store_refusal(trial):
            outcome = _run(recorded, from_wire(Changes, trial.changes), watch)
            store_trial(trial, recorded, outcome)
        watch.tried_count += 1


def _run(recorded: RecordedTurn, changes: Changes, watch: ExperimentWatch) -> TrialOutcome:
    check_changes(changes)
    outcome = run_trial(recorded, changes, watch.look, watch.live_model())
    watch.look()
    return outcome


@contextmanager
def _store_refusal(trial: Trial) -> Iterator[None]:
    """Store as the trial's outcome why it cannot be run."""
    try:
        yield
    except (TurnCancelled, TurnInterrupted):
        raise
    except MRPError as refused:
        trial.status, trial.error = Trial.Status.REFUSED, refused.as_record()
        trial.save()


def _run_suite(experiment: Experiment, watch: ExperimentWatch) -> Mapping[str, int]:
    target = Target.of_record(experiment.suite_run.target)
    for result in waiting_results(experiment.suite_run):
        with watch.place(), _store_refusal(result.trial):
            # Counts as an error until it has been run.
            result.outcome, result.failures = TestResult.Outcome.ERROR, []
            if result.test is None:
                raise Conflict("The test was removed before it ran.")
            recorded, changes = question_of(result.test, target, experiment.session)
            outcome = _run(recorded, changes, watch)
            expected = Expected.of_record(result.test.expected)
            failures = failures_of(expected, answered_by(outcome))
            if expected.judged is not None and not failures:
                verdict = _judged(expected.judged, outcome, watch)
                result.verdict = verdict.words
                failures = [] if verdict.holds else [f"A model judged: {verdict.words}"]
            result.outcome = TestResult.Outcome.FAILED if failures else TestResult.Outcome.PASSED
            result.failures = failures
            result.breaks = bool(failures) and target.may_come and _passes_now(result.test, target, experiment, watch)
            store_trial(result.trial, recorded, outcome)
        result.save()
        watch.tried_count += 1
    return outcome_counts(experiment.suite_run)


def _judged(criterion: str, outcome: TrialOutcome, watch: ExperimentWatch) -> Judgement:
    """Return a model's verdict on an answer.

    Raises:
        Conflict: MODEL_NOT_RECORDED, no model may be asked.
    """
    live = watch.live_model()
    if live is None:
        raise Conflict("A model has to judge this answer, and none may be asked.", code="MODEL_NOT_RECORDED")
    return judge(live, criterion, outcome.message, outcome.answer)


def _passes_now(test: TestCase, target: Target, experiment: Experiment, watch: ExperimentWatch) -> bool:
    """Return whether a test passes on the present state of its base; one that cannot be run there does not."""
    present = replace(target, base=None, revision=None, draft=None, heads=True)
    expected = Expected.of_record(test.expected)
    try:
        outcome = _run(*question_of(test, present, experiment.session), watch)
        if failures_of(expected, answered_by(outcome)):
            return False
        return expected.judged is None or _judged(expected.judged, outcome, watch).holds
    except (TurnCancelled, TurnInterrupted):
        raise
    except MRPError:
        return False


def _run_diagnosis(experiment: Experiment, watch: ExperimentWatch) -> DiagnosisResult:
    started = time.monotonic()
    recorded = asked_turn(experiment)
    expected, bounds = from_wire(Expectation, experiment.question), from_wire(Bounds, experiment.question)
    result = None if experiment.turn is None else _settled(experiment.turn, expected, watch)
    if result is None:
        search = CauseSearch(recorded, expected, bounds, watch.look, watch.place, watch.live_model)
        result = _search(experiment, search, watch)
    return {**result, "duration_ms": round((time.monotonic() - started) * 1000)}


def _settled(turn: ExplainabilityTurn, expected: Expectation, watch: ExperimentWatch) -> DiagnosisFound | None:
    """Return why nothing has to be searched: the turn comes out differently now, or answered as expected."""
    with watch.place():
        replayed = replay(turn)
    if replayed.divergence is not None:
        return {"result": "diverged", "divergence": divergence_record(replayed.divergence)}
    is_met = expected.is_stated and expected.is_met(answer_of(turn))
    is_only_shown = bool(expected.should_contain) and shows_only(turn.answer_status, cited_unit_ids(turn))
    return {"result": "met"} if is_met and not is_only_shown else None


def _search(experiment: Experiment, search: CauseSearch, watch: ExperimentWatch) -> DiagnosisFound:
    """Run a search and return what it came to; a trial that proves something is stored at once, others at its end."""
    stored: dict[int, Trial] = {}
    try:
        for finding in search.run():
            position = search.position_of(finding.outcome)
            trial = stored.setdefault(position, Trial(experiment=experiment, position=position))
            trial.findings = [*trial.findings, finding_record(finding)]
            if trial.pk is None:
                store_trial(trial, search.recorded, finding.outcome)
            else:
                trial.save(update_fields=["findings"])
            watch.tried_count = len(search.tried)
    finally:
        watch.tried_count = len(search.tried)
        store_trials(
            [
                fill_trial(Trial(experiment=experiment, position=position), search.recorded, outcome)
                for position, outcome in enumerate(search.tried, start=1)
                if position not in stored
            ]
        )
    return {
        "result": "found" if search.findings else "nothing-found",
        "known": [known_record(known) for known in search.known()] if search.expected.should_contain else None,
        "not_tried": list(search.not_tried),
        "needing_model_count": search.needing_model_count,
    }


def _run_bisect(experiment: Experiment, watch: ExperimentWatch) -> BisectResult:
    recorded = asked_turn(experiment)
    kb_id = experiment.question.get("kbId")
    if kb_id:
        moments = moments_of_base(recorded, knowledge_base(experiment.project, kb_id))
    elif experiment.turn is not None:
        moments = moments_of_session(experiment.turn)
    else:
        moments = []
    numbers: dict[int, int] = {}

    def keep(step: BisectStep) -> None:
        watch.tried_count += 1
        numbers[step.moment.number] = watch.tried_count
        trial = Trial(experiment=experiment, position=watch.tried_count)
        trial.findings = [{"kind": "moment", "number": step.moment.number, "is_as_last": step.is_as_last}]
        is_other_state = step.recorded.turn.pk != recorded.turn.pk
        outcome = replace(step.outcome, has_effect=is_other_state or step.outcome.has_effect)
        store_trial(trial, step.recorded, outcome)

    expected = from_wire(Expectation, experiment.question)
    with watch.place():
        bisected = MomentSearch(moments, expected, keep, watch.look).run()
    after = bisected.first.moment.after if bisected.first else None
    return {
        "result": bisected.result,
        "over": "base" if kb_id else "session",
        "number": bisected.first.moment.number if bisected.first else None,
        "request_id": after.request_id if after else None,
        "message": after.user_message if after else "",
        "told": told_by(after) if after else [],
        "before": bisected.before.outcome.answer if bisected.before else "",
        "after": bisected.first.outcome.answer if bisected.first else bisected.steps[-1].outcome.answer,
        "moment_count": len(moments),
        "is_monotonous": bisected.is_monotonous,
        "changes": list(bisected.changes),
    }


_RUNS: Mapping[str, Callable[[Experiment, ExperimentWatch], WorkResult | None]] = {
    Experiment.Kind.TRIALS: _run_trials,
    Experiment.Kind.DIAGNOSIS: _run_diagnosis,
    Experiment.Kind.BISECT: _run_bisect,
    Experiment.Kind.SUITE: _run_suite,
}
