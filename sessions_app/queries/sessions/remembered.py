"""What sessions were told to remember."""

from django.db.models import Case, Q, QuerySet, Value, When
from django.utils import timezone

from mrpvm.commands import MemoryQuery
from mrpvm.commands.remembered import EVIDENCE, LEAST_CONFIDENCE, Remembered
from sessions_app.models import RememberedText, Session

CONSIDERED_COUNT = 500
"""How many of a session's newest texts a turn reads, those of files last."""
_HIDDEN = (RememberedText.Status.CONFLICTED, RememberedText.Status.ARCHIVED)
_FILES_LAST = Case(When(domain=RememberedText.Domain.EVIDENCE, then=Value(1)), default=Value(0))


def remembered(session: Session, query: MemoryQuery) -> QuerySet[RememberedText]:
    """Return the session's texts that match the query, newest first; inactive ones only on request."""
    rows = session.remembered_texts.filter(domain__in=query.domains).order_by("-id")
    if query.namespace:
        rows = rows.filter(namespace=query.namespace)
    asked_for = (query.with_conflicted, query.with_archived)
    rows = rows.exclude(
        status__in=[status for status, is_wanted in zip(_HIDDEN, asked_for, strict=True) if not is_wanted]
    )
    if not query.with_expired:
        rows = rows.filter(_lives())
    return rows.filter(content__icontains=query.text) if query.text else rows


def all_remembered(session: Session) -> QuerySet[RememberedText]:
    """Return every text in order, with those that are conflicted, archived or expired."""
    return session.remembered_texts.order_by("id")


def remembered_texts(session: Session) -> list[Remembered]:
    """Return the newest active texts, from which a turn chooses."""
    rows = session.remembered_texts.exclude(status__in=_HIDDEN).filter(_lives(), confidence__gte=LEAST_CONFIDENCE)
    columns = rows.order_by(_FILES_LAST, "-id").values_list("content", "domain", "confidence", "namespace")
    return [
        Remembered(
            content=content, domain=domain, confidence=confidence, citation=namespace if domain == EVIDENCE else ""
        )
        for content, domain, confidence, namespace in columns[:CONSIDERED_COUNT]
    ]


def _lives() -> Q:
    return Q(expires_at__isnull=True) | Q(expires_at__gte=timezone.now())
