"""The list of sessions: its filter, its page, its rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import QuerySet

from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.queries.knowledge.bases import offered_bases
from sessions_app.queries.search.reach import latest_active, stretch_of
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.lookups import filtered_sessions, listed_sessions, session_status
from sessions_app.queries.sessions.pages import SESSIONS_SHOWN_MAX, after_session
from sessions_app.queries.turns.lists import SessionFigures, figures_of, latest_figures, latest_turns
from sessions_app.web.sessions.conversation import rating_of, turn_tone
from sessions_app.web.shell.words import outcome_words
from sessions_app.web.turns.graph.status import Tone, duration_badge

LATEST = 10
"""How many of a session's last turns its row describes."""
STATUSES = ("active", "running", "failed", "expired")
SORTS: Mapping[str, str] = {"turns": "turn_sequence", "failed": "failed_turn_count"}
"""The columns that the list can be ordered by in place of the last activity."""
FIGURES: Mapping[str, Callable[[SessionFigures], float]] = {
    "p50": lambda figures: figures.p50_ms or 0,
    "tokens": lambda figures: figures.token_count,
    "rating": lambda figures: figures.down_count,
}
"""The figures of a session's last turns that the list can be ordered by."""
SORT_WORDS: Mapping[str, str] = {
    "": "Last activity",
    "turns": "Most turns",
    "failed": "Most failures",
    "p50": "Slowest turns",
    "tokens": "Most tokens",
    "rating": "Most thumbs down",
}
TONES: Mapping[str, Tone] = {
    "active": Tone.OK,
    "running": Tone.ACTIVE,
    "failed": Tone.ERROR,
    "expired": Tone.IDLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """What the reader asked of the list; unknown values count as not given."""

    words: str = ""
    status: str = ""
    kb_id: str = ""
    sort: str = ""
    after: tuple[datetime | int, int] | None = None
    limit: int = field(default_factory=lambda: settings.MRPVM_SESSIONS_SHOWN)
    back: int = 1

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "ListQuery":
        """Read the parameters of an address."""
        status, sort = parameters.get("status", ""), parameters.get("sort", "")
        sort = sort if sort in SORT_WORDS else ""
        limit = max(whole_number(parameters.get("limit")) or 0, settings.MRPVM_SESSIONS_SHOWN)
        return cls(
            words=parameters.get("q", "").strip()[:200],
            status=status if status in STATUSES else "",
            kb_id=parameters.get("kb", "")[:64],
            sort=sort,
            after=_place(parameters.get("after", ""), sort),
            limit=min(limit, SESSIONS_SHOWN_MAX),
            back=stretch_of(whole_number(parameters.get("back"))),
        )

    @property
    def is_filtered(self) -> bool:
        """Return whether the list shows less than all sessions."""
        return bool(self.words or self.status or self.kb_id)

    def address(self, **more: str) -> str:
        """Return the parameters again as a query string, empty ones left out."""
        back = str(self.back) if self.back > 1 else ""
        parameters = {"q": self.words, "status": self.status, "kb": self.kb_id, "sort": self.sort, "back": back, **more}
        return urlencode({name: value for name, value in parameters.items() if value})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session of the list."""

    session: Session
    status: str
    tone: Tone
    latest: "Sequence[RecentTurn]"
    p50: str
    figures: SessionFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurn:
    """The outcome of one of a session's latest turns."""

    index: int
    outcome: str
    tone: Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    """An order of the list."""

    name: str
    words: str
    is_chosen: bool


def list_context(project: Project, query: ListQuery) -> dict[str, Any]:
    """Return the rows after the reader's place, and the address of the next ones."""
    sessions = filtered_sessions(
        project, words=query.words or None, status=query.status or None, kb_id=query.kb_id or None
    )
    looked_at = 0
    if query.is_filtered or query.sort:
        reach = latest_active(sessions, project, query.back)
        sessions, looked_at = reach.rows, reach.looked_at
    shown = _by_figure(sessions, query) if query.sort in FIGURES else _by_column(sessions, query)
    turns = latest_turns(shown[: query.limit], LATEST)
    rows = [_row(session, turns[session.pk]) for session in shown[: query.limit]]
    last = rows[-1].session if len(shown) > query.limit else None
    place = f"{_sorted_by(rows[-1], query.sort)}~{last.pk}" if last else ""
    return {
        "rows": rows,
        "rows_most": SESSIONS_SHOWN_MAX,
        "query": query,
        "here": query.address(),
        "sort_urls": {name: query.address(sort="" if query.sort == name else name) for name in SORT_WORDS},
        "sorts": [Sort(name=name, words=words, is_chosen=query.sort == name) for name, words in SORT_WORDS.items()],
        "more": query.address(after=place) if place else "",
        "further": query.address(back=str(2 * query.back)) if looked_at and not place else "",
        "looked_at": f"{looked_at:,}",
        "has_any": bool(rows) or (query.is_filtered and listed_sessions(project).exists()),
    }


def _by_column(sessions: QuerySet[Session], query: ListQuery) -> list[Session]:
    """Return the sessions of the page and one more, in the order of a column."""
    if query.sort:
        sessions = sessions.order_by(f"-{SORTS[query.sort]}", "-pk")
    if query.after is not None:
        sessions = after_session(sessions, SORTS.get(query.sort, "last_activity_at"), *query.after)
    return list(sessions[: query.limit + 1])


def _by_figure(sessions: QuerySet[Session], query: ListQuery) -> list[Session]:
    """Return the sessions of the page and one more, the greatest figure first; all within reach are looked at."""
    figures = latest_figures(list(sessions.order_by().values_list("pk", flat=True)), LATEST)
    places = sorted(((_figure(of_session, query.sort), pk) for pk, of_session in figures.items()), reverse=True)
    keys = [place[1] for place in places if query.after is None or place < query.after][: query.limit + 1]
    by_key = sessions.in_bulk(keys)
    return [by_key[pk] for pk in keys if pk in by_key]


def _figure(figures: SessionFigures, sort: str) -> int:
    return round(FIGURES[sort](figures))


def filter_context(project: Project, query: ListQuery) -> dict[str, Any]:
    """Return what the filter offers."""
    bases, goes_on = offered_bases(project, query.kb_id)
    return {"statuses": STATUSES, "bases": bases, "bases_go_on": goes_on}


def _row(session: Session, turns: Sequence[ExplainabilityTurn]) -> SessionRow:
    status = session_status(session)
    ratings = [rating.value if (rating := rating_of(turn)) else "" for turn in turns]
    figures = figures_of(
        [(turn.duration_ms, turn.token_count, rating) for turn, rating in zip(turns, ratings, strict=True)]
    )
    return SessionRow(
        session=session,
        status=status,
        tone=TONES[status],
        latest=[
            RecentTurn(index=turn.turn_index, outcome=outcome_words(turn.outcome, turn.status), tone=turn_tone(turn))
            for turn in turns
        ],
        p50=duration_badge(figures.p50_ms) if figures.p50_ms is not None else "",
        figures=figures,
    )


def _sorted_by(row: SessionRow, sort: str) -> str:
    if sort in FIGURES:
        return str(_figure(row.figures, sort))
    return str(getattr(row.session, SORTS[sort])) if sort else row.session.last_activity_at.isoformat()


def _place(text: str, sort: str) -> tuple[datetime | int, int] | None:
    moment, _, pk = text.partition("~")
    number = whole_number(pk)
    if sort:
        count = whole_number(moment)
        return None if number is None or count is None else (count, number)
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        return None
    if number is None or at.tzinfo is None or not 1970 <= at.year < 9999:
        return None
    return at, number
