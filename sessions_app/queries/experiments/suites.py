"""Suites of a project, their tests and runs, and how two runs differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count, Max, Prefetch, Q, QuerySet

from mrpvm.errors import NotFound
from sessions_app.models import KnowledgeBase, Project, Session, Suite, SuiteRun, TestCase, TestResult

RUNS_SHOWN = 12
Outcome = TestResult.Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSuite:
    """A suite with the number of its tests and its newest run, if any."""

    suite: Suite
    test_count: int
    last_run: SuiteRun | None


def listed_suites(project: Project) -> list[ListedSuite]:
    """Return the project's suites by name."""
    rows = list(project.suites.annotate(test_count=Count("tests")).order_by("name", "id"))
    newest = SuiteRun.objects.filter(suite__in=rows).values("suite").annotate(newest=Max("pk")).values("newest")
    last = {run.suite_id: run for run in _counted(SuiteRun.objects.filter(pk__in=newest))}
    return [ListedSuite(suite=each, test_count=each.test_count, last_run=last.get(each.pk)) for each in rows]


def suite(project: Project, suite_id: str) -> Suite:
    """Return one suite.

    Raises:
        NotFound: SUITE_NOT_FOUND.
    """
    row = Suite.objects.filter(project=project, suite_id=suite_id).select_related("session").first()
    if row is None:
        raise NotFound(f"There is no suite '{suite_id}'.", code="SUITE_NOT_FOUND")
    row.project = project
    return row


def suites_of(project: Project) -> Sequence[Suite]:
    """Return the project's suites by name."""
    return list(Suite.objects.filter(project=project))


def suite_named(project: Project, name: str) -> Suite | None:
    """Return the suite with this name, or None."""
    return Suite.objects.filter(project=project, name=name).select_related("project", "session").first()


def tests_of(suite: Suite) -> list[TestCase]:
    """Return the suite's tests in order, with the turn or base that each asks."""
    related = ("turn__session__project", "turn__conditions", "base")
    return list(suite.tests.select_related(*related).order_by("position", "id"))


def one_test(suite: Suite, test_id: str) -> TestCase:
    """Return one test of a suite.

    Raises:
        NotFound: TEST_NOT_FOUND.
    """
    row = suite.tests.filter(test_id=test_id).select_related("turn__session__project", "turn__conditions", "base")
    test = row.first()
    if test is None:
        raise NotFound(f"The suite has no test '{test_id}'.", code="TEST_NOT_FOUND")
    return test


def suites_using(base: KnowledgeBase) -> list[Suite]:
    """Return the suites with tests of a base, by name, each with the number of these as `test_count`."""
    rows = Suite.objects.filter(project_id=base.project_id, tests__base=base)
    return list(rows.select_related("project", "session").annotate(test_count=Count("tests")).order_by("name", "id"))


def state_of_draft(session: Session, base: KnowledgeBase, facts: Literal["with", "without", "chosen"]) -> str:
    """Return a key of the state that a save of the session would give the base; `facts` says which facts are in it."""
    return f"draft {session.session_id} {session.event_sequence} {facts} {base.revision}"


def state_of_revision(base: KnowledgeBase, revision: int) -> str:
    """Return a key of a base with an earlier revision restored now."""
    return f"revision {revision} {base.revision}"


def untested_suites(base: KnowledgeBase, state: str) -> list[str]:
    """Return the names of suites whose tests of a base were not run against a state, or failed there."""
    ended = SuiteRun.objects.filter(target__state=state, target__onlyOf=base.kb_id, experiment__status="finished")
    tested = set(ended.exclude(results__breaks=True).values_list("suite_id", flat=True))
    return [suite.name for suite in suites_using(base) if suite.pk not in tested]


def count_of_tests(base: KnowledgeBase) -> int:
    """Return how many tests ask a base."""
    return TestCase.objects.filter(base=base).count()


def runs(suite: Suite) -> QuerySet[SuiteRun]:
    """Return the suite's runs, the newest first, with the number of tests by outcome."""
    return _counted(suite.runs.all()).order_by("-id")


