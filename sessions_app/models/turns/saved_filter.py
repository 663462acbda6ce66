"""Filters of the list of turns that have a name."""

from django.db import models
from django.utils import timezone

from sessions_app.identifiers import new_filter_id
from sessions_app.models.fields import IdField
from sessions_app.models.redacted import RedactedCharField
from sessions_app.models.settings.project import Project


class SavedFilter(models.Model):
    """A text in the filter language under a name; all members of the project see it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="saved_filters")
    filter_id = IdField(unique=True, default=new_filter_id)
    name = RedactedCharField(max_length=80)
    text = RedactedCharField(max_length=500, help_text="Filter in the query language.")
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="saved_filter_name_unique")]

    def __str__(self) -> str:
        return self.name
