"""What a reader thought of an answer."""

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from sessions_app.models.redacted import RedactedTextField
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class TurnRating(models.Model):
    """The project's rating of a turn's answer."""

    class Value(models.TextChoices):
        """Which way the thumb points."""

        UP = "up"
        DOWN = "down"

    turn = models.OneToOneField(ExplainabilityTurn, on_delete=models.CASCADE, related_name="rating")
    value = models.CharField(max_length=4, choices=Value, help_text="Taken from the newest score.")
    note = RedactedTextField(default="", blank=True)
    rated_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: an API key, or the user was deleted.",
    )
    rated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["turn_id"]
        indexes = [models.Index(fields=["value", "turn"], name="turn_rating_by_value")]

    def __str__(self) -> str:
        return self.value
