"""Suites of tests: made, filled, run, compared. Runs are experiments: by their id they are followed and stopped."""

from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.experiments.suites import (
    add_test,
    change_test,
    create_suite,
    delete_suite,
    order_tests,
    remove_test,
    rename_suite,
)
from sessions_app.api.experiments import suite_responses
from sessions_app.api.experiments.endpoints import ExperimentView
from sessions_app.api.experiments.records import trial_record
from sessions_app.api.experiments.suite_requests import (
    BaseTestsRequest,
    RunQuery,
    RunRequest,
    SuiteFileRequest,
    SuitePatchRequest,
    SuiteRequest,
    TestPatchRequest,
    TestRequest,
)
from sessions_app.api.experiments.suite_responses import (
    BaseRun,
    DifferenceObject,
    ListedRun,
    RunObject,
    SuiteObject,
    TestObject,
)
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import PageQuery, SeveralTurns
from sessions_app.api.turns.listing import turns_meant
from sessions_app.experiments.suites.documents import (
    document_of,
    fields_given,
    run_target_of,
    stored_fields,
    target_document,
    target_for,
)
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.suites.suite_files import exported_suite, import_suite
from sessions_app.experiments.suites.suites import check_test, keep_turns, start_base_tests, start_run
from sessions_app.models import Suite, SuiteRun, TestCase
from sessions_app.queries.experiments import suites
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.paging import cursor_number, page


class SuiteView(ExperimentView):
    """What endpoints of suites share: editors write, viewers read."""

    write_role = "editor"


def listed_run(run: SuiteRun) -> ListedRun:
    """Return a run as it is in lists."""
    experiment = run.experiment
    return {
        "run_id": experiment.experiment_id,
        "status": experiment.status,
        "target": target_document(Target.of_record(run.target)),
        "counts": {
            "passed": run.passed_count,  # type: ignore[attr-defined]
            "failed": run.failed_count,  # type: ignore[attr-defined]
            "error": run.error_count,  # type: ignore[attr-defined]
            "waiting": run.waiting_count,  # type: ignore[attr-defined]
        },
        "created_by": experiment.created_by_name,
        "created_at": experiment.created_at,
        "finished_at": experiment.finished_at,
        "error": experiment.error,
    }


def run_record(run: SuiteRun, against: SuiteRun | None) -> RunObject:
    """Return a run with its results, and what has changed since another one."""
    return {
        **listed_run(run),
        "results": [
            {
                "test_id": result.test.test_id if result.test else None,
                "name": result.name,
                "outcome": result.outcome,
                "failures": result.failures,
                "verdict": result.verdict,
                "breaks": result.breaks,
                "trial": trial_record(result.trial),
            }
            for result in suites.results(run)
        ],
        "difference": None if against is None else _difference(against, run),
    }


def _difference(against: SuiteRun, run: SuiteRun) -> DifferenceObject:
    difference = suites.difference(against, run)
    return {
        "against": against.experiment.experiment_id,
        "fixed": list(difference.fixed),
        "broken": list(difference.broken),
        "same": difference.same_count,
    }


def record_of(test: TestCase) -> TestObject:
    return {"test_id": test.test_id, **document_of(test)}


def suite_record(suite: Suite) -> SuiteObject:
    """Return a suite with its tests."""
    return {
        "suite_id": suite.suite_id,
        "name": suite.name,
        "created_by": suite.created_by_name,
        "created_at": suite.created_at,
        "tests": [record_of(test) for test in suites.tests_of(suite)],
    }


class Suites(SuiteView):
    @schemas.suite_list
    def get(self, request: Request) -> Response:
        """List suites by name."""
        return Response(
            {
                "suites": [
                    {
                        "suite_id": listed.suite.suite_id,
                        "name": listed.suite.name,
                        "test_count": listed.test_count,
                        "created_by": listed.suite.created_by_name,
                        "created_at": listed.suite.created_at,
                        "last_run": listed_run(listed.last_run) if listed.last_run else None,
                    }
                    for listed in suites.listed_suites(self.project)
                ]
            }
        )

    @schemas.suite_create
    def post(self, request: Request) -> Response:
        """Make an empty suite."""
        suite = create_suite(self.project, self.body(SuiteRequest)["name"], self.author)
        return Response(suite_record(suite), status=201)


class SuiteImport(SuiteView):
    """A suite from a file."""

    @schemas.suite_import
    def post(self, request: Request) -> Response:
        """Make a suite as a file gives it, or replace the tests of the one with its name."""
        body = self.body(SuiteFileRequest)
        suite = import_suite(self.project, body["content"], self.author, name=body.get("name"))
        return Response(suite_record(suite), status=201)


