"""Alerts on the rate of a saved filter, and each time that one was passed."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from sessions_app.identifiers import new_alert_id, new_crossing_id
from sessions_app.models.fields import IdField
from sessions_app.models.settings.project import Project
from sessions_app.models.turns.saved_filter import SavedFilter


class Alert(models.Model):
    """A notification when too many of the latest turns fit a filter."""

    class Channel(models.TextChoices):
        """How a notification is sent."""

        HOOK = "hook", "Web hook"
        MAIL = "mail", "Mail"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="alerts")
    saved_filter = models.ForeignKey(
        SavedFilter,
        on_delete=models.CASCADE,
        related_name="alerts",
        help_text="The filter whose share of turns is watched.",
    )
    alert_id = IdField(unique=True, default=new_alert_id)
    limit_percent = models.FloatField(help_text="Share of turns above which it notifies.")
    window_minutes = models.PositiveIntegerField(help_text="Turns of the last minutes are counted.")
    least_turns = models.PositiveIntegerField(help_text="With fewer turns in the window nothing is decided.")
    channel = models.CharField(max_length=4, choices=Channel, help_text="How the notification is sent.")
    target = models.CharField(max_length=500, help_text="Address of the web hook or mailbox.")
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)
    is_over = models.BooleanField(default=False, editable=False, help_text="State at the last check.")
    rate_percent = models.FloatField(
        null=True, blank=True, editable=False, help_text="Rate at the last check; empty with too few turns."
    )
    checked_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="Empty: not checked yet.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.saved_filter_id} > {self.limit_percent} %"


class AlertCrossing(models.Model):
    """One time that the rate passed the limit, and its notification."""

    class Status(models.TextChoices):
        """Whether the notification was sent."""

        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, db_index=False, related_name="crossings")
    crossing_id = IdField(unique=True, default=new_crossing_id, help_text="Id in requests; the message carries it too.")
    crossed_at = models.DateTimeField(default=timezone.now, help_text="When the limit was passed.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When the rate was within the limit again.")
    matched_count = models.PositiveIntegerField(help_text="Turns that fit the filter.")
    turn_count = models.PositiveIntegerField(help_text="Turns in the window.")
    status = models.CharField(
        max_length=7, choices=Status, default=Status.WAITING, help_text="Whether the message has been sent."
    )
    tries = models.PositiveSmallIntegerField(default=0, help_text="Notifications attempted.")
    next_try_at = models.DateTimeField(
        default=timezone.now, help_text="A waiting notification is sent from this time on."
    )
    problem = models.CharField(max_length=300, blank=True, help_text="Why the last attempt failed.")

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["alert", "-id"], name="alert_crossing_newest"),
            models.Index(fields=["next_try_at"], condition=Q(status="waiting"), name="alert_crossing_waiting"),
        ]

    def __str__(self) -> str:
        return f"{self.matched_count} of {self.turn_count} turns: {self.status}"
