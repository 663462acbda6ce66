"""What the planners of a project have learned about its plugins."""

from django.db import models
from django.utils import timezone

from mrpvm.learning import Experience, utility
from sessions_app.models.project import Project

_EXPERIENCE_FIELDS = (
    "attempt_count", "success_count", "failure_count", "refusal_count", "success", "sufficiency", "latency_ms",
    "llm_calls",
)  # fmt: skip


class PluginStatistics(models.Model):
    """One plugin's experience in one project; fields are those of `mrpvm.learning.Experience` [K-54 to K-57, O-46]."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="plugin_statistics")
    plugin_type = models.CharField(max_length=20)
    plugin_id = models.CharField(max_length=100)
    attempt_count = models.PositiveIntegerField()
    success_count = models.PositiveIntegerField()
    failure_count = models.PositiveIntegerField()
    refusal_count = models.PositiveIntegerField()
    success = models.FloatField()
    sufficiency = models.FloatField()
    latency_ms = models.FloatField()
    llm_calls = models.FloatField()
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["project_id", "plugin_type", "plugin_id"]
        verbose_name_plural = "plugin statistics"
        constraints = [
            models.UniqueConstraint(fields=["project", "plugin_type", "plugin_id"], name="plugin_statistics_unique")
        ]

    def __str__(self) -> str:
        return f"{self.plugin_id}: {self.attempt_count} attempts"

    @property
    def key(self) -> tuple[str, str]:
        """Give the plugin's type and id."""
        return self.plugin_type, self.plugin_id

    @property
    def experience(self) -> Experience:
        """Give the row as a value."""
        return Experience(**{name: getattr(self, name) for name in _EXPERIENCE_FIELDS})

    @experience.setter
    def experience(self, value: Experience) -> None:
        for name in _EXPERIENCE_FIELDS:
            setattr(self, name, getattr(value, name))

    @property
    def utility(self) -> float:
        """Give the plugin's utility for ranking [K-54]."""
        return utility(self.plugin_type, self.experience)
