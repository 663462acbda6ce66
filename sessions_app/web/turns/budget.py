"""What a turn's model got to see as a bar: its sections with their sizes, and what was left out by which rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sessions_app.queries.turns.context_sections import sections
from sessions_app.web.shell.words import why

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn

BAR_WIDTH = 1_000
LEAST_WIDTH = 8
"""A section is drawn at least this wide, so that it can be seen and pressed."""
_NAMES: Mapping[str, str] = {
    "instructions": "Instructions",
    "persona": "Persona",
    "style": "Style",
    "agent": "Agent",
    "remembered": "Remembered",
    "system prompt": "System prompt",
    "skill": "Skill",
    "memory": "Memory",
    "summary": "Summary",
    "conversation": "Conversation",
    "evidence": "Evidence",
    "message": "Message",
}
_INSTRUCTIONS = frozenset({"persona", "style", "agent", "remembered", "system prompt", "skill"})
"""What stands in the system prompt; in the bar all of it has one colour."""
_RULES: Mapping[str, str] = {
    "fitting": "by the choice of what fits the message",
    "messages": "by the cap on messages",
    "characters": "by the cap on characters",
    "summarised": "told by the summary instead",
}
_SOURCES: Mapping[str, str] = {"stored": "this session", "request": "the request", "none": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPart:
    """One section: `at` and `width` are its place in the bar, `cut` says what was left out of it, in words."""

    place: int
    key: str
    name: str
    source: str
    chars: int
    tokens: int
    percent: int
    at: int
    width: int
    kept: str
    cut: str
    note: str


def budget_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Return the sections with their places in the bar, the sums, where the conversation came from, and warnings."""
    report = turn.context_report or {}
    return {
        "budget": budget_parts(sections(turn)),
        "budget_chars": report.get("chars", 0),
        "budget_tokens": report.get("tokens", 0),
        "conversation_source": source_words(report),
        "context_warnings": [why(warning) for warning in report.get("warnings", ())],
    }


def source_words(report: Mapping[str, Any]) -> str:
    """Return where the conversation that a model saw came from, in words; empty without a report."""
    source = str(report.get("conversationSource", ""))
    return _SOURCES.get(source, source)


def budget_parts(found: Sequence[Mapping[str, Any]]) -> list[BudgetPart]:
    """Return the sections side by side; their widths add up to the bar's, each in proportion but for the least."""
    total = sum(section["chars"] for section in found)
    free = BAR_WIDTH - LEAST_WIDTH * len(found)
    parts, at, before = [], 0, 0
    for place, section in enumerate(found):
        before += section["chars"]
        end = LEAST_WIDTH * (place + 1) + (free * before // total if total else 0)
        parts.append(_part(place, section, total, at, end - at))
        at = end
    return parts


def _part(place: int, section: Mapping[str, Any], total: int, at: int, width: int) -> BudgetPart:
    kept, omitted, rule = section.get("kept_count"), section.get("omitted_count", 0), section.get("rule")
    noun = _noun(section)
    left = "text" if noun == "text" else "message"
    return BudgetPart(
        place=place,
        key="instructions" if section["name"] in _INSTRUCTIONS else section["name"],
        name=_NAMES.get(section["name"], section["name"]),
        source=_SOURCES.get(section["source"], section["source"]),
        chars=section["chars"],
        tokens=section["tokens"],
        percent=round(100 * section["chars"] / total) if total else 0,
        at=at,
        width=width,
        kept=_counted(kept, noun) if kept else "",
        cut=f"{_counted(omitted, left)} left out, {_RULES.get(rule or '', rule)}" if omitted else "",
        note=section.get("note", ""),
    )


def _noun(section: Mapping[str, Any]) -> str:
    if section["name"] == "remembered":
        return "text"
    return "unit" if section.get("unit_ids") else "message"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
