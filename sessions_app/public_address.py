"""The address at which people reach the server."""

from django.conf import settings


def public_address() -> str | None:
    """Return the first of `ALLOWED_HOSTS` with https; None outside production and where every name is allowed."""
    name = settings.ALLOWED_HOSTS[0].lstrip(".")
    return f"https://{name}" if settings.PRODUCTION and name != "*" else None
