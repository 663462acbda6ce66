"""Revisions of knowledge bases."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from sessions_app.models.knowledge.bases import KnowledgeBase, KnowledgeLayer
from sessions_app.models.knowledge.mount_reasons import reason_in_words


class KBRevision(models.Model):
    """One revision of a base, with the layer that was its head; a restore makes that layer the head again."""

    knowledge_base = models.ForeignKey(
        KnowledgeBase, on_delete=models.CASCADE, db_index=False, related_name="revisions"
    )
    revision = models.PositiveIntegerField(help_text="Number within the base, counted from 1.")
    layer = models.ForeignKey(
        KnowledgeLayer, on_delete=models.PROTECT, related_name="+", help_text="The layer that was the head."
    )
    reason = models.CharField(max_length=40, help_text="What made the revision, such as a save or a restore.")
    origin_base = models.ForeignKey(
        KnowledgeBase,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="descendants",
        help_text="For a fork or save from another base: the base it continues.",
    )
    origin_revision = models.PositiveIntegerField(
        null=True, blank=True, help_text="Revision of the origin base; empty where there is none."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        help_text="Empty: an API key or the server itself, or the user was deleted.",
    )

    class Meta:
        ordering = ["knowledge_base_id", "-revision"]
        verbose_name = "KB revision"
        constraints = [models.UniqueConstraint(fields=["knowledge_base", "revision"], name="kb_revision_unique")]

    def __str__(self) -> str:
        return f"revision {self.revision} of {self.knowledge_base}"

    @property
    def why(self) -> str:
        """Return the reason in words."""
        return reason_in_words(self.reason)
