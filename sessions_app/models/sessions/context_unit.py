"""Units that a session learnt from its conversation, and the ledger of every unit's steps."""

from collections.abc import Mapping
from types import MappingProxyType

from django.db import models
from django.utils import timezone

from sessions_app.models.knowledge.unit_fields import UnitFields
from sessions_app.models.redacted import RedactedCharField, RedactedTextField
from sessions_app.models.sessions.session import Session
from sessions_app.models.turns.explainability_turn import ExplainabilityTurn


class ContextUnit(UnitFields):
    """A unit of the session: pending while its turn runs, committed afterwards."""

    class State(models.TextChoices):
        """Where the unit stands."""

        PENDING = "pending"
        COMMITTED = "committed"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="context_units")
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="context_units",
        help_text="Turn that staged it; empty for a loaded context.",
    )
    state = models.CharField(
        max_length=10, choices=State, default=State.PENDING, help_text="Pending while its turn runs."
    )
    created_at = models.DateTimeField(default=timezone.now)
    committed_at = models.DateTimeField(null=True, blank=True, help_text="Empty while the unit is pending.")

    class Meta:
        ordering = ["session_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "hash"], condition=models.Q(state="committed"), name="context_unit_hash_unique"
            ),
            models.UniqueConstraint(fields=["session", "unit_id"], name="context_unit_id_unique"),
        ]
        indexes = [models.Index(fields=["session", "state", "id"], name="context_unit_by_state")]

    def __str__(self) -> str:
        return self.unit_id


class UnitEvent(models.Model):
    """One step in a unit's life: the ledger's row. What a turn's retrieval and solving did is in its `TurnEvents`.

    `text` is what the unit said, kept with the step that brought it in, so that a discarded unit can still be shown.
    State at turn n is the fold of the events up to n.
    """

    class Step(models.TextChoices):
        """What happened to the unit."""

        STAGED = "staged"
        COMMITTED = "committed"
        DEDUPLICATED = "deduplicated"
        DISCARDED = "discarded"
        REMOVED = "removed"
        OFFERED = "offered"
        SELECTED = "selected"
        PRUNED = "pruned"
        CITED = "cited"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="unit_events")
    turn = models.ForeignKey(
        ExplainabilityTurn,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        db_index=False,
        related_name="unit_events",
        help_text="Empty for what happened outside of a turn.",
    )
    unit_id = models.CharField(max_length=400, help_text="The unit, by the id that traces name it with.")
    step = models.CharField(max_length=12, choices=Step, help_text="What happened to the unit.")
    store = models.CharField(max_length=12, default="current-turn", help_text="Where the unit is stored.")
    execution_id = models.CharField(
        max_length=100, default="", blank=True, help_text="Plugin execution that did it; empty for the server itself."
    )
    rank = models.PositiveIntegerField(
        null=True, blank=True, help_text="Place among the units of its search, the best first."
    )
    score = models.FloatField(null=True, blank=True, help_text="Score in its search.")
    reason = RedactedCharField(max_length=300, default="", blank=True, help_text="Why the step was taken.")
    text = RedactedTextField(default="", blank=True, help_text="Text of the unit at this step.")
    corrects = models.CharField(
        max_length=400, default="", blank=True, help_text="Id of the unit that this one corrects; empty if it is none."
    )
    created_at = models.DateTimeField(default=timezone.now)

    # Of a step that a turn judged, which is never a row of this table.
    score_parts: Mapping[str, float] = MappingProxyType({})

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["session", "unit_id"], name="unit_event_by_unit"),
            models.Index(fields=["turn", "step"], name="unit_event_by_turn"),
        ]

    def __str__(self) -> str:
        return f"{self.step} {self.unit_id}"
