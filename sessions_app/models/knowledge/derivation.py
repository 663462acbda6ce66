"""Which units were derived from which others."""

from django.db import models

from sessions_app.models.knowledge.bases import KnowledgeLayer, LayerUnit


class Derivation(models.Model):
    """Records that a unit of a layer was derived from another unit, given by its id.

    When the other unit is removed, the derived unit is stale.
    """

    layer = models.ForeignKey(
        KnowledgeLayer,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="derivations",
        help_text="Where the derived unit is.",
    )
    unit = models.ForeignKey(LayerUnit, on_delete=models.CASCADE, related_name="derivations")
    origin_unit_id = models.CharField(max_length=400, help_text="Unit id of what the unit was derived from.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["layer", "origin_unit_id", "unit"], name="derivation_unique")]

    def __str__(self) -> str:
        return f"unit {self.unit_id} from {self.origin_unit_id}"
