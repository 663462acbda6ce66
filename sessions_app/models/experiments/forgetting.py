"""Acts of forgetting: their subject, progress and certificate."""

from django.db import models

from sessions_app.identifiers import new_forgetting_id
from sessions_app.models.damage import StoredJSONField
from sessions_app.models.experiments.authored import Authored
from sessions_app.models.fields import IdField
from sessions_app.models.settings.project import Project


class Forgetting(Authored):
    """One act of forgetting. It stays as the record of the act, without a word of what was forgotten.

    The payloads of turns that lost something
    are marked as removed at `began_at`, so that a turn says which act took them.
    """

    class Kind(models.TextChoices):
        """What it begins from; `WORDS` are sentences that hold all of some words."""

        MESSAGE = "message"
        UNIT = "unit"
        SOURCE = "source"
        SESSION = "session"
        TEXT = "text"
        WORDS = "words"

    class Status(models.TextChoices):
        """How it stands; an incomplete one has found something again at its end."""

        PLANNING = "planning"
        PLANNED = "planned"
        RUNNING = "running"
        FINISHED = "finished"
        INCOMPLETE = "incomplete"
        FAILED = "failed"
        CANCELLED = "cancelled"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="forgettings")
    forgetting_id = IdField(unique=True, default=new_forgetting_id)
    kind = models.CharField(max_length=7, choices=Kind, help_text="What was chosen to be forgotten.")
    status = models.CharField(max_length=10, choices=Status, default=Status.PLANNING)
    subject = StoredJSONField(default=dict, help_text="Ids of what was chosen; empty for a text.")
    work = StoredJSONField(
        null=True,
        blank=True,
        help_text="Texts and rows to remove, as `Work` returns them; empty once the act has ended.",
    )
    before = StoredJSONField(default=dict, help_text="Rows found by table when it was planned.")
    after = StoredJSONField(
        null=True, blank=True, help_text="Rows found by a search of all tables and files at the end."
    )
    notes = StoredJSONField(default=list, help_text="Sentences about before and after.")
    error = StoredJSONField(null=True, blank=True, help_text="Why it failed; empty otherwise.")
    stage = models.CharField(max_length=60, default="", blank=True, help_text="Current step.")
    row_count = models.PositiveBigIntegerField(default=0, help_text="Rows read so far.")
    began_at = models.DateTimeField(null=True, blank=True, help_text="When removal began; empty for a plan.")
    finished_at = models.DateTimeField(null=True, blank=True, help_text="Empty until it has ended.")
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="A running act counts as abandoned after this time."
    )
    cancel_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="When somebody asked to stop it; empty: nobody did."
    )

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["project", "-id"], name="forgetting_of_project"),
            models.Index(
                fields=["lease_until"], condition=models.Q(status__in=["planning", "running"]), name="forgetting_lease"
            ),
            models.Index(fields=["began_at"], condition=models.Q(began_at__isnull=False), name="forgetting_by_time"),
        ]

    def __str__(self) -> str:
        return self.forgetting_id

    @property
    def is_running(self) -> bool:
        """Return whether its plan is being made or carried out."""
        return self.status in (self.Status.PLANNING, self.Status.RUNNING)

    @property
    def found_count(self) -> int:
        """Return how many rows the plan found."""
        return sum(self.before.values())
