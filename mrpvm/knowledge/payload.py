"""An intent and its evidence as data for a model or a process: never one concatenated text."""

import re
from collections.abc import Iterable
from typing import TypedDict

from mrpvm.values import Evidence, EvidenceEntry, KnowledgeUnit

_OWN_ID = re.compile(r"\b(sess|req|kb|ctx)-[0-9a-f]{32}\b")


def intent_prompt(evidence: Evidence) -> str:
    """Return `[act] intent` and the expected output, a line each, with what else the intent demands."""
    intent = evidence.intent
    lines = [f"[{intent.act}] {intent.target}", f"Expected output: {intent.output}"]
    lines += [f"Context: {intent.context}"] if intent.context else []
    lines += [f"Criterion: {intent.criterion}"] if intent.criterion else []
    lines += [f"Constraint: {item}" for item in intent.constraints]
    return masked("\n".join(lines))


def offered_entries(evidence: Evidence) -> tuple[EvidenceEntry, ...]:
    """Return the evidence that the payload shows, in its order; what one source says twice is shown once."""
    entries: dict[tuple[str, str, str], EvidenceEntry] = {}
    for entry in evidence.entries:
        entries.setdefault((entry.unit.source_id, entry.unit.title or entry.unit.topic, entry.unit.text), entry)
    return tuple(entries.values())


class ContextItem(TypedDict):
    """A unit as a prompt holds it."""

    title: str
    sourceLink: str
    text: str


class ResolvedPayload(TypedDict):
    """What a helper is asked: an intent, and the units found for it."""

    prompt: str
    context: list[ContextItem]


def context_items(entries: Iterable[EvidenceEntry]) -> list[ContextItem]:
    """Return an item for each entry, sources numbered in the order in which they come.

    No id of a unit, source, session or request is in it, so that equal content gives an equal prompt.
    """
    links: dict[str, str] = {}
    return [
        {
            "title": masked(entry.unit.title or entry.unit.topic),
            "sourceLink": links.setdefault(entry.unit.source_id, f"source-{len(links) + 1}"),
            "text": masked("\n".join(_lines(entry.unit, entry.score))),
        }
        for entry in entries
    ]


def masked(text: str) -> str:
    """Return the text with ids of sessions, requests, bases and loaded sources hidden."""
    return _OWN_ID.sub(lambda match: f"{match[1]}-*", text)


def resolved_payload(evidence: Evidence) -> ResolvedPayload:
    return {"prompt": intent_prompt(evidence), "context": context_items(offered_entries(evidence))}


def _lines(unit: KnowledgeUnit, score: float) -> Iterable[str]:
    named = (
        ("Role", unit.role),
        ("Topic", unit.topic),
        ("Claim", unit.claim),
        ("Procedure", unit.procedure),
        ("Condition", unit.condition),
        ("UtilityActs", ", ".join(unit.utility_acts)),
        ("UtilityNote", unit.utility_note),
        ("Score", f"{score:.2f}"),
    )
    return (f"{name}: {value}" for name, value in named if value)
