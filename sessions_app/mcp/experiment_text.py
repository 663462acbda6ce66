"""Replays, experiments and suites as compact texts."""

import json
from collections.abc import Iterator

from sessions_app.experiments.replays.replay import ReplayResult
from sessions_app.experiments.suites.documents import document_of
from sessions_app.mcp.texts import line, milliseconds, moment
from sessions_app.models import Experiment, Suite, SuiteRun, TestResult, Trial
from sessions_app.queries.experiments import experiments, suites

ANSWER_CHARS, SIDE_CHARS = 1_000, 1_000
RUNS_SHOWN = 10


def replay_text(result: ReplayResult) -> str:
    """Return whether a turn came out as recorded, else where it did not and why."""
    head = f"Replay of {result.request_id}: {result.result} ({milliseconds(result.duration_ms)})"
    if result.divergence is None:
        return head
    difference = result.divergence.difference
    place = " ".join(part for part in (difference.frame_id, difference.execution_id) if part)
    return "\n".join(
        [
            head,
            f"Because: {result.divergence.reason}: {result.divergence.detail}",
            f"First difference: {difference.part} {difference.name} at {place}",
            f"  recorded: {_json(difference.recorded)}",
            f"  replayed: {_json(difference.replayed)}",
        ]
    )


def experiment_text(experiment: Experiment) -> str:
    """Return how an experiment stands: its findings, the tests of a suite's run, or its trials."""
    return "\n".join(_experiment(experiment))


def _experiment(experiment: Experiment) -> Iterator[str]:
    over = f" over {experiment.turn.request_id}" if experiment.turn else ""
    yield (
        f"Experiment {experiment.experiment_id} ({experiment.kind}){over}: {experiment.status},"
        f" tried={experiment.tried_count}"
    )
    if experiment.is_running:
        yield "It still runs; read_experiment tells how it goes on."
    if experiment.error:
        yield f"Error: {experiment.error['code']}: {experiment.error['message']}"
    if experiment.kind == Experiment.Kind.SUITE:
        for run in suites.runs_named(experiment.project, [experiment.experiment_id]):
            yield from _run(run)
    elif experiment.kind == Experiment.Kind.DIAGNOSIS:
        yield from _diagnosis(experiment)
    else:
        if experiment.result:
            yield f"Result: {_json(experiment.result)}"
        for trial in experiments.trials(experiment):
            yield from _trial(trial)


def _trial(trial: Trial) -> Iterator[str]:
    yield f"Trial {trial.position}, changed {_json(trial.changes)}"
    yield f"  {_outcome(trial)}"
    if trial.error:
        yield f"  error: {trial.error['code']}: {trial.error['message']}"
    if trial.answer:
        yield f"  answered: {line(trial.answer, ANSWER_CHARS)}"
    if trial.cited_unit_ids:
        yield f"  cites: {', '.join(map(str, trial.cited_unit_ids))}"
    if trial.trace:
        yield f"  trace: read_turn of session {trial.trace.session.session_id}, turn {trial.trace.request_id}"


def _outcome(trial: Trial) -> str:
    words = [
        trial.status,
        trial.answer_status,
        f"basis={trial.basis}" if trial.basis else "",
        "" if trial.has_effect else "the change has no effect",
        f"tokens={trial.token_count}" if trial.token_count else "",
        f"({milliseconds(trial.duration_ms)})" if trial.duration_ms is not None else "",
    ]
    return " ".join(word for word in words if word)


def _diagnosis(experiment: Experiment) -> Iterator[str]:
    result = experiment.result or {}
    if result:
        yield f"Result: {result['result']}"
    if result.get("divergence"):
        yield f"The turn does not replay: {_json(result['divergence'])}"
    for trial, finding in experiments.ranked_findings(experiment):
        yield f"Finding ({finding['kind']}{', meets what is expected' if finding['meets'] else ''}): {finding['text']}"
        yield f"  before: {line(finding['before'], ANSWER_CHARS)}"
        yield f"  after: {line(trial.answer, ANSWER_CHARS) or 'nothing'}"
        if finding["advice"]:
            yield f"  advice: {finding['advice']}"
        yield f"  proved by trial {trial.position}, changed {_json(trial.changes)}"
    if result.get("known") == []:
        yield "No statement that the turn could have found says what was expected."
    for known in result.get("known") or ():
        rank = f", rank {known['rank']}" if known["rank"] is not None else ""
        yield f"Says what was expected ({known['place']}{rank}): {known['text']}  unit {known['unit_id']}"
    if result.get("not_tried"):
        yield f"Not tried: {', '.join(result['not_tried'])}"
    if result.get("needing_model_count"):
        yield f"{result['needing_model_count']} trials needed a model: allow_model asks one."


def listed_suite_line(listed: suites.ListedSuite) -> str:
    """Return a suite on one line."""
    last = f"newest run {_run_line(listed.last_run)}" if listed.last_run else "never run"
    return f"{listed.suite.suite_id}  {listed.suite.name}  tests={listed.test_count}  {last}"


def suite_text(suite: Suite) -> str:
    """Return a suite's tests in order and its newest runs."""
    tests = [f"{test.test_id}  {_json(document_of(test), limit=2_000)}" for test in suites.tests_of(suite)]
    runs = list(suites.runs(suite)[: RUNS_SHOWN + 1])
    more = ["older runs are left out"] if len(runs) > RUNS_SHOWN else []
    return "\n".join(
        [
            f"Suite {suite.suite_id}: {suite.name}",
            f"Tests ({len(tests)}):",
            *tests,
            "Runs, the newest first:" if runs else "It was never run.",
            *map(_run_line, runs[:RUNS_SHOWN]),
            *more,
        ]
    )


def _run_line(run: SuiteRun) -> str:
    counts = " ".join(f"{each.value}={getattr(run, f'{each.value}_count')}" for each in TestResult.Outcome)
    return f"{run.experiment.experiment_id} {run.experiment.status} {counts} {moment(run.experiment.created_at)}"


def _run(run: SuiteRun) -> Iterator[str]:
    yield f"Run of {run.suite.suite_id} ({run.suite.name}): {_run_line(run)}"
    against = suites.earlier_run(run)
    if against is not None:
        difference = suites.difference(against, run)
        yield (
            f"Since {against.experiment.experiment_id}: fixed [{', '.join(difference.fixed)}],"
            f" broken [{', '.join(difference.broken)}], same {difference.same_count}"
        )
    # Those that need an action come first.
    ranked = sorted(suites.results(run), key=lambda result: result.outcome == TestResult.Outcome.PASSED)
    for result in ranked:
        yield f"{result.outcome}: {result.name}"
        yield from (f"  {failure}" for failure in result.failures)
        if result.verdict:
            yield f"  judged: {line(result.verdict)}"
        if result.outcome != TestResult.Outcome.PASSED:
            yield from (f"  {part}" for part in _trial(result.trial))


def _json(value: object, limit: int = SIDE_CHARS) -> str:
    return line(json.dumps(value, ensure_ascii=False, default=str), limit)
