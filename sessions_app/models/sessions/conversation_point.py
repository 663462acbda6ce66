"""Where a conversation that a client sends whole can be recognised."""

from django.db import models

from sessions_app.models.sessions.session import Session


class ConversationPoint(models.Model):
    """One place of a recognisable conversation: the hash of everything said up to the message `sequence`."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="conversation_points")
    conversation_hash = models.CharField(max_length=64, help_text="Hash of all messages up to this one.")
    sequence = models.PositiveIntegerField(help_text="Number of the last message.")

    class Meta:
        ordering = ["session_id", "sequence"]
        indexes = [models.Index(fields=["conversation_hash"], name="conversation_point_by_hash")]

    def __str__(self) -> str:
        return f"{self.sequence} {self.conversation_hash[:12]}"
