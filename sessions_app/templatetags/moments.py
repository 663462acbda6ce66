"""A filter for moments on pages."""

from datetime import UTC, datetime

from django import template

register = template.Library()


# Not Django's `date`, which reads its format anew for each row: a page of twelve turns shows twenty of them.
@register.filter
def minute(at: datetime | None) -> str:
    """Return a moment like `2026-11-24 09:05`, in UTC, or nothing where there is none."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else ""
