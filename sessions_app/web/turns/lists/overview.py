"""The context of the overview: figures with links to their turns, and the series of the charts."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from sessions_app.models import ExplainabilityTurn, PluginStatistics, Project
from sessions_app.queries.experiments.suites import listed_suites
from sessions_app.queries.search.filter_language import parse
from sessions_app.queries.turns.lists import turn_page
from sessions_app.queries.turns.overview import (
    SPANS,
    ModelCost,
    Overview,
    TimeStep,
    TurnFigures,
    overview,
    slowest_plugins,
)

DEFAULT_SPAN = "7d"
QUESTIONS_SHOWN = 10
SUITES_SHOWN = 10
UNANSWERED_LOOKED_AT = 200
"""Newest unanswered turns among which the most frequent questions are counted."""
_QUESTION_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure and the address of its turns."""

    name: str
    value: str
    url: str
    note: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One hour or day of the table, with the addresses of all its turns, of some of them, and of all in some order."""

    step: TimeStep
    turns_url: str
    unanswered_url: str
    failed_url: str
    down_url: str
    slowest_url: str
    tokens_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An unanswered question, how often it was asked, and the turns that asked it."""

    text: str
    count: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedModel:
    """The input and output tokens of a model, and the turns that used it, those with most tokens first."""

    use: ModelCost
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowPlugin:
    """A plugin and the turns that ran it."""

    statistics: PluginStatistics
    url: str


def overview_context(project: Project, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the overview for the time span, base, model, agent and asker that the query string names."""
    span = SPANS.get(parameters.get("span", ""), SPANS[DEFAULT_SPAN])
    chosen = {name: parameters.get(name, "") for name in ("kb_id", "model", "agent", "asked_by")}
    figures = overview(project, span, **chosen)
    within = _conditions(chosen)
    begins_at = figures.steps[0].begins_at
    since = f"after:{_moment(begins_at)}"
    return {
        "span": span,
        "spans": SPANS.values(),
        "chosen": chosen,
        "overview": figures,
        "tiles": _tiles(figures, f"{since} {within}"),
        "rows": [_row(step, within) for step in reversed(figures.steps)],
        "series": json.dumps(_series(figures.steps)),
        "questions": _questions(project, f"status:unanswered {since} {within}"),
        "looked_at": UNANSWERED_LOOKED_AT,
        "models": [
            UsedModel(use=use, url=f"{_turns_url(f'used:"{_unquoted(use.model)}" {since} {within}')}&sort=tokens")
            for use in figures.uses
        ],
        "suites": [listed for listed in listed_suites(project) if listed.last_run][:SUITES_SHOWN],
        "slow_plugins": [
            SlowPlugin(statistics=row, url=_turns_url(f"plugin:{row.plugin_id} {since} {within}"))
            for row in slowest_plugins(project)
        ],
    }


def _conditions(chosen: Mapping[str, str]) -> str:
    """Return the page's choices as conditions of the filter language."""
    named = {"kb": chosen["kb_id"], "model": chosen["model"], "agent": chosen["agent"], "by": chosen["asked_by"]}
    return " ".join(f'{key}:"{_unquoted(value)}"' for key, value in named.items() if value)


def _unquoted(text: str) -> str:
    return text.partition('"')[0]


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M}"


def _turns_url(filters: str) -> str:
    return f"{reverse('turns')}?{urlencode({'q': ' '.join(filters.split())})}"


