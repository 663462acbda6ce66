"""What a project may use, and what its model calls have used."""

from django.db import models

from sessions_app.models.settings.project import Project


class QuotaKind(models.TextChoices):
    """What a project's use of can be limited."""

    SESSIONS = "sessions", "Sessions"
    UNITS = "units", "Units of knowledge"
    BYTES = "bytes", "Size of sources"
    CALLS = "calls-a-minute", "Turns a minute"
    TOKENS = "tokens-a-day", "Tokens a day"
    COST = "cost-a-day", "Cost a day"


class ModelUse(models.Model):
    """What a model's calls for a project took and wrote on one day of UTC, whatever the outcome of their turns."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="model_uses")
    day = models.DateField(help_text="Day in UTC.")
    model = models.CharField(max_length=200, help_text="Name of the model that was called.")
    input_tokens = models.PositiveBigIntegerField(default=0, help_text="What the day's requests held.")
    output_tokens = models.PositiveBigIntegerField(default=0, help_text="What the model answered.")

    class Meta:
        ordering = ["project_id", "-day", "model"]
        constraints = [models.UniqueConstraint(fields=["project", "day", "model"], name="model_use_once")]

    def __str__(self) -> str:
        return f"{self.model} on {self.day:%Y-%m-%d}"
