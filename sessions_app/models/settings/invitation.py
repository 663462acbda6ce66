"""Links by which people join a project."""

from django.db import models
from django.utils import timezone

from sessions_app.models.redacted import RedactedCharField
from sessions_app.models.settings.project import MEMBER_ROLES, Project, Role


class Invitation(models.Model):
    """A link that lets one person join a project in a role; it is stored as a digest and works once."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=MEMBER_ROLES, default=Role.EDITOR)
    note = RedactedCharField(max_length=120, blank=True, help_text="Whom the link is for.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the link's secret.")
    created_by_name = models.CharField(max_length=150, help_text="Who made it, also after that user is gone.")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(help_text="It cannot be used after this time.")
    used_by_name = models.CharField(max_length=150, blank=True, help_text="Empty until it is accepted.")
    used_at = models.DateTimeField(null=True, blank=True, help_text="Empty: not used yet. An invitation works once.")

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"invitation to {self.project} as {self.role}"
