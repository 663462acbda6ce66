"""Experiments: trials of a recorded turn and their results."""

from django.db import models

from sessions_app.identifiers import new_experiment_id
from sessions_app.models.experiments.authored import Authored
from sessions_app.models.fields import IdField
from sessions_app.models.redacted import RedactedJSONField, RedactedTextField
from sessions_app.models.sessions.session import Session
from sessions_app.models.settings.project import Project
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class Experiment(Authored):
    """A number of trials over one turn, chosen by a person or by a search, or one for each test of a suite.

    Without a `turn` the `message` is asked of the session as it is when each trial runs.
    """

    class Kind(models.TextChoices):
        """Who chooses the trials: a person, the search for causes, the search through time, or a suite of tests."""

        TRIALS = "trials"
        DIAGNOSIS = "diagnosis"
        BISECT = "bisect"
        SUITE = "suite"

    class Status(models.TextChoices):
        """How the experiment stands."""

        RUNNING = "running"
        FINISHED = "finished"
        FAILED = "failed"
        CANCELLED = "cancelled"
        INTERRUPTED = "interrupted"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="experiments")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="experiments")
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="experiments",
        help_text="Recorded turn that is run again; empty for a message of its own, or a suite.",
    )
    experiment_id = IdField(unique=True, default=new_experiment_id)
    kind = models.CharField(max_length=9, choices=Kind, help_text="Who chooses the trials.")
    status = models.CharField(max_length=11, choices=Status, default=Status.RUNNING)
    message = RedactedTextField(
        default="",
        blank=True,
        help_text="Message of trials without a recorded turn; the suite's name for a run of one.",
    )
    question = RedactedJSONField(default=dict, blank=True, help_text="Expectation and bounds of a search.")
    result = RedactedJSONField(null=True, blank=True, help_text="Result of a search, or how many tests came out how.")
    error = RedactedJSONField(null=True, blank=True, help_text="Why it failed; empty otherwise.")
    tried_count = models.PositiveIntegerField(default=0, help_text="Trials run so far.")
    asks_models = models.BooleanField(default=False, help_text="Whether trials may send new requests to a model.")
    finished_at = models.DateTimeField(null=True, blank=True, help_text="Empty while it runs.")
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="A running experiment counts as abandoned after this time."
    )
    cancel_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="When somebody asked to stop it; empty: nobody did."
    )

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "-id"], name="experiment_of_project"),
            models.Index(fields=["created_at"], name="experiment_by_time"),
            models.Index(fields=["lease_until"], condition=models.Q(status="running"), name="experiment_lease"),
        ]

    def __str__(self) -> str:
        return self.experiment_id

    @property
    def is_running(self) -> bool:
        """Return whether it has not ended yet."""
        return self.status == self.Status.RUNNING


class Trial(models.Model):
    """A recorded turn run again with changes, and its result."""

    class Status(models.TextChoices):
        """How the trial stands."""

        WAITING = "waiting"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        NEEDS_MODEL = "needs-model"
        REFUSED = "refused"
        CANCELLED = "cancelled"
        INTERRUPTED = "interrupted"

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, db_index=False, related_name="trials")
    position = models.PositiveIntegerField(help_text="Number within the experiment.")
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="The turn whose view it ran over.",
    )
    changes = RedactedJSONField(
        default=dict, blank=True, help_text="What differs from the recorded turn, as `Changes.as_record` returns it."
    )
    status = models.CharField(max_length=11, choices=Status, default=Status.WAITING)
    answer = RedactedTextField(
        default="", blank=True, help_text="Empty until the trial has ended, and where it gave none."
    )
    answer_status = models.CharField(
        max_length=12, default="", blank=True, help_text="Empty until the trial has ended."
    )
    basis = models.CharField(max_length=8, default="", blank=True, help_text="What the answer rests on.")
    cited_unit_ids = models.JSONField(default=list, blank=True, help_text="Ids of the units that the answer cites.")
    plugins = models.JSONField(default=dict, blank=True, help_text="Plugins that answered, by stage.")
    token_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="Input and output tokens; empty without a model call."
    )
    cost = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="In the currency of the model's price; empty without a price.",
    )
    duration_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="Milliseconds; empty until the trial has ended."
    )
    has_effect = models.BooleanField(
        default=True, help_text="Whether the machine was given anything else than in the recorded turn."
    )
    error = RedactedJSONField(null=True, blank=True, help_text="Why it failed; empty otherwise.")
    missing_request = RedactedJSONField(
        null=True, blank=True, help_text="Request that a model would have been sent, where none may be asked."
    )
    findings = RedactedJSONField(default=list, blank=True, help_text="Causes that the trial proves.")
    trace = models.OneToOneField(
        ExplainabilityTurn,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="trial",
        help_text="Turn with the trial's events and payloads; empty for trials of a search that show nothing.",
    )

    class Meta:
        ordering = ["experiment_id", "position"]
        constraints = [models.UniqueConstraint(fields=["experiment", "position"], name="trial_position_unique")]

    def __str__(self) -> str:
        return f"trial {self.position}: {self.status}"
