"""What KB plugins derived from stored sources."""

from django.db import models

from sessions_app.models.knowledge.bases import KnowledgeSource


class SourceArtifact(models.Model):
    """What one plugin derived from one source, under a name of its own; no other plugin reads it.

    It belongs to the source's row and so to its layer. A newer version of the source is another row, so the artifact of
    the older one is stale with it.
    """

    plugin_id = models.CharField(max_length=100, help_text="Plugin that derived it.")
    source = models.ForeignKey(KnowledgeSource, on_delete=models.CASCADE, db_index=False, related_name="artifacts")
    name = models.CharField(max_length=200, help_text="Chosen by the plugin.")
    content = models.BinaryField(help_text="Derived by the plugin, which alone can read it.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["source", "plugin_id", "name"], name="source_artifact_one_a_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.plugin_id}"
