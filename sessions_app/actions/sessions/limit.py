"""How many sessions the server holds."""

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from mrpvm.errors import Unavailable
from sessions_app.actions.settings.quotas import check_sessions
from sessions_app.exclusive import wait_for_turn
from sessions_app.models import ExplainabilityTurn, Project, Session


def check_session_limit(project: Project) -> None:
    """Raise an error if the project or the server (`MRPVM_MAX_SESSIONS`) has as many live sessions as allowed.

    Must run in the transaction that creates the session.

    A session past its expiry time is not live, whether or not the sweep has marked it. One with a running turn is live,
    because the turn's end extends the time. Each of several concurrent creations counts those before it.

    Raises:
        Unavailable: SESSION_LIMIT, QUOTA_FULL.
    """
    check_sessions(project)
    limit = settings.MRPVM_MAX_SESSIONS
    if limit is None:
        return
    wait_for_turn("sessions")
    running = ExplainabilityTurn.objects.filter(session=OuterRef("pk"), status=ExplainabilityTurn.Status.RUNNING)
    in_time = Q(expires_at__isnull=True) | Q(expires_at__gte=timezone.now()) | Exists(running)
    if Session.objects.filter(in_time, deleted_at__isnull=True, expired_at__isnull=True).count() >= limit:
        raise Unavailable(
            f"The server holds {limit} sessions, as many as it is allowed to.",
            code="SESSION_LIMIT",
            details={"limit": limit},
        )
