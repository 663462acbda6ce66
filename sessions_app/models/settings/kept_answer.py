"""What a write under an `Idempotency-Key` was answered."""

from django.db import models
from django.utils import timezone

from sessions_app.models.settings.project import Project


class KeptAnswer(models.Model):
    """The answer to the first request of a caller under a key, given to every repetition of it.

    `caller` is the API key or user that sent it. `fingerprint` is the SHA-256 of what was asked, in hexadecimal.
    `status` is None while the first request is worked on.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    caller = models.CharField(max_length=40)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=bytes)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "caller", "key"], name="kept_answer_once"),
        ]

    def __str__(self) -> str:
        return f"{self.caller} {self.key}"
