"""Chunks of sources that did not become units."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.knowledge.bases import KnowledgeSource
from sessions_app.models.sessions.session import Session


class QuarantinedChunk(models.Model):
    """A chunk whose control text admission refused, kept with the reason so that nothing is lost silently.

    It belongs to a source of a base, or to a session's context load; loading the source again replaces it.
    `control_text` is the normaliser's output, empty if it gave none.
    """

    origin = models.ForeignKey(
        KnowledgeSource,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="quarantined",
        help_text="Source of a base; empty for a source of a session.",
    )
    session = models.ForeignKey(
        Session,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="quarantined",
        help_text="Session that loaded the source; empty for a source of a base.",
    )
    source_id = models.CharField(max_length=128, help_text="The source that the part comes from.")
    source_name = models.CharField(max_length=300, help_text="Its name then.")
    chunk_index = models.PositiveIntegerField(help_text="Place of the chunk in its source, from 0.")
    text = models.TextField(help_text="Text of the chunk.")
    control_text = models.TextField(blank=True, help_text="What the detector wrote and admission refused.")
    message = models.TextField(help_text="Why the chunk was refused.")
    diagnostics = StoredJSONField(default=list, blank=True, help_text="Each error in the control text, with its place.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(origin__isnull=True, session__isnull=False)
                | models.Q(origin__isnull=False, session__isnull=True),
                name="quarantined_chunk_has_one_owner",
            )
        ]

    def __str__(self) -> str:
        return f"part {self.chunk_index + 1} of {self.source_name}"
