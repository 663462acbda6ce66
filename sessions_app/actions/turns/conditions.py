"""Storage of conditions, each shared by many turns."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from mrpvm.wire import json_bytes
from sessions_app.models import TurnConditions


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of conditions in hexadecimal."""
    return hashlib.sha256(json_bytes(content)).hexdigest()


def store_conditions(project_pk: int, digest: str, content: Mapping[str, Any]) -> int:
    """Return the key of the project's conditions with this digest, stored if they are new."""
    row = TurnConditions(project_id=project_pk, digest=digest, content=content)
    TurnConditions.objects.bulk_create([row], ignore_conflicts=True)
    stored = TurnConditions.objects.filter(project_id=project_pk, digest=digest)
    return stored.values_list("pk", flat=True).get()


def product_version() -> str:
    """Return the version of this server, which is part of the conditions."""
    return str(settings.MRPVM_VERSION)
