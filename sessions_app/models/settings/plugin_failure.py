"""Failures of KB plugins outside of turns."""

from django.db import models
from django.utils import timezone


class PluginFailure(models.Model):
    """A notification, or a stored source, that a KB plugin failed on or was late with.

    The ids may name what is gone. Failures in turns are in the turns' traces.
    """

    plugin_id = models.CharField(max_length=100)
    event = models.CharField(max_length=40, help_text="Type of the notification; source-text for a stored source.")
    error = models.TextField(help_text="The message, without secrets; a long one is cut.")
    session_id = models.CharField(
        max_length=128, default="", blank=True, help_text="Empty where it concerned no session."
    )
    kb_id = models.CharField(max_length=64, default="", blank=True, help_text="Empty where it concerned no base.")
    source_id = models.CharField(
        max_length=128, default="", blank=True, help_text="Empty where it concerned no source."
    )
    occurred_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.plugin_id} on {self.event}"
