"""Spans that other applications sent, kept before and after a turn is built from them."""

from django.db import models
from django.utils import timezone

from sessions_app.models.settings.project import Project
from sessions_app.models.turns.compression import CompressedJSONField
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class ImportedSpan(models.Model):
    """One span as it was received; a trace of a project is one turn."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="imported_spans")
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="imported_spans",
        help_text="Turn of the trace; empty until it is drawn and once it is deleted.",
    )
    trace_id = models.CharField(max_length=32, help_text="32 hex digits.")
    span_id = models.CharField(max_length=16, help_text="16 hex digits.")
    span = CompressedJSONField(help_text="`ReceivedSpan` as compressed JSON.")
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "trace_id", "span_id"], name="imported_span_unique"),
        ]

    def __str__(self) -> str:
        return self.span_id
