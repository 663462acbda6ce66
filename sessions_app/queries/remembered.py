"""What sessions were told to remember."""

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from mrpvm.conversation.commands import MemoryQuery
from mrpvm.conversation.memory import LEAST_CONFIDENCE, Remembered
from sessions_app.models import RememberedText

if TYPE_CHECKING:
    from sessions_app.models import Session

CONSIDERED_COUNT = 200
"""How many of a session's newest texts a turn looks at."""
_CONFLICTED = RememberedText.Status.CONFLICTED


def remembered(session: "Session", query: MemoryQuery) -> QuerySet[RememberedText]:
    """Give the session's texts that are wanted, the newest first."""
    found = session.remembered_texts.filter(domain__in=query.domains).order_by("-id")
    if query.namespace:
        found = found.filter(namespace=query.namespace)
    if not query.with_conflicted:
        found = found.exclude(status=_CONFLICTED)
    return found.filter(content__icontains=query.text) if query.text else found


def all_remembered(session: "Session") -> QuerySet[RememberedText]:
    """Give every text, conflicted ones too, in the order in which they came."""
    return session.remembered_texts.order_by("id")


def remembered_texts(session: "Session") -> list[Remembered]:
    """Give the newest texts that hold, to choose from."""
    found = session.remembered_texts.exclude(status=_CONFLICTED).filter(confidence__gte=LEAST_CONFIDENCE)
    columns = found.order_by("-id").values_list("content", "domain", "confidence")[:CONSIDERED_COUNT]
    return [
        Remembered(content=content, domain=domain, confidence=confidence) for content, domain, confidence in columns
    ]