def _tiles(figures: Overview, since: str) -> list[Tile]:
    whole = figures.whole
    return [
        Tile(name="Turns", value=f"{whole.turn_count:,}", url=_turns_url(since)),
        *([_imported_tile(whole, since)] if whole.imported_count else []),
        Tile(
            name="Unanswered",
            value=f"{whole.unanswered_count:,}",
            url=_turns_url(f"status:unanswered {since}"),
            note=_share(whole.unanswered_count, whole),
            tone="warn" if whole.unanswered_count else "",
        ),
        Tile(
            name="Failed",
            value=f"{whole.failed_count:,}",
            url=_turns_url(f"status:failed {since}"),
            note=_share(whole.failed_count, whole),
            tone="error" if whole.failed_count else "",
        ),
        Tile(name="Rated up", value=f"{whole.up_count:,}", url=_turns_url(f"rating:up {since}")),
        Tile(name="Rated down", value=f"{whole.down_count:,}", url=_turns_url(f"rating:down {since}")),
        Tile(name="Latency p50", value=_milliseconds(whole.p50_ms), url=_turns_url(since)),
        Tile(
            name="Latency p95",
            value=_milliseconds(whole.p95_ms),
            url=_turns_url(f"duration:>{whole.p95_ms}ms {since}" if whole.p95_ms else since),
        ),
        Tile(name="Tokens", value=f"{whole.token_count:,}", url=f"{_turns_url(since)}&sort=tokens"),
        *([Tile(name="Cost", value=f"{figures.cost:,.2f}", url="#models")] if figures.cost is not None else []),
    ]


def _imported_tile(whole: TurnFigures, since: str) -> Tile:
    count = whole.imported_count
    return Tile(name="Imported", value=f"{count:,}", url=_turns_url(f"is:imported {since}"), note=_share(count, whole))


def _share(count: int, whole: TurnFigures) -> str:
    return f"{count / whole.turn_count:.1%}" if whole.turn_count else ""


def _milliseconds(value: int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,} ms" if value < 10_000 else f"{value / 1000:,.1f} s"


def _row(step: TimeStep, within: str) -> StepRow:
    bounds = f"after:{_moment(step.begins_at)} before:{_moment(step.ends_at)} {within}"
    return StepRow(
        step=step,
        turns_url=_turns_url(bounds),
        unanswered_url=_turns_url(f"status:unanswered {bounds}"),
        failed_url=_turns_url(f"status:failed {bounds}"),
        down_url=_turns_url(f"rating:down {bounds}"),
        slowest_url=f"{_turns_url(bounds)}&sort=time",
        tokens_url=f"{_turns_url(bounds)}&sort=tokens",
    )


def _series(steps: Sequence[TimeStep]) -> dict[str, list[int | None]]:
    """Return the series of the charts: first the Unix seconds, then the values of each chart."""
    figures = [step.figures for step in steps]
    return {
        "times": [int(step.begins_at.timestamp()) for step in steps],
        "turns": [item.turn_count for item in figures],
        "unanswered": [item.unanswered_count for item in figures],
        "failed": [item.failed_count for item in figures],
        "p50": [item.p50_ms for item in figures],
        "p95": [item.p95_ms for item in figures],
        "tokens": [item.token_count for item in figures],
    }


def _questions(project: Project, filters: str) -> list[Question]:
    """Return the most frequent questions of the newest unanswered turns; case and punctuation are ignored."""
    alike: defaultdict[str, list[ExplainabilityTurn]] = defaultdict(list)
    for turn in turn_page(project, parse(filters), limit=UNANSWERED_LOOKED_AT).turns:
        words = "".join(char if char.isalnum() else " " for char in turn.user_message.casefold())
        alike[" ".join(words.split())].append(turn)
    most = sorted(alike.values(), key=len, reverse=True)[:QUESTIONS_SHOWN]
    return [_question(turns, filters) for turns in most]


def _question(turns: Sequence[ExplainabilityTurn], filters: str) -> Question:
    newest = turns[0]
    if len(turns) == 1:
        url = reverse("turn", args=[newest.session.session_id, newest.request_id])
    else:
        question = _unquoted(newest.user_message)[:_QUESTION_CHARS].rstrip("?!. ")
        url = _turns_url(f'{filters} "{question}"')
    return Question(text=newest.user_message, count=len(turns), url=url)
