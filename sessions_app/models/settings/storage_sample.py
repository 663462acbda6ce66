"""How large the database was on a day."""

from django.db import models


class StorageKind(models.TextChoices):
    """What the database's space is used for."""

    CONVERSATIONS = "conversations", "Conversations"
    KNOWLEDGE = "knowledge", "Knowledge"
    FULL_TEXT = "full-text", "Full-text indexes"
    VECTORS = "vectors", "Vectors and what else plugins derive"
    TRACES = "traces", "Traces"
    PAYLOADS = "payloads", "Inputs and outputs of steps"
    EXCHANGES = "model-exchanges", "Requests to models and their answers"
    EVENTS = "events", "Events of open pages"
    AUDIT = "audit", "Audit log"
    OTHER = "other", "Everything else"
    FREE = "free", "Free pages, used again before the file grows"


class StorageSample(models.Model):
    """The bytes of one kind of rows with their indexes on a day (UTC), estimated if they cannot be measured."""

    day = models.DateField(help_text="Day in UTC.")
    kind = models.CharField(max_length=16, choices=StorageKind, help_text="What the space is used for.")
    byte_count = models.PositiveBigIntegerField(help_text="Bytes of the rows with their indexes.")
    is_estimate = models.BooleanField(default=False, help_text="Set where the database cannot tell.")

    class Meta:
        ordering = ["-day", "kind"]
        constraints = [models.UniqueConstraint(fields=["day", "kind"], name="storage_sample_once")]

    def __str__(self) -> str:
        return f"{self.kind} on {self.day:%Y-%m-%d}"
