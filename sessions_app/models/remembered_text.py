"""What a session was told to remember by a command [L-130]."""

import secrets

from django.db import models
from django.utils import timezone

from sessions_app.models.session import Session


def new_memory_id() -> str:
    """Give `mem_` and 32 hex digits."""
    return f"mem_{secrets.token_hex(16)}"


class RememberedText(models.Model):
    """One text that a session keeps until it is told to forget it."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="remembered_texts")
    record_id = models.CharField(max_length=40, unique=True, default=new_memory_id, editable=False)
    content = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["session_id", "-id"]

    def __str__(self) -> str:
        return self.content[:60]
