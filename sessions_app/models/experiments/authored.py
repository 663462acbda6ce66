"""Who began something that is kept."""

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone


class Authored(models.Model):
    """A row that somebody began; `created_by_name` is the user's name or the API key's, and outlives the user."""

    created_by = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, db_index=False, related_name="+"
    )
    created_by_name = models.CharField(max_length=150)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True
