"""The list of sessions: its filter, its page, its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any
from urllib.parse import urlencode

from sessions_app.models import ExplainabilityTurn, Project, Session
from sessions_app.queries.knowledge.bases import offered_bases
from sessions_app.queries.search.reach import latest_active, stretch_of
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.lookups import filtered_sessions, sessions, status_of
from sessions_app.queries.sessions.pages import SESSIONS_SHOWN, SESSIONS_SHOWN_MAX, after_session
from sessions_app.queries.turns.lists import latest_turns
from sessions_app.web.sessions.conversation import rating_of, turn_tone
from sessions_app.web.shell.words import outcome_words
from sessions_app.web.turns.graph.status import Tone, duration_badge

LATEST = 10
"""How many of a session's last turns its row tells of."""
STATUSES = ("active", "running", "failed", "expired")
SORTS: Mapping[str, str] = {"turns": "turn_sequence", "failed": "failed_turn_count"}
"""The columns that the list can be ordered by in place of the last activity."""
SORT_WORDS: Mapping[str, str] = {"": "Last activity", "turns": "Most turns", "failed": "Most failures"}
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
    limit: int = SESSIONS_SHOWN
    back: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "ListQuery":
        """Read the parameters of an address."""
        status, sort = given.get("status", ""), given.get("sort", "")
        sort = sort if sort in SORTS else ""
        return cls(
            words=given.get("q", "").strip().replace("\0", "")[:200],
            status=status if status in STATUSES else "",
            kb_id=given.get("kb", "").replace("\0", "")[:64],
            sort=sort,
            after=_place(given.get("after", ""), sort),
            limit=min(max(whole_number(given.get("limit")) or 0, SESSIONS_SHOWN), SESSIONS_SHOWN_MAX),
            back=stretch_of(whole_number(given.get("back"))),
        )

    @property
    def is_filtered(self) -> bool:
        """Return whether the list shows less than all sessions."""
        return bool(self.words or self.status or self.kb_id)

    def address(self, **more: str) -> str:
        """Return the parameters again as a query string, empty ones left out."""
        back = str(self.back) if self.back > 1 else ""
        given = {"q": self.words, "status": self.status, "kb": self.kb_id, "sort": self.sort, "back": back, **more}
        return urlencode({name: value for name, value in given.items() if value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One session of the list."""

    session: Session
    status: str
    tone: Tone
    latest: "Sequence[LatestTurn]"
    p50: str
    token_count: int
    up_count: int
    down_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestTurn:
    """What became of one of a session's last turns."""

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
    found = filtered_sessions(
        project, words=query.words or None, status=query.status or None, kb_id=query.kb_id or None
    )
    looked_at = 0
    if query.is_filtered or query.sort:
        reach = latest_active(found, project, query.back)
        found, looked_at = reach.rows, reach.looked_at
    if query.sort:
        found = found.order_by(f"-{SORTS[query.sort]}", "-pk")
    if query.after is not None:
        found = after_session(found, SORTS.get(query.sort, "last_activity_at"), *query.after)
    shown = list(found[: query.limit + 1])
    turns = latest_turns(shown[: query.limit], LATEST)
    rows = [_row(session, turns[session.pk]) for session in shown[: query.limit]]
    last = rows[-1].session if len(shown) > query.limit else None
    place = f"{_sorted_by(last, query.sort)}~{last.pk}" if last else ""
    return {
        "rows": rows,
        "query": query,
        "here": query.address(),
        "sorts": [Sort(name=name, words=words, is_chosen=query.sort == name) for name, words in SORT_WORDS.items()],
        "more": query.address(after=place) if place else "",
        "further": query.address(back=str(2 * query.back)) if looked_at and not place else "",
        "looked_at": f"{looked_at:,}",
        "has_any": bool(rows) or (query.is_filtered and sessions(project).exists()),
    }


def filter_context(project: Project, query: ListQuery) -> dict[str, Any]:
    """Return what the filter offers."""
    bases, goes_on = offered_bases(project, query.kb_id)
    return {"statuses": STATUSES, "bases": bases, "bases_go_on": goes_on}


def _row(session: Session, turns: Sequence[ExplainabilityTurn]) -> Row:
    status = status_of(session)
    durations = [turn.duration_ms for turn in turns if turn.duration_ms is not None]
    ratings = [rating.value for turn in turns if (rating := rating_of(turn))]
    return Row(
        session=session,
        status=status,
        tone=TONES[status],
        latest=[
            LatestTurn(index=turn.turn_index, outcome=outcome_words(turn.outcome, turn.status), tone=turn_tone(turn))
            for turn in turns
        ],
        p50=duration_badge(median(durations)) if durations else "",
        token_count=sum(turn.token_count or 0 for turn in turns),
        up_count=ratings.count("up"),
        down_count=ratings.count("down"),
    )


def _sorted_by(session: Session, sort: str) -> str:
    return str(getattr(session, SORTS[sort])) if sort else session.last_activity_at.isoformat()


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
