"""What a session remembers of its earlier turns: a cache that may vanish at any time."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.settings.project import Project


class SessionMemory(models.Model):
    """One session's resolved terms, active documents and sections in `record`; see `mrpvm.conversation.session_memory`.

    `owner` is the session's id, which a client may have chosen; memory outlives an expired session by its own time
    . A row whose `expires_at` has passed is as good as none, and swept.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="session_memories")
    owner = models.CharField(max_length=128)
    record = StoredJSONField(default=dict)
    turn_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    last_accessed_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "session memories"
        constraints = [models.UniqueConstraint(fields=["project", "owner"], name="session_memory_owner")]
        indexes = [models.Index(fields=["expires_at"], name="session_memory_by_expiry")]

    def __str__(self) -> str:
        return self.owner
