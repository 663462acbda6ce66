"""The list of turns of all sessions: its filters and rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from sessions_app.models import ExplainabilityTurn, Project, TurnRating
from sessions_app.queries.search.filter_language import parse
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.turns.lists import SHOWN_MAX, SORTS, turn_page
from sessions_app.queries.turns.saved_filters import saved_filters
from sessions_app.web.sessions.conversation import rating_of, turn_tone
from sessions_app.web.shell.prose import plain
from sessions_app.web.shell.words import BASIS_WORDS, outcome_words
from sessions_app.web.turns.graph.status import Tone, duration_badge

FILTERS: Mapping[str, str] = {
    "": "All",
    "status:unanswered": "Unanswered",
    "status:no-answer": "No answer",
    "status:quoted": "Closest passage",
    "status:failed": "Failed",
    "is:rewritten": "Rewritten",
    "is:left-out": "Left out",
    "is:ungrounded": "Ungrounded",
    "is:slow": "Slow",
    "rating:down": "Rated down",
}
"""What is looked for most, in the filter language, and what it is called."""
EXPORTS: Mapping[str, str] = {"csv": "CSV, for tables", "jsonl": "JSON lines, for programs"}
_WITH_BASIS = ("stated", "composed")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One turn of the list; `answer` is its beginning, of a turn that failed the error."""

    turn: ExplainabilityTurn
    url: str
    answer: str
    outcome: str
    basis: str
    tone: Tone
    duration: str
    rating: TurnRating | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickFilter:
    """A filter that the list offers as a link."""

    name: str
    url: str
    is_chosen: bool


def turn_list_context(project: Project, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the turns that the query string asks for, newest first, and the link to older ones."""
    wanted = parse(parameters.get("q", ""))
    before = whole_number(parameters.get("before"))
    sort, skip = parameters.get("sort", ""), whole_number(parameters.get("skip")) or 0
    sort = sort if sort in SORTS else ""
    page = turn_page(project, wanted, before, sort=sort, skip=min(skip, settings.MRPVM_SEARCHED_ROWS) if sort else 0)
    rows = [_row(turn) for turn in page.turns]
    place = {"before": str(page.next_before or ""), "skip": str(page.next_skip or "")}
    saved = saved_filters(project)
    more = _query(q=wanted.text, sort=sort, **place) if page.next_before else ""
    return {
        "wanted": wanted,
        "rows": rows,
        "more": more,
        "is_cut_short": page.is_cut_short,
        "looked_at": f"{settings.MRPVM_SEARCHED_ROWS:,}",
        "here": _query(q=wanted.text, sort=sort),
        "sort": sort,
        "newest_url": f"{reverse('turns')}?{_query(q=wanted.text)}",
        "sort_urls": {
            name: f"{reverse('turns')}?{_query(q=wanted.text, sort='' if name == sort else name)}" for name in SORTS
        },
        "is_first": before is None,
        "choices": [
            QuickFilter(name=name, url=f"{reverse('turns')}?{_query(q=text, sort=sort)}", is_chosen=wanted.text == text)
            for text, name in FILTERS.items()
        ],
        "saved_choices": [
            QuickFilter(
                name=item.name,
                url=f"{reverse('turns')}?{_query(q=item.text, sort=sort)}",
                is_chosen=wanted.text == item.text,
            )
            for item in saved
        ],
        "is_savable": bool(wanted.terms)
        and not wanted.problems
        and wanted.text not in {*FILTERS, *(item.text for item in saved)},
        "exports": []
        if wanted.problems
        else [(name, _export_url(wanted.text, form)) for form, name in EXPORTS.items()],
        "several_max": SHOWN_MAX,
    }


def _export_url(text: str, form: str) -> str:
    return f"{reverse('api:turns-export')}?{_query(format=form, q=text)}"


def _row(turn: ExplainabilityTurn) -> TurnRow:
    basis = BASIS_WORDS[turn.answer_basis][0].lower() if turn.answer_basis in _WITH_BASIS else ""
    return TurnRow(
        turn=turn,
        url=reverse("turn", args=[turn.session.session_id, turn.request_id]),
        answer=plain(turn.assistant_preview) or (turn.error or {}).get("message", ""),
        outcome=outcome_words(turn.outcome, turn.status),
        basis=basis if turn.outcome == "answered" else "",
        tone=turn_tone(turn),
        duration=duration_badge(turn.duration_ms),
        rating=rating_of(turn),
    )


def _query(**parameters: str) -> str:
    return urlencode({name: value for name, value in parameters.items() if value})
