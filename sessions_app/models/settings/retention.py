"""How long a project keeps what, and how far removing the rest has come."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.settings.project import Project


class RetentionKind(models.TextChoices):
    """What can be kept for a number of days, in the order in which it is removed."""

    TRIALS = "trials", "Experiments with their trials"
    IMPORTED_TRACES = "imported-traces", "Traces of other applications"
    TRACES = "traces", "Traces of turns"
    EXCHANGES = "model-exchanges", "Requests to models and their answers"
    PAYLOADS = "payloads", "Inputs and outputs of steps"
    MESSAGES = "messages", "Conversations"
    AUDIT = "audit", "Audit log"


class Retention(models.Model):
    """A project's rules, and its newest run; without a row nothing was chosen and no run has started."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="retention")
    days = StoredJSONField(
        default=dict, help_text="Days to keep by kind, 0 for ever; what is missing has the server's setting."
    )
    is_stopped = models.BooleanField(default=False, help_text="Nothing is removed while set.")
    kind = models.CharField(
        max_length=16, choices=RetentionKind, default="", blank=True, help_text="What the current run is removing."
    )
    removed = StoredJSONField(default=dict, help_text="Rows removed by the newest run, by kind.")
    began_at = models.DateTimeField(null=True, blank=True, help_text="Empty: the next sweep starts a run.")
    finished_at = models.DateTimeField(null=True, blank=True, help_text="Empty while a run goes on.")
    updated_at = models.DateTimeField(default=timezone.now, help_text="When the rule or its last run changed.")

    class Meta:
        verbose_name_plural = "retention"

    def __str__(self) -> str:
        return f"retention of {self.project}"

    @property
    def status(self) -> str:
        """Return how the newest run stands: waiting, running, finished or stopped."""
        if self.is_stopped:
            return "stopped"
        if self.began_at is None:
            return "waiting"
        return "finished" if self.finished_at else "running"

    @property
    def is_running(self) -> bool:
        """Return whether a run has started and continues."""
        return self.status == "running"
