"""Turns that are to be reviewed."""

from django.db import models
from django.utils import timezone

from sessions_app.models.settings.project import Project
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class QueuedTurn(models.Model):
    """A turn of the project's review queue; its scores say who has reviewed it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    turn = models.OneToOneField(ExplainabilityTurn, on_delete=models.CASCADE, related_name="queued")
    added_by_name = models.CharField(max_length=150, help_text="Who put it into the queue.")
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["project", "id"], name="queued_turn_of_project")]

    def __str__(self) -> str:
        return f"turn {self.turn_id}"
