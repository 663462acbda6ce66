"""Check whether the database accepts writes."""

from secrets import token_hex

from django.db import transaction

from sessions_app.models import Project


def try_to_write() -> bool:
    """Write a row and roll it back."""
    with transaction.atomic():
        Project.objects.create(name="readiness", slug=f"readiness-{token_hex(16)}")  # a slug that no project has
        transaction.set_rollback(True)
    return True
