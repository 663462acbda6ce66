"""What the planners of a project have learned about its plugins."""

from django.db import models

from mrpvm.learning import Experience, utility
from sessions_app.models.settings.project import Project

EXPERIENCE_FIELDS = Experience.__struct_fields__


class PluginStatistics(models.Model):
    """One plugin's experience in one project; fields are those of `mrpvm.learning.Experience`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="plugin_statistics")
    plugin_type = models.CharField(max_length=20, help_text="Type by its manifest, such as mrp-plan-plugin.")
    plugin_id = models.CharField(max_length=100)
    attempt_count = models.PositiveIntegerField(help_text="Calls in turns, however they ended.")
    success_count = models.PositiveIntegerField(help_text="Attempts that succeeded; a rejection by a validator is one.")
    failure_count = models.PositiveIntegerField(help_text="Attempts that failed or whose result a validator rejected.")
    refusal_count = models.PositiveIntegerField(
        help_text="Attempts that ended as insufficient, or as no-context for a planner."
    )
    success = models.FloatField(help_text="Moving average, 0 to 1.")
    sufficiency = models.FloatField(help_text="Moving average, 0 to 1.")
    latency_ms = models.FloatField(help_text="Moving average.")
    llm_calls = models.FloatField(help_text="Moving average of model calls an attempt.")

    class Meta:
        ordering = ["project_id", "plugin_type", "plugin_id"]
        verbose_name_plural = "plugin statistics"
        constraints = [
            models.UniqueConstraint(fields=["project", "plugin_type", "plugin_id"], name="plugin_statistics_unique")
        ]

    def __str__(self) -> str:
        return f"{self.plugin_id}: {self.attempt_count} attempts"

    @property
    def experience(self) -> Experience:
        """Return the row as a value."""
        return Experience(**{name: getattr(self, name) for name in EXPERIENCE_FIELDS})

    @experience.setter
    def experience(self, value: Experience) -> None:
        for name in EXPERIENCE_FIELDS:
            setattr(self, name, getattr(value, name))

    @property
    def utility(self) -> float:
        """Return the plugin's utility for ranking."""
        return utility(self.plugin_type, self.experience)
