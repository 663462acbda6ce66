"""Content that sessions keep as it was: skills, personas and agents, stored once for each project."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.settings.project import Project


class FrozenContent(models.Model):
    """A snapshot that never changes, known by its content: sessions of a project that froze the same share the row.

    The key is the project's key and the SHA-256 of the content, so it cannot be meant for another project, and
    whoever holds it may remember the content.
    """

    class Kind(models.TextChoices):
        """What is frozen."""

        SKILLS = "skills"
        PERSONAS = "personas"
        AGENTS = "agents"

    key = models.CharField(max_length=90, primary_key=True, help_text="Key of the project and SHA-256 of the content.")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="frozen_contents")
    kind = models.CharField(
        max_length=8, choices=Kind, help_text="What sessions take over: skills, personas or agents."
    )
    content = StoredJSONField(help_text="The catalogue as it was read from files.")
    created_at = models.DateTimeField(default=timezone.now)
    unused_since = models.DateTimeField(
        null=True, blank=True, help_text="When the sweep first found that no session uses it."
    )

    def __str__(self) -> str:
        return f"{self.kind} {self.key.partition('-')[2][:12]}"


def content_key(project_pk: int, content_hash: str) -> str:
    """Return the key of a project's content."""
    return f"{project_pk}-{content_hash}"
