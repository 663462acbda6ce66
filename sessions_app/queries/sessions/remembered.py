"""What sessions were told to remember."""

from django.db.models import Case, Q, QuerySet, Value, When
from django.utils import timezone

from mrpvm.commands import MemoryQuery
from mrpvm.commands.remembered import EVIDENCE, LEAST_CONFIDENCE, Remembered
from sessions_app.models import RememberedText, Session

CONSIDERED_COUNT = 500
"""How many of a session's newest texts a turn looks at, those of files last."""
_HIDDEN = (RememberedText.Status.CONFLICTED, RememberedText.Status.ARCHIVED)
_FILES_LAST = Case(When(domain=RememberedText.Domain.EVIDENCE, then=Value(1)), default=Value(0))


def remembered(session: Session, query: MemoryQuery) -> QuerySet[RememberedText]:
    """Return the session's texts that are wanted, the newest first; what does not hold only if that is asked for."""
    found = session.remembered_texts.filter(domain__in=query.domains).order_by("-id")
    if query.namespace:
        found = found.filter(namespace=query.namespace)
    asked_for = (query.with_conflicted, query.with_archived)
    found = found.exclude(status__in=[status for status, asked in zip(_HIDDEN, asked_for, strict=True) if not asked])
    if not query.with_expired:
        found = found.filter(_lives())
    return found.filter(content__icontains=query.text) if query.text else found


def all_remembered(session: Session) -> QuerySet[RememberedText]:
    """Return every text, those that do not hold too, in the order in which they came."""
    return session.remembered_texts.order_by("id")


def remembered_texts(session: Session) -> list[Remembered]:
    """Return the newest texts that hold, to choose from."""
    found = session.remembered_texts.exclude(status__in=_HIDDEN).filter(_lives(), confidence__gte=LEAST_CONFIDENCE)
    columns = found.order_by(_FILES_LAST, "-id").values_list("content", "domain", "confidence", "namespace")
    return [
        Remembered(
            content=content, domain=domain, confidence=confidence, citation=namespace if domain == EVIDENCE else ""
        )
        for content, domain, confidence, namespace in columns[:CONSIDERED_COUNT]
    ]


def _lives() -> Q:
    return Q(expires_at__isnull=True) | Q(expires_at__gte=timezone.now())
