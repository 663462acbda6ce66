"""Which versions of the server have brought the database's tables up to date."""

from django.db import models
from django.utils import timezone


class DatabaseVersion(models.Model):
    """A version of the server, and when it first prepared this database; `latest_migration` is the newest it has."""

    version = models.CharField(max_length=40, help_text="Version of the server.")
    latest_migration = models.CharField(max_length=200, help_text="Newest migration that this version has.")
    prepared_at = models.DateTimeField(default=timezone.now, help_text="When this version first prepared the database.")

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["version", "latest_migration"], name="database_version_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.version} ({self.latest_migration})"
