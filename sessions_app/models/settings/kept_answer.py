"""Responses to writes with an `Idempotency-Key`."""

from django.db import models
from django.utils import timezone

from sessions_app.models.settings.project import Project


class KeptAnswer(models.Model):
    """The answer to the first request of a caller under a key, given to every repetition of it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    caller = models.CharField(max_length=40, help_text="User or API key.")
    key = models.CharField(max_length=255, help_text="Idempotency-Key of the request.")
    fingerprint = models.CharField(
        max_length=64, help_text="SHA-256 of the request; another request under the key is refused."
    )
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status; empty while the first request runs.")
    headers = models.JSONField(default=dict, help_text="Headers of the answer that is sent again.")
    body = models.BinaryField(default=bytes, help_text="Body of the answer that is sent again.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "caller", "key"], name="kept_answer_once"),
        ]

    def __str__(self) -> str:
        return f"{self.caller} {self.key}"
