"""Tests of answers: the question, the expectations, and the results of each run."""

from django.db import models
from django.utils import timezone

from sessions_app.identifiers import new_suite_id, new_test_id
from sessions_app.models.experiments.experiment import Experiment, Trial
from sessions_app.models.fields import IdField
from sessions_app.models.knowledge.bases import KnowledgeBase
from sessions_app.models.redacted import RedactedCharField, RedactedJSONField, RedactedTextField
from sessions_app.models.sessions.session import Session
from sessions_app.models.settings.project import Project
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class Suite(models.Model):
    """Tests of a project that are run together."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="suites")
    session = models.OneToOneField(
        Session,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="suite",
        help_text="Hidden session in which tests of a base ask; empty until a run needs it.",
    )
    suite_id = IdField(unique=True, default=new_suite_id)
    name = RedactedCharField(max_length=120)
    created_by_name = models.CharField(max_length=150, help_text="Who made it, also after that user is gone.")
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
    test_id = IdField(unique=True, default=new_test_id)
    position = models.PositiveIntegerField(help_text="Order within the suite.")
    name = RedactedCharField(max_length=200)
    tags = models.JSONField(default=list, blank=True, help_text="Words by which a run chooses tests.")
    message = RedactedTextField(help_text="What the test asks.")
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Recorded turn that is run again; empty: the message is asked in a new session.",
    )
    base = models.ForeignKey(
        KnowledgeBase,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Base to ask where no turn is run again.",
    )
    revision = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: the newest.")
    choices = RedactedJSONField(
        default=dict, blank=True, help_text="What is changed of the turn or base, as by a trial."
    )
    expected = RedactedJSONField(default=dict, blank=True, help_text="Expectations.")
    created_by_name = models.CharField(max_length=150, help_text="Who made it, also after that user is gone.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["suite_id", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["suite", "name"], name="test_name_unique")]

    def __str__(self) -> str:
        return self.name


class SuiteRun(models.Model):
    """A suite run once: an experiment with a trial for each test."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="runs")
    experiment = models.OneToOneField(
        Experiment, on_delete=models.CASCADE, related_name="suite_run", help_text="Its trials, one for each test."
    )
    target = models.JSONField(
        default=dict, blank=True, help_text="What the run was made against, as `Target.as_record` returns it."
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.suite_id}"


class TestResult(models.Model):
    """The result of a test in a run."""

    __test__ = False

    class Outcome(models.TextChoices):
        """How the test came out; one that could not be run is an error."""

        WAITING = "waiting"
        PASSED = "passed"
        FAILED = "failed"
        ERROR = "error"

    run = models.ForeignKey(SuiteRun, on_delete=models.CASCADE, db_index=False, related_name="results")
    test = models.ForeignKey(
        TestCase,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="results",
        help_text="Empty once the test is deleted.",
    )
    trial = models.OneToOneField(
        Trial, on_delete=models.CASCADE, related_name="result", help_text="How the test's question was answered."
    )
    position = models.PositiveIntegerField(help_text="Order within the run.")
    name = RedactedCharField(max_length=200, help_text="Name of the test when it ran.")
    breaks = models.BooleanField(
        default=False, help_text="Fails against this draft or revision, passes on the present state of its base."
    )
    outcome = models.CharField(
        max_length=7, choices=Outcome, default=Outcome.WAITING, help_text="Whether the answer was as expected."
    )
    failures = RedactedJSONField(
        default=list,
        blank=True,
        help_text="A sentence for each expectation that was not met, with what was there instead.",
    )
    verdict = RedactedTextField(default="", blank=True, help_text="Reason of the model that judged the answer.")

    class Meta:
        ordering = ["run_id", "position"]
        constraints = [models.UniqueConstraint(fields=["run", "position"], name="result_position_unique")]

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"
