"""The history of which base a session could see, when and why."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from sessions_app.models.knowledge.bases import KnowledgeBase, KnowledgeLayer
from sessions_app.models.knowledge.mount_reasons import reason_in_words
from sessions_app.models.sessions.session import Session


class KBMount(models.Model):
    """One mount of a base by a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="mounts")
    knowledge_base = models.ForeignKey(
        KnowledgeBase, on_delete=models.PROTECT, related_name="mounts", help_text="The base that the session reads."
    )
    layer = models.ForeignKey(
        KnowledgeLayer,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Head of the base at the time of the mount.",
    )
    revision = models.PositiveIntegerField(help_text="Revision of the base when it was mounted.")
    reason = models.CharField(max_length=40, help_text="What mounted it, such as a save or a fork.")
    mounted_at = models.DateTimeField(default=timezone.now, help_text="The session reads the base from then on.")
    mounted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        help_text="Empty: an API key or the server itself, or the user was deleted.",
    )
    until = models.DateTimeField(null=True, blank=True, help_text="Empty while this is the current mount.")

    class Meta:
        ordering = ["session_id", "id"]
        verbose_name = "KB mount"
        constraints = [
            models.UniqueConstraint(
                fields=["session"], condition=models.Q(until__isnull=True), name="mount_one_open_a_session"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.knowledge_base} in {self.session}"

    @property
    def why(self) -> str:
        """Return the reason in words."""
        return reason_in_words(self.reason)
