"""The contexts of suite pages: a run with its results, the matrix of runs, the name of a target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from sessions_app.experiments.suites.questions import Target
from sessions_app.models import Project, Suite, SuiteRun, TestResult
from sessions_app.queries.experiments import suites
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.web.experiments.described import described
from sessions_app.web.turns.graph.status import Tone, duration_badge

TONES = {"passed": Tone.OK, "failed": Tone.ERROR, "error": Tone.WARN, "waiting": Tone.ACTIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A test in a run, with the address of its trial."""

    result: TestResult
    tone: Tone
    changes: Sequence[str]
    failures: Sequence[str]
    answer: str
    duration: str
    url: str
    compare_url: str

    @property
    def name(self) -> str:
        """Return the name of the trial in links."""
        return f"the trial of {self.result.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A test in the newest runs: for each run the colour, outcome and address of its result."""

    name: str
    cells: Sequence[tuple[Tone | None, str, str]]


def run_context(run: SuiteRun) -> dict[str, Any]:
    """Return what the page of a run shows."""
    results = suites.results(run)
    words = described(run.experiment, [result.trial for result in results])
    earlier = suites.earlier_run(run)
    return {
        "suite": run.suite,
        "run": run,
        "experiment": run.experiment,
        "target": target_words(run),
        "rows": [_row(result, words[result.trial.position]) for result in results],
        "earlier": earlier,
        "difference": suites.difference(earlier, run) if earlier is not None else None,
        "total": len(results),
    }


def _row(result: TestResult, changes: Sequence[str]) -> ResultRow:
    trial = result.trial
    url = compare_url = ""
    if trial.trace is not None:
        address = [trial.trace.session.session_id, trial.trace.request_id]
        url = reverse("turn", args=address)
        compare_url = reverse("turn-compare", args=address) if trial.turn_id is not None else ""
    refused = (trial.error or {}).get("message", "")
    return ResultRow(
        result=result,
        tone=TONES[result.outcome],
        changes=changes,
        failures=result.failures or ([refused] if result.outcome == "error" and refused else []),
        answer=trial.answer,
        duration=duration_badge(trial.duration_ms) if trial.duration_ms is not None else "",
        url=url,
        compare_url=compare_url,
    )


def base_context(project: Project, run_ids: Sequence[str]) -> dict[str, Any]:
    """Return the results of several suites for a proposed state of a base."""
    runs = suites.runs_named(project, run_ids)
    counts = [sum(getattr(run, f"{each.value}_count") for each in TestResult.Outcome) for run in runs]
    broken = [suites.broken_by(run) for run in runs]
    return {
        "runs": list(zip(runs, counts, broken, strict=True)),
        "is_running": any(run.experiment.is_running for run in runs),
        "test_count": sum(counts),
        "breaks_count": sum(map(len, broken)),
        "error_count": sum(getattr(run, "error_count", 0) for run in runs),
        "target": Target.of_record(runs[0].target) if runs else Target(),
        "state": target_words(runs[0]) if runs else "",
    }


def target_words(run: SuiteRun) -> str:
    """Return the target of a run as a phrase."""
    target = Target.of_record(run.target)
    if target.draft is not None:
        place = "what a save would make"
    elif target.base is not None:
        name = dict(knowledge_bases(run.suite.project).values_list("kb_id", "name")).get(target.base, target.base)
        place = f"{name}, revision {target.revision}" if target.revision else name
    else:
        place = "the bases as they are" if target.heads else "where each was kept"
    pins = target.choices.pins
    chosen = [plugin for plugin in (pins.seed_detector, pins.planner, pins.kb, pins.goal_solver) if plugin]
    if target.choices.model:
        chosen.append(target.choices.model)
    if target.choices.deliberation_level is not None:
        chosen.append(f"level {target.choices.deliberation_level}")
    return ", ".join([place, *chosen, *(f"#{tag}" for tag in target.tags)])


def matrix_context(suite: Suite) -> dict[str, Any]:
    """Return the matrix of a suite's newest runs."""
    matrix = suites.matrix(suite)
    addresses = [reverse("suite-run", args=[suite.suite_id, run.experiment.experiment_id]) for run in matrix.runs]
    rows = [
        MatrixRow(
            name=name,
            cells=[
                (TONES[result.outcome], result.outcome, f"{url}#result-{result.position}") if result else (None, "", "")
                for result, url in zip(cells, addresses, strict=True)
            ],
        )
        for name, cells in matrix.cells.items()
    ]
    for run in matrix.runs:
        run.suite = suite
    heads = [(run, url, target_words(run)) for run, url in zip(matrix.runs, addresses, strict=True)]
    return {"matrix_runs": heads, "matrix_rows": rows}
