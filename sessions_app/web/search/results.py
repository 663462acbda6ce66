"""The search: the parsed query, its problems, and the results of each kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects

from mrpvm import registry
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KnowledgeBase,
    Message,
    Project,
    Session,
    TurnRating,
)
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.queries.search.filter_language import KEYS, KINDS, parse
from sessions_app.queries.search.reach import Reach, latest_active, newest_stored
from sessions_app.queries.search.results import (
    found_bases,
    found_sessions,
    found_turns,
    found_units,
    imported_messages,
)
from sessions_app.queries.turns.outcomes import outcome
from sessions_app.web.sessions.conversation import rating_of, turn_tone
from sessions_app.web.shell.excerpts import ExcerptPart, excerpt, held_count
from sessions_app.web.shell.prose import plain
from sessions_app.web.shell.words import CODES, ending, why
from sessions_app.web.turns.graph.status import Tone, duration_badge

SHOWN, SHOWN_ALONE = 8, 100
"""How many results of each kind a page shows beside the others, and alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRows:
    """Rows of one kind; `is_cut` when there are more, `looked_at` as in `Reach` when the end of that was reached."""

    rows: Sequence[Any]
    is_cut: bool = False
    looked_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnHit:
    """A turn, and the text of it that matches."""

    turn: ExplainabilityTurn
    ending: str
    tone: Tone
    duration: str
    where: str
    parts: list[ExcerptPart]
    rating: TurnRating | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A session, unit, message or base, and its text or name."""

    row: Session | ContextUnit | Message | KnowledgeBase
    parts: list[ExcerptPart]


def search_context(project: Project, text: str, stretch: int = 1) -> dict[str, Any]:
    """Return the results of a text; at most three queries for each kind, and one more for turns.

    Args:
        stretch: the multiple of the usual number of rows to search.
    """
    wanted = parse(text)
    kinds, left_out = (
        [str(term.value) for term in wanted.conditions if term.key == "in" and term.is_negated is is_negated]
        for is_negated in (False, True)
    )
    context: dict[str, Any] = {"wanted": wanted, "keys": KEYS, "kinds": KINDS, "has_asked": bool(wanted.terms)}
    if not wanted.terms:
        return context
    words = [str(word.value) for word in wanted.words if not word.is_negated]
    limit = SHOWN_ALONE if kinds else SHOWN
    usual = ["sessions", "turns", *(["units", "imported"] if wanted.words else [])]
    shows = {*(kinds or usual)} - {*left_out}
    if wanted.words and not wanted.conditions:
        bases = list(found_bases(project, wanted)[: limit + 1])
        hits = [_hit(row, row.name, words) for row in bases[:limit]]
        context["bases"] = FoundRows(rows=hits, is_cut=len(bases) > limit)
    if "sessions" in shows:
        sessions = latest_active(found_sessions(project, wanted), project, stretch)
        context["sessions"] = _cut(sessions, limit, lambda row: _hit(row, row.label, words))
    if "turns" in shows or "errors" in shows:
        context["turns"] = _turns(newest_stored(found_turns(project, wanted), stretch), limit, words)
    if "units" in shows and words:
        # Evaluated by the template, which the palette does not use.
        context["filled_bases"] = knowledge_bases(project).filter(head__unit_count__gt=0)[:BASES_SHOWN]
        context["words"] = " ".join(f'"{word}"' if " " in word else word for word in words)
    if "units" in shows:
        units = newest_stored(found_units(project, wanted), stretch)
        context["units"] = _cut(units, limit, lambda row: _hit(row, row.text, words))
    if "imported" in shows:
        imported = newest_stored(imported_messages(project, wanted), stretch)
        context["imported"] = _cut(imported, limit, lambda row: _hit(row, row.content, words))
    results = [value for value in context.values() if isinstance(value, FoundRows)]
    context["has_found"] = any(kind.rows for kind in results)
    if looked_at := max((kind.looked_at for kind in results), default=0):
        context |= {"looked_at": f"{looked_at:,}", "further": 2 * stretch}
    return context


def _cut(reach: Reach[Any], limit: int, shown: Any) -> FoundRows:
    rows = list(reach.rows[: limit + 1])
    return _found(reach, rows, [shown(row) for row in rows[:limit]])


def _found(reach: Reach[Any], rows: Sequence[Any], shown: Sequence[Any]) -> FoundRows:
    is_cut = len(rows) > len(shown)
    return FoundRows(rows=shown, is_cut=is_cut, looked_at=0 if is_cut else reach.looked_at)


def _hit(row: Any, text: str, words: Sequence[str]) -> Hit:
    return Hit(row=row, parts=excerpt(text, words))


def _turns(reach: Reach[ExplainabilityTurn], limit: int, words: Sequence[str]) -> FoundRows:
    rows = list(reach.rows[: limit + 1])
    prefetch_related_objects(rows[:limit], "messages")
    return _found(reach, rows, [turn_hit(row, words) for row in rows[:limit]])


def turn_hit(turn: ExplainabilityTurn, words: Sequence[str]) -> TurnHit:
    """Return the turn with the text that holds the most words, the first of: question, answer, error, note."""
    rating, error = rating_of(turn), turn.error or {}
    said = (item for item in turn.messages.all() if item.role != "user")
    texts = [
        ("Question", turn.user_message),
        *((message.get_role_display(), plain(message.content)) for message in said),
        ("Error", f"{why(str(error.get('code', '')))}: {error.get('message', '')} {error.get('code', '')}"),
        ("Note", rating.note if rating else ""),
    ]
    where, text = max(texts, key=lambda item: held_count(item[1], words))
    if turn.error and not held_count(text, words):
        where, text = texts[-2]
    return TurnHit(
        turn=turn,
        ending=ending(turn.status, outcome(turn), turn.kind),
        tone=turn_tone(turn),
        duration=duration_badge(turn.duration_ms),
        where=where,
        parts=excerpt(text, words),
        rating=rating,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCompletion:
    """A completion: the text that replaces the word being typed, and what it means."""

    text: str
    meaning: str


COMPLETIONS_SHOWN = 10
BASES_SHOWN = 10
"""Bases in which the page offers to look for the words."""


def completions(project: Project, written: str) -> list[FilterCompletion]:
    """Return completions of the last, unfinished part of a text."""
    sign = "-" if written.startswith("-") else ""
    key, colon, value = written.removeprefix("-").partition(":")
    if not colon:
        fits = [(name, item) for name, item in KEYS.items() if name.startswith(key.lower())]
        return [
            FilterCompletion(text=f"{sign}{name}:", meaning=f"{item.meaning}, {item.example}") for name, item in fits
        ]
    begun = value.strip('"')
    values = [item for item in _values(project, key.lower(), begun) if begun.casefold() in item[0].casefold()]
    quoted = ((f'"{text}"' if " " in text else text, meaning) for text, meaning in values[:COMPLETIONS_SHOWN])
    return [FilterCompletion(text=f"{sign}{key.lower()}:{text} ", meaning=meaning) for text, meaning in quoted]


def _values(project: Project, key: str, begun: str) -> list[tuple[str, str]]:
    match key:
        case "plugin":
            return [(item.id, item.name) for item in registry.installed.descriptors()]
        case "kb":
            named = knowledge_bases(project).filter(name__icontains=begun)
            return [(base.name, base.kb_id) for base in named[:COMPLETIONS_SHOWN]]
        case "error":
            return [(code, words) for code, words in CODES.items()]
        case "duration":
            return [(">1s", "longer than a second"), (">10s", "longer than ten seconds"), ("<100ms", "quick")]
        case "after" | "before":
            return [("today", "since midnight UTC"), ("yesterday", "")]
    return [(value, "") for value in KEYS[key].values] if key in KEYS else []
