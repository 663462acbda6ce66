"""The exact text of one section of what a turn's model got to see: from the report, or from where it lies."""

from dataclasses import dataclass

from django.db.models import Sum
from django.db.models.functions import Length

from mrpvm.conversation.context import SectionRecord, conversation_text
from mrpvm.errors import NotFound
from mrpvm.values import HistoryMessage
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.sessions.pages import known_units


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionText:
    """A section's text; `missing_count` counts the messages or units of it that are no longer stored."""

    text: str
    missing_count: int = 0


def sections(turn: ExplainabilityTurn) -> list[SectionRecord]:
    """Return the sections of the turn's report in the order in which they were put together."""
    return list((turn.context_report or {}).get("sections", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class OmittedMessages:
    """The messages before the window, none of which a model saw; `chars` counts those that are still stored."""

    count: int = 0
    chars: int = 0


def omitted_messages(turn: ExplainabilityTurn) -> OmittedMessages:
    """Return what the window left out of the conversation; one query where it left out anything."""
    window = next((section for section in sections(turn) if section["name"] == "conversation"), None)
    if window is None or not window.get("omitted_count"):
        return OmittedMessages()
    first = window["places"][0] if window.get("places") else 0
    chars = turn.session.messages.filter(sequence__lt=first).aggregate(chars=Sum(Length("content")))["chars"]
    return OmittedMessages(count=window["omitted_count"], chars=chars or 0)


def section_text(turn: ExplainabilityTurn, place: int) -> SectionText:
    """Return the text of the section at a place in the report, counted from 0; three queries at most.

    Raises:
        NotFound: DETAIL_NOT_FOUND, the report has no such section.
    """
    listed = sections(turn)
    if place >= len(listed):
        raise NotFound(f"The turn's context has no section {place}.", code="DETAIL_NOT_FOUND")
    section = listed[place]
    if (text := section.get("text")) is not None:
        return SectionText(text=text)
    if section.get("unit_ids"):
        return _of_units(turn, section)
    return _of_messages(turn, section)


def _of_messages(turn: ExplainabilityTurn, section: SectionRecord) -> SectionText:
    first, last = section["places"]
    rows = turn.session.messages.filter(sequence__range=(first, last)).order_by("sequence")
    said = [HistoryMessage(role=role, content=content) for role, content in rows.values_list("role", "content")]
    return SectionText(text=conversation_text(said), missing_count=max(0, section.get("kept_count", 0) - len(said)))


def _of_units(turn: ExplainabilityTurn, section: SectionRecord) -> SectionText:
    ids = section["unit_ids"]
    known = known_units(turn, ids)
    texts = [known[unit_id].text for unit_id in ids if unit_id in known]
    return SectionText(text="\n\n".join(texts), missing_count=len(ids) - len(texts))
