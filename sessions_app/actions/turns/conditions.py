"""What many turns ran under, stored once."""

from collections.abc import Mapping
from typing import Any

from sessions_app.models import TurnConditions


def store_conditions(project_pk: int, digest: str, content: Mapping[str, Any]) -> int:
    """Return the key of the project's conditions of this digest, which are stored unless they are there."""
    row = TurnConditions(project_id=project_pk, digest=digest, content=content)
    TurnConditions.objects.bulk_create([row], ignore_conflicts=True)
    stored = TurnConditions.objects.filter(project_id=project_pk, digest=digest)
    return stored.values_list("pk", flat=True).get()
