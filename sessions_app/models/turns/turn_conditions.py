"""What many turns have in common of what they saw, stored once."""

from django.db import models

from sessions_app.models.settings.project import Project
from sessions_app.models.turns.compression import CompressedJSONField


class TurnConditions(models.Model):
    """Settings, choices and utilities that turns of a project ran under; known by the hash of the content.

    A row never changes. `digest` is the SHA-256 of the content in hexadecimal.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="turn_conditions")
    digest = models.CharField(max_length=64, help_text="Hash of the content.")
    content = CompressedJSONField(default=dict, help_text="Settings, choices and utilities, compressed JSON.")

    class Meta:
        verbose_name_plural = "turn conditions"
        constraints = [models.UniqueConstraint(fields=["project", "digest"], name="turn_conditions_digest")]

    def __str__(self) -> str:
        return self.digest[:12]
