"""What one person thought of an answer."""

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from sessions_app.models.redacted import RedactedTextField
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class TurnScore(models.Model):
    """One person's thumb and note on a turn's answer, or that the person looked at it and gave none."""

    class Value(models.TextChoices):
        """Which way the thumb points, if at all."""

        UP = "up"
        DOWN = "down"
        SKIPPED = "skipped"

    turn = models.ForeignKey(ExplainabilityTurn, on_delete=models.CASCADE, db_index=False, related_name="scores")
    person = models.CharField(max_length=150, blank=True, help_text="Name of the user or API key; empty when unknown.")
    user = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: an API key, or the user was deleted.",
    )
    value = models.CharField(max_length=7, choices=Value, help_text="skipped: looked at, without a rating.")
    note = RedactedTextField(default="", blank=True)
    scored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["turn_id", "scored_at", "id"]
        constraints = [models.UniqueConstraint(fields=["turn", "person"], name="turn_score_one_a_person")]

    def __str__(self) -> str:
        return f"{self.person or 'somebody'}: {self.value}"