class OneSuite(SuiteView):
    @schemas.suite_read
    def get(self, request: Request, suite_id: str) -> Response:
        """Read it with its tests."""
        return Response(suite_record(suites.suite(self.project, suite_id)))

    @schemas.suite_change
    def patch(self, request: Request, suite_id: str) -> Response:
        """Rename it, put its tests in another order."""
        suite, body = suites.suite(self.project, suite_id), self.body(SuitePatchRequest)
        if "name" in body:
            rename_suite(suite, body["name"])
        if "order" in body:
            order_tests(suite, body["order"])
        return Response(suite_record(suite))

    @schemas.suite_delete
    def delete(self, request: Request, suite_id: str) -> Response:
        """Delete the suite with its tests and runs; idempotent."""
        with suppress(NotFound):
            delete_suite(suites.suite(self.project, suite_id))
        return Response(status=204)


class SuiteExport(SuiteView):
    """A suite as a file."""

    @schemas.suite_export
    def get(self, request: Request, suite_id: str) -> Response:
        """Read its YAML form, the same for the same tests."""
        suite = suites.suite(self.project, suite_id)
        return Response({"name": suite.name, "content": exported_suite(suite)})


class Tests(SuiteView):
    """Tests of a suite."""

    @schemas.test_add
    def post(self, request: Request, suite_id: str) -> Response:
        """Add a test: of a turn as it was answered, or of a base."""
        suite = suites.suite(self.project, suite_id)
        fields = fields_given(self.project, self.body(TestRequest))
        check_test(fields)
        return Response(record_of(add_test(suite, fields, self.author)), status=201)


class KeepTurns(SuiteView):
    """Turns that become tests."""

    @schemas.tests_keep
    def post(self, request: Request, suite_id: str) -> Response:
        """Keep several turns as they were answered."""
        suite = suites.suite(self.project, suite_id)
        kept = keep_turns(suite, turns_meant(self.project, self.body(SeveralTurns)), self.author)
        refused = [{"request_id": turn.request_id, "reason": reason} for turn, reason in kept.refused]
        return Response({"tests": [record_of(test) for test in kept.tests], "refused": refused}, status=201)


class OneTest(SuiteView):
    @schemas.test_change
    def patch(self, request: Request, suite_id: str, test_id: str) -> Response:
        """Replace the fields that are named."""
        test = suites.one_test(suites.suite(self.project, suite_id), test_id)
        fields = fields_given(self.project, self.body(TestPatchRequest), stored_fields(test))
        check_test(fields)
        return Response(record_of(change_test(test, fields)))

    @schemas.test_delete
    def delete(self, request: Request, suite_id: str, test_id: str) -> Response:
        """Remove it; earlier runs keep its results. A test that does not exist counts as removed."""
        with suppress(NotFound):
            remove_test(suites.one_test(suites.suite(self.project, suite_id), test_id))
        return Response(status=204)


class TestsOfBase(SuiteView):
    """The tests of a knowledge base, before it is given another state."""

    write_role = "viewer"

    @schemas.kb_tests
    def post(self, request: Request, kb_id: str) -> Response:
        """Run them against what a save would make, or against a revision."""
        base, body = knowledge_base(self.project, kb_id), self.body(BaseTestsRequest)
        target = target_for(base, body)
        runs = start_base_tests(base, target, self.author, wait_ms=body["wait_ms"])
        counted_runs = suites.runs_named(self.project, [run.experiment.experiment_id for run in runs])
        listed: list[BaseRun] = [
            {
                **listed_run(run),
                "suite_id": run.suite.suite_id,
                "name": run.suite.name,
                "breaks": suites.broken_by(run),
            }
            for run in counted_runs
        ]
        counts = [row["counts"] for row in listed]
        counted: suite_responses.BaseTests = {
            "tests": sum(each["passed"] + each["failed"] + each["error"] + each["waiting"] for each in counts),
            "breaks": sum(len(row["breaks"]) for row in listed),
            "runs": listed,
        }
        return Response(counted, status=201)


class Runs(SuiteView):
    write_role = "viewer"

    @schemas.run_list
    def get(self, request: Request, suite_id: str) -> Response:
        """List runs, the newest first."""
        query, suite = self.parameters(PageQuery), suites.suite(self.project, suite_id)
        shown = page(suites.runs(suite), [("-id", cursor_number)], query["limit"], query.get("cursor"))
        return self.listed("runs", shown, listed_run)

    @schemas.run_start
    def post(self, request: Request, suite_id: str) -> Response:
        """Run the suite against a target."""
        suite, body = suites.suite(self.project, suite_id), self.body(RunRequest)
        self.check_may_ask(body)
        made = start_run(suite, run_target_of(body), self.author, wait_ms=body["wait_ms"])
        run = suites.run_of(suite, made.experiment.experiment_id)
        return Response(run_record(run, suites.earlier_run(run)), status=201)


class OneRun(SuiteView):
    @schemas.run_read
    def get(self, request: Request, suite_id: str, run_id: str) -> Response:
        """Read the result of each test, and the changes since another run."""
        suite, against = suites.suite(self.project, suite_id), self.parameters(RunQuery).get("against")
        run = suites.run_of(suite, run_id)
        return Response(run_record(run, suites.run_of(suite, against) if against else suites.earlier_run(run)))
