"""What a session remembers of its earlier turns: a cache that may vanish at any time."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.settings.project import Project


class SessionMemory(models.Model):
    """What one session remembers; see `mrpvm.conversation.session_memory`.

    Memory outlives an expired session. A row whose `expires_at` has passed is ignored, and swept.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="session_memories")
    owner = models.CharField(max_length=128, help_text="Session id.")
    record = StoredJSONField(default=dict, help_text="Resolved terms, active documents and sections.")
    turn_count = models.PositiveIntegerField(default=0, help_text="Turns that the memory was made from.")
    created_at = models.DateTimeField(default=timezone.now)
    last_accessed_at = models.DateTimeField(default=timezone.now, help_text="When a turn last used it.")
    expires_at = models.DateTimeField(help_text="After this the memory is ignored and swept.")

    class Meta:
        verbose_name_plural = "session memories"
        constraints = [models.UniqueConstraint(fields=["project", "owner"], name="session_memory_owner")]
        indexes = [models.Index(fields=["expires_at"], name="session_memory_by_expiry")]

    def __str__(self) -> str:
        return self.owner
