"""Activity of a session: what keeps it from expiring."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from sessions_app.models import Session

ACTIVITY_FIELDS = ("last_activity_at", "expires_at")


def touch(session: Session) -> None:
    """Note activity on the unsaved `session`: expiry moves along with it, where a time to live is set."""
    session.last_activity_at = timezone.now()
    session.expires_at = expiry_after(session.last_activity_at)


def expiry_after(activity: datetime) -> datetime | None:
    """Return when a session expires that was last active then; None without a time to live."""
    minutes = settings.MRPVM_SESSION_IDLE_TTL_MINUTES
    return activity + timedelta(minutes=minutes) if minutes else None