def _counted(rows: QuerySet[SuiteRun]) -> QuerySet[SuiteRun]:
    counts = {
        f"{outcome.value}_count": Count("results", filter=Q(results__outcome=outcome.value)) for outcome in Outcome
    }
    counts["breaks_count"] = Count("results", filter=Q(results__breaks=True))
    return rows.select_related("experiment").annotate(**counts)


def runs_named(project: Project, run_ids: Sequence[str]) -> list[SuiteRun]:
    """Return the project's runs with these experiment ids, ordered by suite name."""
    rows = SuiteRun.objects.filter(suite__project=project, experiment__experiment_id__in=run_ids)
    return list(_counted(rows).select_related("suite__project", "experiment").order_by("suite__name", "id"))


def broken_by(run: SuiteRun) -> list[str]:
    """Return the names of the tests that fail in a run and pass on the present state of their base."""
    return list(run.results.filter(breaks=True).order_by("position").values_list("name", flat=True))


def run_of(suite: Suite, run_id: str) -> SuiteRun:
    """Return one run by its experiment's id.

    Raises:
        NotFound: RUN_NOT_FOUND.
    """
    run = runs(suite).filter(experiment__experiment_id=run_id).first()
    if run is None:
        raise NotFound(f"The suite has no run '{run_id}'. It may be older than runs are kept.", code="RUN_NOT_FOUND")
    run.suite = suite
    run.experiment.project = suite.project
    return run


def results(run: SuiteRun) -> list[TestResult]:
    """Return the result of each test, in order, with its trial."""
    related = ("trial__trace__session", "test__turn__session", "test__base")
    return list(run.results.select_related(*related).order_by("position"))


def waiting_results(run: SuiteRun) -> list[TestResult]:
    """Return the results that wait, in order, with what their tests ask."""
    related = ("trial", "test__turn__session__project", "test__turn__conditions", "test__base")
    return list(run.results.filter(outcome=Outcome.WAITING).select_related(*related).order_by("position"))


def outcome_counts(run: SuiteRun) -> dict[str, int]:
    """Return the number of tests of a run by outcome."""
    counted = run.results.order_by().values_list("outcome").annotate(Count("pk"))
    return {outcome.value: 0 for outcome in Outcome} | dict(counted)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """The names of tests that pass in only one of two runs; tests that only one run has are left out."""

    fixed: Sequence[str]
    broken: Sequence[str]
    same_count: int


def difference(earlier: SuiteRun, later: SuiteRun) -> RunDifference:
    """Return the tests that pass in only one of two runs."""
    # By name: an import makes new tests under the old names.
    before = {result.name: result.outcome == Outcome.PASSED for result in earlier.results.all()}
    fixed: list[str] = []
    broken: list[str] = []
    same = 0
    for result in later.results.order_by("position"):
        passed = before.get(result.name)
        if passed is None or result.outcome == Outcome.WAITING:
            continue
        if passed == (result.outcome == Outcome.PASSED):
            same += 1
        else:
            (broken if passed else fixed).append(result.name)
    return RunDifference(fixed=fixed, broken=broken, same_count=same)


def earlier_run(run: SuiteRun) -> SuiteRun | None:
    """Return the run before this one."""
    return runs(run.suite).filter(pk__lt=run.pk).first()


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Tests against the newest runs, the oldest first: `cells` has, for each name, a result or None for each run."""

    runs: Sequence[SuiteRun]
    cells: Mapping[str, Sequence[TestResult | None]]


def matrix(suite: Suite, limit: int = RUNS_SHOWN) -> Matrix:
    """Return the outcomes of the suite's tests in its newest runs; deleted tests are last."""
    newest = list(runs(suite).prefetch_related(Prefetch("results", TestResult.objects.order_by("position")))[:limit])
    newest.reverse()
    names = dict.fromkeys(suite.tests.order_by("position", "id").values_list("name", flat=True))
    names |= dict.fromkeys(result.name for run in newest for result in run.results.all())
    results_by_run = [{result.name: result for result in run.results.all()} for run in newest]
    return Matrix(runs=newest, cells={name: [of_run.get(name) for of_run in results_by_run] for name in names})
