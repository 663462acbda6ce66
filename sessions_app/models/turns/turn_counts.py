"""Hourly counts of turns, so that the cost of an overview does not grow with their number."""

from django.db import models
from django.db.models import Q

from sessions_app.models.settings.project import Project


class TurnCounts(models.Model):
    """Counts of a project's ended turns of one hour with the same base, requested model, agent and asker."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    hour = models.DateTimeField(help_text="Beginning of the hour, UTC.")
    kb_id = models.CharField(max_length=64, help_text="Base of the session when the hour was counted.")
    model = models.CharField(max_length=200, blank=True, help_text="Requested model; empty: none was requested.")
    agent = models.CharField(max_length=64, help_text="Agent of the session when the hour was counted.")
    asked_by = models.CharField(max_length=150, default="", blank=True, help_text="User or API key.")
    turn_count = models.PositiveIntegerField(help_text="Turns that ended in the hour.")
    unanswered_count = models.PositiveIntegerField(
        help_text="Turns that ended with no answer, or only with the closest passage."
    )
    failed_count = models.PositiveIntegerField(help_text="Those of them that failed.")
    up_count = models.PositiveIntegerField(help_text="Turns rated up.")
    down_count = models.PositiveIntegerField(help_text="Turns rated down.")
    imported_count = models.PositiveIntegerField(default=0, help_text="Turns received as a trace.")
    durations = models.JSONField(help_text="Number of turns by `duration_key`.")
    tokens = models.JSONField(help_text="Input and output tokens by model that answered.")
    is_outdated = models.BooleanField(
        default=False, help_text="Set when a counted turn has changed; the hour is counted again."
    )

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
    """How far turns have been counted; one row."""

    newest_turn = models.PositiveBigIntegerField(
        default=0, help_text="Every turn up to this key is counted, except in waiting hours."
    )
    waiting_hours = models.JSONField(default=list, help_text="Hours in ISO 8601 with turns that have not finished.")
    counted_at = models.DateTimeField(null=True, help_text="Last run of the count; empty: never.")

    class Meta:
        verbose_name_plural = "counted turns"

    def __str__(self) -> str:
        return f"up to {self.newest_turn}"
