"""What turns came to, hour by hour: counted once, so that an overview costs the same however many there are."""

from django.db import models
from django.db.models import Q

from sessions_app.models.settings.project import Project


class TurnCounts(models.Model):
    """The ended turns of one hour in one project that have base, requested model, agent and who asked in common.

    Base and agent are those of the session when the hour was counted; `model` is empty where none was requested.
    `durations` holds how many turns took how long: the key is that of `duration_key`. `tokens` holds by the model that
    answered how many it took and wrote. `is_outdated`: what was counted has changed since, and is counted again.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    hour = models.DateTimeField()
    kb_id = models.CharField(max_length=64)
    model = models.CharField(max_length=200, blank=True)
    agent = models.CharField(max_length=64)
    asked_by = models.CharField(max_length=150, default="", blank=True)
    turn_count = models.PositiveIntegerField()
    unanswered_count = models.PositiveIntegerField()
    failed_count = models.PositiveIntegerField()
    up_count = models.PositiveIntegerField()
    down_count = models.PositiveIntegerField()
    imported_count = models.PositiveIntegerField(default=0)
    durations = models.JSONField()
    tokens = models.JSONField()
    is_outdated = models.BooleanField(default=False)

    class Meta:
        ordering = ["project_id", "hour"]
        verbose_name_plural = "turn counts"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "hour", "kb_id", "model", "agent", "asked_by"], name="turn_counts_once"
            )
        ]
        indexes = [
            models.Index(fields=["hour"], name="turn_counts_by_hour"),
            models.Index(fields=["hour"], condition=Q(is_outdated=True), name="turn_counts_outdated"),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H:00}: {self.turn_count} turns"


class CountedTurns(models.Model):
    """How far turns have been counted; one row.

    Every turn up to the key `newest_turn` has ended and is counted, but for those of the hours in `waiting_hours`,
    which are in ISO 8601.
    """

    newest_turn = models.PositiveBigIntegerField(default=0)
    waiting_hours = models.JSONField(default=list)
    counted_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "counted turns"

    def __str__(self) -> str:
        return f"up to {self.newest_turn}"
