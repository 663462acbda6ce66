"""What was said."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.sessions.session import Session
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class Message(models.Model):
    """One utterance; its place in the conversation is `sequence`, counted from 1 and never changed."""

    class Speaker(models.TextChoices):
        USER = "user"
        SYSTEM = "system"
        ASSISTANT = "assistant"
        TOOL = "tool"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="messages")
    sequence = models.PositiveIntegerField(help_text="Number within the session, counted from 1; never changes.")
    role = models.CharField(max_length=10, choices=Speaker)
    content = models.TextField()
    payload = StoredJSONField(
        null=True, blank=True, help_text="Tool, input and output of a tool's message; empty for others."
    )
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="messages",
        help_text="Turn that it belongs to; empty for history that was brought along.",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["session_id", "sequence"]
        constraints = [models.UniqueConstraint(fields=["session", "sequence"], name="message_sequence")]

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"
