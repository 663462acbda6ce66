"""Alerts on the rate of a saved filter, and each time that one was passed."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.identifiers import new_alert_id, new_crossing_id
from sessions_app.models.settings.project import Project
from sessions_app.models.turns.saved_filter import SavedFilter


class Alert(models.Model):
    """Says where to tell that more than `limit_percent` of the turns of the last `window_minutes` fit a filter.

    Fewer than `least_turns` turns in the window say nothing. `target` is the address of a web hook or mailbox.
    `is_over` and `rate_percent` are as they were found at `checked_at`; the rate is None where nothing could be said.
    """

    class Channel(models.TextChoices):
        """How it is told."""

        HOOK = "hook", "Web hook"
        MAIL = "mail", "Mail"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alerts")
    saved_filter = models.ForeignKey(SavedFilter, on_delete=models.CASCADE, related_name="alerts")
    alert_id = models.CharField(max_length=64, unique=True, default=new_alert_id, editable=False)
    limit_percent = models.FloatField()
    window_minutes = models.PositiveIntegerField()
    least_turns = models.PositiveIntegerField()
    channel = models.CharField(max_length=4, choices=Channel)
    target = models.CharField(max_length=500)
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    is_over = models.BooleanField(default=False, editable=False)
    rate_percent = models.FloatField(null=True, blank=True, editable=False)
    checked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.saved_filter_id} > {self.limit_percent} %"


class AlertCrossing(models.Model):
    """One time that the rate passed the limit: what was counted, and whether it could be told.

    `ended_at` says when the rate was within the limit again. A waiting one is told from `next_try_at` on.
    """

    class Status(models.TextChoices):
        """Whether it was told."""

        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, db_index=False, related_name="crossings")
    crossing_id = models.CharField(max_length=64, unique=True, default=new_crossing_id, editable=False)
    crossed_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    matched_count = models.PositiveIntegerField()
    turn_count = models.PositiveIntegerField()
    status = models.CharField(max_length=7, choices=Status, default=Status.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["alert", "-id"], name="alert_crossing_newest"),
            models.Index(fields=["next_try_at"], condition=Q(status="waiting"), name="alert_crossing_waiting"),
        ]

    def __str__(self) -> str:
        return f"{self.matched_count} of {self.turn_count} turns: {self.status}"
