"""The evidence found for unanswered questions, which often contains the wanted statement."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from mrpvm.trace.response import ResponseDocument, source_name
from sessions_app.queries.turns.registry import unanswered_evidence
from sessions_app.web.shell.words import STORES

CLOSEST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ClosestStatement:
    """One statement and the page of its unit."""

    text: str
    url: str
    source: str


def closest(session_id: str, document: ResponseDocument | None) -> list[ClosestStatement]:
    """Return the statements that came closest to what the turn left unanswered, the closest first."""
    unit_url = reverse("unit", args=[session_id])
    return [
        ClosestStatement(
            text=unit["claim"] or "",
            url=f"{unit_url}?{urlencode({'id': unit['id']})}",
            source=source_name(unit) or STORES["session"],
        )
        for unit in unanswered_evidence(document)[:CLOSEST_SHOWN]
    ]
