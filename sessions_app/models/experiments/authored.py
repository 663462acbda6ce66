"""Who began something that is kept."""

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone


class Authored(models.Model):
    """A row with the user or API key that created it."""

    created_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
        help_text="Empty: an API key or a command of the server, or the user was deleted.",
    )
    created_by_name = models.CharField(max_length=150, help_text="Name of the user or API key; outlives the user.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True
