"""`manage.py experiment`: a recorded turn tried another way, its causes, and since when it is answered so."""

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from mrpvm.errors import MRPError
from mrpvm.preview import counted
from mrpvm.values import Selection
from sessions_app.actions.experiments.experiments import Author, cancel_experiment
from sessions_app.experiments.diagnosis.search import Bounds, Expectation
from sessions_app.experiments.running.experiments import start_bisect, start_diagnosis, start_trials
from sessions_app.experiments.trials.changes import Changes
from sessions_app.management.versions import PreparedCommand
from sessions_app.models import Experiment, ExplainabilityTurn, Project
from sessions_app.queries.experiments.experiments import ranked_findings, trials
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.settings.projects import project_named
from sessions_app.queries.turns.registry import answer_of, turn, turns

_AUTHOR = Author(name="command line")
_LOOK_SECONDS = 0.1


class Command(PreparedCommand):
    """Runs trials of a turn, or searches by them, and prints the results."""

    help = (
        "Run a recorded turn again with one thing changed, search for what its answer depends on, or since when it is"
        " what it is. Nothing of the conversation is changed; the experiment is kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the turn and what to try of it."""
        what = parser.add_subparsers(dest="what", required=True)
        attempt = what.add_parser("try", help="run it with changes")
        diagnose = what.add_parser("diagnose", help="search for what its answer depends on")
        bisect = what.add_parser("bisect", help="search for the turn, or the revision of a base, since which it is so")
        for each in (attempt, diagnose, bisect):
            each.add_argument("session", help="the session's id")
            each.add_argument("turn", help="the turn's index in the session, or its request id")
            each.add_argument("--project", help="slug of the project; the default project without it")
            each.add_argument("--json", action="store_true", help="print the trials' records in place of words")
        for each in (diagnose, bisect):
            each.add_argument("--should-contain", default="", metavar="TEXT")
            each.add_argument("--should-not-contain", default="", metavar="TEXT")
        diagnose.add_argument("--exhaustive", action="store_true", help="go on after three causes")
        bisect.add_argument("--base", metavar="ID", help="search the revisions of this base")
        attempt.add_argument("--message", help="another message")
        attempt.add_argument("--base", metavar="ID", help="another base mounted")
        attempt.add_argument("--revision", type=int, help="another revision of that base")
        attempt.add_argument("--without-unit", action="append", default=[], metavar="ID")
        attempt.add_argument("--without-source", action="append", default=[], metavar="ID")
        attempt.add_argument("--level", type=int, choices=range(4), help="deliberation level")
        for kind in ("planner", "seed-detector", "kb", "goal-solver"):
            attempt.add_argument(f"--{kind}", metavar="PLUGIN")

    def handle(self, *args: Any, what: str, **options: Any) -> None:
        """Run it to its end and print it."""
        try:
            project = project_named(options["project"])
            tried = _turn(project, options["session"], options["turn"])
            experiment = _await_end(_started(what, project, tried, options))
        except MRPError as error:
            raise CommandError(error.message) from None
        if experiment.status != Experiment.Status.FINISHED:
            message = f": {experiment.error['message']}" if experiment.error else "."
            raise CommandError(f"The experiment is {experiment.status}{message}")
        if options["json"]:
            self.stdout.write(
                json.dumps([_record(trial) for trial in trials(experiment)], ensure_ascii=False, indent=1)
            )
        else:
            self._tell(what, tried, experiment)

    def _tell(self, what: str, tried: ExplainabilityTurn, experiment: Experiment) -> None:
        self.stdout.write(f"Recorded answer: {answer_of(tried) or 'none'}")
        if what == "try":
            for trial in trials(experiment):
                answer = trial.answer or (trial.error or {}).get("message", "none")
                self.stdout.write(f"With {json.dumps(trial.changes, ensure_ascii=False)}: {answer} ({trial.status})")
        elif what == "diagnose":
            self._tell_findings(experiment)
        else:
            self._tell_moment(experiment.result or {})
        self.stdout.write(f"{counted(experiment.tried_count, 'trial')}; the experiment is {experiment.experiment_id}.")

    def _tell_findings(self, experiment: Experiment) -> None:
        findings = ranked_findings(experiment)
        for number, (trial, finding) in enumerate(findings, start=1):
            self.stdout.write(f"{number}. {finding['text']} {finding['advice']} (trial {trial.position})")
        if not findings:
            self.stdout.write(_WITHOUT_FINDINGS[str((experiment.result or {}).get("result"))])

    def _tell_moment(self, moment: dict[str, Any]) -> None:
        if moment.get("result") != "found":
            self.stdout.write(
                f"It was answered so at each of the {moment.get('moment_count', 0)} states that were seen."
            )
            return
        name = "revision" if moment["over"] == "base" else "turn"
        self.stdout.write(f"Since {name} {moment['number']}: {moment['after']}")
        self.stdout.write(f"Before: {moment['before'] or 'none'}")
        for fact in moment["told"]:
            self.stdout.write(f"It told: {fact}")
        if not moment["is_monotonous"]:
            self.stdout.write(f"It changed more than once: at {', '.join(map(str, moment['changes']))}.")


_WITHOUT_FINDINGS = {
    "met": "The answer is already what you expected.",
    "diverged": "The turn does not come out as it was recorded, so trials would prove nothing; see its replay.",
    "nothing-found": "Nothing that was tried changes the answer.",
}


def _turn(project: Project, session_id: str, name: str) -> ExplainabilityTurn:
    number = whole_number(name)
    numbered = number and turns(sessions.session(project, session_id)).filter(turn_index=number).first()
    return turn(project, session_id, numbered.request_id if numbered else name)


def _started(what: str, project: Project, tried: ExplainabilityTurn, options: dict[str, Any]) -> Experiment:
    if what == "try":
        return start_trials(tried.session, tried, [_changes(options)], _AUTHOR)
    expected = Expectation(should_contain=options["should_contain"], should_not_contain=options["should_not_contain"])
    if what == "diagnose":
        return start_diagnosis(tried, expected, Bounds(exhaustive=options["exhaustive"]), _AUTHOR)
    base = knowledge_base(project, options["base"]) if options["base"] else None
    return start_bisect(tried, expected, _AUTHOR, base)


def _await_end(experiment: Experiment) -> Experiment:
    """Return the experiment when its work has ended; stop it on an interruption."""
    try:
        while experiment.is_running:
            time.sleep(_LOOK_SECONDS)
            experiment.refresh_from_db()
    except KeyboardInterrupt:
        cancel_experiment(experiment)
        raise CommandError("Stopped. What it has tried is kept.") from None
    return experiment


def _changes(options: dict[str, Any]) -> Changes:
    return Changes(
        message=options["message"],
        base=options["base"],
        revision=options["revision"],
        without_units=tuple(options["without_unit"]),
        without_sources=tuple(options["without_source"]),
        deliberation_level=options["level"],
        pins=Selection(
            planner=options["planner"],
            seed_detector=options["seed_detector"],
            kb=options["kb"],
            goal_solver=options["goal_solver"],
        ),
    )


def _record(trial: Any) -> dict[str, Any]:
    return {
        "trial_id": trial.position,
        "changes": trial.changes,
        "status": trial.status,
        "answer": trial.answer,
        "cited_unit_ids": trial.cited_unit_ids,
        "findings": trial.findings,
    }
