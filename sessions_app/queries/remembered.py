"""What sessions were told to remember."""

from typing import TYPE_CHECKING

from django.db.models import QuerySet

from sessions_app.models import RememberedText

if TYPE_CHECKING:
    from sessions_app.models import Session

CONSIDERED_COUNT = 200
"""How many of a session's newest texts a turn looks at."""


def remembered(session: "Session", query: str = "") -> QuerySet[RememberedText]:
    """Give the session's texts, the newest first; with a query those that hold it, whatever its case."""
    found = session.remembered_texts.order_by("-id")
    return found.filter(content__icontains=query) if query else found


def remembered_texts(session: "Session") -> list[str]:
    """Give the newest texts, to choose from."""
    return list(remembered(session).values_list("content", flat=True)[:CONSIDERED_COUNT])
