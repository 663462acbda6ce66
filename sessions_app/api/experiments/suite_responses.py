"""Shapes of suites, their tests and runs."""

from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from mrpvm.errors import ErrorRecord
from sessions_app.api.experiments.responses import STATUSES, TrialObject
from sessions_app.api.shell.responses import PageObject
from sessions_app.experiments.suites.documents import ExpectDocument, TargetDocument
from sessions_app.experiments.trials.documents import ChoicesDocument
from sessions_app.field_notes import OneOf


class TestObject(TypedDict):
    """A test; either `request_id` or `kb_id` says where its message is asked, none where that was removed."""

    test_id: str
    name: str
    message: str
    session_id: NotRequired[str]
    request_id: NotRequired[str]
    kb_id: NotRequired[str]
    revision: NotRequired[int]
    choices: NotRequired[ChoicesDocument]
    expect: ExpectDocument
    tags: NotRequired[list[str]]


class RefusedTurn(TypedDict):
    """A turn that could not be kept."""

    request_id: str
    reason: str


class KeptTurns(TypedDict):
    """The results of keeping several turns."""

    tests: list[TestObject]
    refused: list[RefusedTurn]


class RunCounts(TypedDict):
    """How many tests came out how."""

    passed: int
    failed: int
    error: Annotated[int, "Those that could not be run."]
    waiting: int


class ListedRun(TypedDict):
    """A run in a list."""

    run_id: Annotated[str, "Its experiment's id: by it the run is followed, stopped and removed."]
    status: Annotated[str, OneOf(STATUSES)]
    target: Annotated[TargetDocument, "What it was run against."]
    counts: RunCounts
    created_by: str
    created_at: datetime
    finished_at: datetime | None
    error: ErrorRecord | None


class ListedSuiteObject(TypedDict):
    """A suite in a list."""

    suite_id: str
    name: str
    test_count: int
    created_by: str
    created_at: datetime
    last_run: ListedRun | None


class SuiteList(TypedDict):
    """The project's suites."""

    suites: list[ListedSuiteObject]


class SuiteObject(TypedDict):
    """A suite with its tests."""

    suite_id: str
    name: str
    created_by: str
    created_at: datetime
    tests: list[TestObject]


class RunList(PageObject):
    """A page of a suite's runs."""

    runs: list[ListedRun]


class ResultObject(TypedDict):
    """The result of a test in a run."""

    test_id: Annotated[str | None, "Null where the test was removed."]
    name: str
    outcome: Annotated[str, OneOf(("waiting", "passed", "failed", "error"))]
    failures: list[str]
    verdict: Annotated[str, "What a model said of the answer, if it was asked."]
    breaks: Annotated[bool, "It fails on the state that was tried and passes on the present one."]
    trial: TrialObject


class BaseRun(ListedRun):
    """A run of the tests of one base in a suite."""

    suite_id: str
    name: Annotated[str, "The suite's."]
    breaks: list[str]


class BaseTests(TypedDict):
    """What the tests of a base say of a state that it may be given."""

    tests: int
    breaks: Annotated[int, "Tests that fail there and pass on the present state."]
    runs: list[BaseRun]


class DifferenceObject(TypedDict):
    """What has changed since another run, by names of tests."""

    against: str
    fixed: list[str]
    broken: list[str]
    same: int


class RunObject(ListedRun):
    """A run with its results in order."""

    results: list[ResultObject]
    difference: Annotated[DifferenceObject | None, "Against the run before, or the one that was asked for."]


class SuiteFile(TypedDict):
    """A suite in its YAML form."""

    name: str
    content: str
