"""What KB plugins derived from stored units."""

from django.db import models

from sessions_app.models.knowledge.bases import LayerUnit


class UnitArtifact(models.Model):
    """What one plugin derived from one unit; no other plugin reads it.

    It belongs to the unit and so to its layer, and is visible wherever the layer is. Units never change, so an artifact
    is stale only when its `version` is not the plugin's.
    """

    plugin_id = models.CharField(max_length=100, help_text="Plugin that derived it.")
    unit = models.ForeignKey(LayerUnit, on_delete=models.CASCADE, db_index=False, related_name="artifacts")
    version = models.CharField(max_length=100, help_text="Version of the plugin's format.")
    content = models.BinaryField(help_text="Derived by the plugin, which alone can read it.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["unit", "plugin_id"], name="artifact_one_a_plugin_and_unit")]

    def __str__(self) -> str:
        return f"{self.plugin_id} on unit {self.unit_id}"
