"""Which model answers in which role, as a project's admins set it."""

from django.db import models
from django.utils import timezone

from sessions_app.models.damage import StoredJSONField
from sessions_app.models.settings.project import Project


class ModelRoles(models.Model):
    """A project's table of model roles; without a row the shipped defaults hold.

    `config` has the shape of the settings: roles, pluginOverrides, temperature. It never holds a key.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="model_roles")
    config = StoredJSONField(default=dict, help_text="Model and sampling by role and plugin.")
    updated_at = models.DateTimeField(default=timezone.now, help_text="When the table was last set.")

    class Meta:
        verbose_name_plural = "model roles"

    def __str__(self) -> str:
        return f"model roles of {self.project}"
