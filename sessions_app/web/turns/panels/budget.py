"""The context of a turn as a bar: its sections with their sizes, and what each rule left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mrpvm.conversation.context import SUMMARISED, SectionRecord
from mrpvm.preview import counted
from mrpvm.values import CHARS_PER_TOKEN
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.sessions.flags import policies_of
from sessions_app.queries.turns.context_sections import OmittedMessages, omitted_messages, sections
from sessions_app.web.shell.words import CHOSEN_BY, why

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
"""What is in the system prompt; in the bar all of it has one colour."""
_RULES: Mapping[str, str] = {
    "fitting": "by the choice of what fits the message",
    "messages": "by the cap on messages",
    "characters": "by the cap on characters",
    SUMMARISED: "covered by the summary",
}
_SOURCES: Mapping[str, str] = {"stored": "this session", "request": "the request", "none": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPart:
    """One section: `at` and `width` are its place in the bar, `cut` says in words what was left out of it."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The older messages that were not sent to a model, drawn at the beginning of the bar."""

    width: int
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """The unused part of the limit on characters, drawn at the end of the bar."""

    at: int
    width: int
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """A limit on the context, and who set it."""

    words: str
    chosen_by: str


def budget_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the sections with their places in the bar, what was left out, the limits, the sums and the warnings."""
    report = turn.context_report or {}
    listed = sections(turn)
    shown_chars = sum(section["chars"] for section in listed)
    left_out = left_out_part(omitted_messages(turn), shown_chars)
    free = None if left_out else free_part(_free_chars(turn, listed), shown_chars)
    return {
        "budget": budget_parts(listed, left_out.width if left_out else 0, free.at if free else BAR_WIDTH),
        "left_out": left_out,
        "free": free,
        "caps": _caps(turn) if listed else [],
        "budget_chars": report.get("chars", 0),
        "budget_tokens": report.get("tokens", 0),
        "conversation_source": source_words(report),
        "context_warnings": [why(warning) for warning in report.get("warnings", ())],
    }


def source_words(report: Mapping[str, Any]) -> str:
    """Return in words where the conversation sent to a model came from; empty without a report."""
    source = str(report.get("conversationSource", ""))
    return _SOURCES.get(source, source)


def left_out_part(omitted: OmittedMessages, shown_chars: int) -> LeftOut | None:
    """Return the place of the messages left out, in proportion to what was shown, but at most half the bar."""
    if not omitted.count:
        return None
    share = omitted.chars / (omitted.chars + shown_chars or 1)
    return LeftOut(
        width=min(max(round(share * BAR_WIDTH), LEAST_WIDTH), BAR_WIDTH // 2),
        words=f"{counted(omitted.count, 'older message')}, {omitted.chars:,} characters",
    )


def free_part(free_chars: int, shown_chars: int) -> Free | None:
    """Return the place of the unused characters, in proportion to what was shown; None if there are none."""
    width = round(BAR_WIDTH * free_chars / (free_chars + shown_chars or 1))
    if not width:
        return None
    words = f"room for {free_chars:,} more characters of the conversation"
    return Free(at=BAR_WIDTH - width, width=width, words=words)


def _free_chars(turn: ExplainabilityTurn, listed: Sequence[SectionRecord]) -> int:
    """Return how many characters the conversation could still take; 0 without a conversation or a limit."""
    request = _asked(turn)
    window = next((section for section in listed if section["name"] == "conversation"), None)
    if window is None or "flags" not in request:
        return 0
    cap, flags = request["maxHistoryChars"], request["flags"]
    if flags["enableHistorySummarization"]:
        cap = min(cap, flags["verbatimMaxTokens"] * CHARS_PER_TOKEN)
    return max(0, cap - window["chars"])


def _asked(turn: ExplainabilityTurn) -> Mapping[str, Any]:
    request: Mapping[str, Any] = (turn.conditions.content if turn.conditions else {}).get("state", {}).get("asked", {})
    return request


def _caps(turn: ExplainabilityTurn) -> list[Cap]:
    """Return the turn's limits on the context window; none if the turn did not record its conditions."""
    request = _asked(turn)
    flags = request.get("flags")
    if not flags:
        return []
    policies = {policy.name: policy for policy in policies_of(turn.session)}

    def cap(words: str, name: str, value: int) -> Cap:
        policy = policies[name]
        chosen_by = CHOSEN_BY[policy.chosen_by] if policy.value == value else "the request, or changed since"
        return Cap(words=words, chosen_by=f"set by {chosen_by}")

    turns, verbatim = flags["historyMaxTurns"], flags["verbatimMaxTurns"]
    tokens, summary_tokens = flags["verbatimMaxTokens"], flags["summaryMaxTokens"]
    window = [
        cap(f"Window: at most {counted(turns, 'exchange')}", "history_max_turns", turns),
        Cap(words=f"Window: at most {request['maxHistoryChars']:,} characters", chosen_by="set by the server"),
    ]
    if not flags["enableHistorySummarization"]:
        return window
    return [
        *window,
        cap(f"Verbatim: at most {counted(verbatim, 'exchange')}", "verbatim_max_turns", verbatim),
        cap(f"Verbatim: at most {tokens:,} tokens", "verbatim_max_tokens", tokens),
        cap(f"Summary: at most {summary_tokens:,} tokens", "summary_max_tokens", summary_tokens),
    ]


def budget_parts(listed: Sequence[SectionRecord], begin: int = 0, end: int = BAR_WIDTH) -> list[BudgetPart]:
    """Return the sections side by side from `begin` to `end`, each in proportion to its size.

    Every section has a minimum width, so the last ones may pass `end`.
    """
    total = sum(section["chars"] for section in listed)
    free = max(0, end - begin - LEAST_WIDTH * len(listed))
    parts, at, before = [], begin, 0
    for place, section in enumerate(listed):
        before += section["chars"]
        upto = begin + LEAST_WIDTH * (place + 1) + (free * before // total if total else 0)
        parts.append(_part(place, section, total, at, upto - at))
        at = upto
    return parts


def _part(place: int, section: SectionRecord, total: int, at: int, width: int) -> BudgetPart:
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
        kept=counted(kept, noun) if kept else "",
        cut=f"{counted(omitted, left)} left out, {_RULES.get(rule or '', rule)}" if omitted else "",
        note=section.get("note", ""),
    )


def _noun(section: SectionRecord) -> str:
    if section["name"] == "remembered":
        return "text"
    return "unit" if section.get("unit_ids") else "message"
