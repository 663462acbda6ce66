"""Tests of answers: what is asked where, what the answer must fulfil, and what came of it in each run."""

from django.db import models
from django.utils import timezone

from sessions_app.identifiers import new_suite_id, new_test_id
from sessions_app.models.experiments.experiment import Experiment, Trial
from sessions_app.models.knowledge.bases import KnowledgeBase
from sessions_app.models.redacted import RedactedCharField, RedactedJSONField, RedactedTextField
from sessions_app.models.sessions.session import Session
from sessions_app.models.settings.project import Project
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class Suite(models.Model):
    """Tests of a project that are run together.

    `session` is an empty one of the suite's own, in which tests of a base ask. It stands in no list of sessions and is
    null until a run needs it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="suites")
    session = models.OneToOneField(Session, on_delete=models.SET_NULL, null=True, blank=True, related_name="suite")
    suite_id = models.CharField(max_length=64, unique=True, default=new_suite_id, editable=False)
    name = RedactedCharField(max_length=120)
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="suite_name_unique")]

    def __str__(self) -> str:
        return self.name


class TestCase(models.Model):
    """A message with what its answer must fulfil.

    With a `turn` the message is asked over what that turn saw; `base` is then the one that was mounted. Else it is
    asked in an empty session over `base`, as it was at `revision` or, without one, as it is when the test runs.
    `choices` are JSON as `Changes.as_record` gives them, `expected` as `Expected.as_record` does.
    """

    __test__ = False  # no class of tests for pytest

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, db_index=False, related_name="tests")
    test_id = models.CharField(max_length=64, unique=True, default=new_test_id, editable=False)
    position = models.PositiveIntegerField()
    name = RedactedCharField(max_length=200)
    tags = models.JSONField(default=list, blank=True)
    message = RedactedTextField()
    turn = models.ForeignKey(ExplainabilityTurn, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    base = models.ForeignKey(KnowledgeBase, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    revision = models.PositiveIntegerField(null=True, blank=True)
    choices = RedactedJSONField(default=dict, blank=True)
    expected = RedactedJSONField(default=dict, blank=True)
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["suite_id", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["suite", "name"], name="test_name_unique")]

    def __str__(self) -> str:
        return self.name


class SuiteRun(models.Model):
    """A suite run once: an experiment with a trial for each test. `target` is JSON as `Target.as_record` gives it."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="runs")
    experiment = models.OneToOneField(Experiment, on_delete=models.CASCADE, related_name="suite_run")
    target = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.suite_id}"


class TestResult(models.Model):
    """What came of a test in a run. `failures` are sentences: each names an expectation and what was there instead.

    The test's name stays when the test is gone. `breaks` tells of a test against a revision or draft that it passes on
    the present state of its base. `verdict` is what a model said of the answer, if it was asked.
    """

    __test__ = False

    class Outcome(models.TextChoices):
        """How the test came out; one that could not be run is an error."""

        WAITING = "waiting"
        PASSED = "passed"
        FAILED = "failed"
        ERROR = "error"

    run = models.ForeignKey(SuiteRun, on_delete=models.CASCADE, db_index=False, related_name="results")
    test = models.ForeignKey(TestCase, on_delete=models.SET_NULL, null=True, blank=True, related_name="results")
    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="result")
    position = models.PositiveIntegerField()
    name = RedactedCharField(max_length=200)
    breaks = models.BooleanField(default=False)
    outcome = models.CharField(max_length=7, choices=Outcome, default=Outcome.WAITING)
    failures = RedactedJSONField(default=list, blank=True)
    verdict = RedactedTextField(default="", blank=True)

    class Meta:
        ordering = ["run_id", "position"]
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="result_position_unique")]

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"
