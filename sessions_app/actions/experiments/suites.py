"""Create, change and delete suites and their tests, and start runs. `sessions_app.experiments` carries the runs out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.experiments.experiments import MOST_TRIALS, Author, begin_experiment, delete_experiment
from sessions_app.actions.sessions.session import create_session, delete_session
from sessions_app.actions.settings.audit import record
from sessions_app.exclusive import wait_for_turn
from sessions_app.models import (
    AuditKind,
    Experiment,
    ExplainabilityTurn,
    KnowledgeBase,
    Project,
    Session,
    Suite,
    SuiteRun,
    TestCase,
    TestResult,
)

MOST_SUITES, MOST_TESTS = 200, MOST_TRIALS
"""Suites of a project, tests of a suite."""
NAME_CHARS, TEST_NAME_CHARS = 120, 200
MOST_TAGS, TAG_CHARS = 20, 40
_NAMES_RECORDED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFields:
    """The fields of a test; see `TestCase`."""

    __test__ = False  # tells pytest that this is not a test class

    name: str
    message: str
    turn: ExplainabilityTurn | None = None
    base: KnowledgeBase | None = None
    revision: int | None = None
    choices: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Any] = field(default_factory=dict)
    tags: Sequence[str] = ()


def create_suite(project: Project, name: str, author: Author) -> Suite:
    """Return a new, empty suite.

    Raises:
        InvalidInput: a bad name.
        Conflict: SUITE_EXISTS; the project has too many.
    """
    checked = _name(name, NAME_CHARS)
    try:
        with transaction.atomic():
            wait_for_turn(f"suites-{project.pk}")
            if project.suites.count() >= MOST_SUITES:
                raise Conflict(f"A project has at most {MOST_SUITES} suites.")
            suite = Suite.objects.create(project=project, name=checked, created_by_name=author.name[:150])
            _record(AuditKind.SUITE_CREATED, suite)
            return suite
    except IntegrityError:
        raise _suite_exists(checked) from None


def rename_suite(suite: Suite, name: str) -> None:
    """Rename a suite.

    Raises:
        InvalidInput: a bad name.
        Conflict: SUITE_EXISTS.
    """
    suite.name = _name(name, NAME_CHARS)
    try:
        with transaction.atomic():
            suite.save(update_fields=["name"])
            _record(AuditKind.SUITE_RENAMED, suite)
    except IntegrityError:
        raise _suite_exists(suite.name) from None


def record_suite_export(suite: Suite) -> None:
    """Add an entry to the audit log about a file that was made of a suite."""
    _record(AuditKind.EXPORTED, suite, form="suite")


def _record(kind: AuditKind, suite: Suite, **facts: Any) -> None:
    record(kind, suite.project_id, f"suite “{suite.name}” ({suite.suite_id})", **facts)


def _suite_exists(name: str) -> Conflict:
    return Conflict(f"There is a suite '{name}' already.", code="SUITE_EXISTS")


def _name(name: str, most: int) -> str:
    checked = " ".join(name.split())
    if not checked or len(checked) > most:
        raise InvalidInput(f"A name has 1 to {most} characters.")
    return checked


def delete_suite(suite: Suite) -> None:
    """Remove a suite with its tests, runs and their traces; a current run ends within a second."""
    for run in suite.runs.select_related("experiment"):
        delete_experiment(run.experiment)
    with transaction.atomic():
        _record(AuditKind.SUITE_DELETED, suite, test_count=suite.tests.count())
        Suite.objects.filter(pk=suite.pk).delete()
        if suite.session is not None:
            delete_session(suite.session)


def add_test(suite: Suite, fields: TestFields, author: Author) -> TestCase:
    """Add a test at the end of the suite and return it.

    Raises:
        InvalidInput: a bad name, message or tags; neither a turn nor a base.
        Conflict: TEST_EXISTS; the suite has too many.
    """
    return add_tests(suite, [fields], author)[0]


@transaction.atomic
def add_tests(suite: Suite, several: Sequence[TestFields], author: Author) -> list[TestCase]:
    """Add tests at the end of the suite, all or none, and return them in this order.

    Raises:
        InvalidInput, Conflict: as for `add_test`.
    """
    locked = Suite.objects.select_for_update().get(pk=suite.pk)
    count = locked.tests.count()
    if count + len(several) > MOST_TESTS:
        raise Conflict(f"A suite has at most {MOST_TESTS} tests; this one has {count}.")
    _record(
        AuditKind.TESTS_ADDED,
        suite,
        names=[fields.name[:TEST_NAME_CHARS] for fields in several[:_NAMES_RECORDED]],
        test_count=len(several),
    )
    last = locked.tests.aggregate(last=Max("position"))["last"] or 0
    return [
        _save(TestCase(suite=locked, position=place, created_by_name=author.name[:150]), fields)
        for place, fields in enumerate(several, start=last + 1)
    ]


@transaction.atomic
def change_test(test: TestCase, fields: TestFields) -> TestCase:
    """Return the test with all its fields replaced.

    Raises:
        InvalidInput, Conflict: as for `add_test`.
    """
    changed = _save(TestCase.objects.select_for_update().get(pk=test.pk), fields)
    _record(AuditKind.TEST_CHANGED, changed.suite, test=changed.name)
    return changed


def _save(test: TestCase, fields: TestFields) -> TestCase:
    test.name = _name(fields.name, TEST_NAME_CHARS)
    if not fields.message.strip():
        raise InvalidInput("The message is empty.", code="INVALID_CONTENT")
    if fields.turn is None and fields.base is None:
        raise InvalidInput("A test asks over what a turn saw, or a knowledge base: name one.")
    if fields.revision is not None and fields.base is None:
        raise InvalidInput("A revision needs its base.")
    tags = list(dict.fromkeys(" ".join(tag.split()) for tag in fields.tags))
    if len(tags) > MOST_TAGS or not all(0 < len(tag) <= TAG_CHARS for tag in tags):
        raise InvalidInput(f"A test has at most {MOST_TAGS} tags of 1 to {TAG_CHARS} characters.")
    test.message, test.turn, test.base, test.revision = fields.message, fields.turn, fields.base, fields.revision
    test.choices, test.expected, test.tags = dict(fields.choices), dict(fields.expected), tags
    taken = TestCase.objects.filter(suite=test.suite, name=test.name).exclude(pk=test.pk)
    if taken.exists():
        raise Conflict(f"The suite has a test '{test.name}' already.", code="TEST_EXISTS")
    test.save()
    return test


def remove_test(test: TestCase) -> None:
    """Remove a test; its results in earlier runs stay."""
    with transaction.atomic():
        _record(AuditKind.TEST_REMOVED, test.suite, test=test.name)
        test.delete()


@transaction.atomic
def order_tests(suite: Suite, test_ids: Sequence[str]) -> None:
    """Put the named tests first, in this order; the others follow in their present order."""
    wanted = {test_id: place for place, test_id in enumerate(test_ids)}
    tests = list(suite.tests.select_for_update().order_by("position", "id"))
    tests.sort(key=lambda test: wanted.get(test.test_id, len(wanted)))
    for place, test in enumerate(tests, start=1):
        test.position = place
    TestCase.objects.bulk_update(tests, ["position"])
    _record(AuditKind.TESTS_ORDERED, suite)


def begin_run(
    suite: Suite, tests: Sequence[TestCase], target: Mapping[str, Any], author: Author, *, asks_models: bool = False
) -> SuiteRun:
    """Return a new run of these tests, all of them waiting.

    Effects: the suite's own session if it has none; experiment, run, and a trial and result for each test.
    """
    session = _ensure_session(suite)
    with transaction.atomic():
        experiment = begin_experiment(
            session,
            None,
            Experiment.Kind.SUITE,
            author,
            message=suite.name,
            changes=[{} for _ in tests],
            asks_models=asks_models,
        )
        run = SuiteRun.objects.create(suite=suite, experiment=experiment, target=dict(target))
        trials = experiment.trials.order_by("position")
        TestResult.objects.bulk_create(
            TestResult(run=run, test=test, trial=trial, position=trial.position, name=test.name)
            for test, trial in zip(tests, trials, strict=True)
        )
    return run


def _ensure_session(suite: Suite) -> Session:
    if suite.session is not None and suite.session.deleted_at is None:
        return suite.session
    with transaction.atomic():
        locked = Suite.objects.select_for_update().get(pk=suite.pk)
        if locked.session is None or locked.session.deleted_at is not None:
            locked.session = create_session(suite.project, title=f"Tests: {suite.name}")
            locked.save(update_fields=["session"])
    suite.session = locked.session
    return locked.session
