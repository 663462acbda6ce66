"""What the turns of a project came to, from their counts: costs the same however many there are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from sessions_app.models import CountedTurns, KnowledgeBase, PluginStatistics, Project, TurnCounts
from sessions_app.models.turns.durations import percentile_ms

PLUGINS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How far back an overview looks, and in what steps."""

    name: str
    label: str
    length: timedelta
    step: timedelta

    def begins_at(self, now: datetime) -> datetime:
        """Return the beginning of the first step; the last one is the running hour or day (UTC)."""
        latest = now.replace(minute=0, second=0, microsecond=0)
        if self.step == _DAY:
            latest = latest.replace(hour=0)
        return latest - self.length + self.step


_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
SPANS: Mapping[str, Span] = {
    span.name: span
    for span in (
        Span(name="24h", label="24 hours", length=_DAY, step=_HOUR),
        Span(name="7d", label="7 days", length=7 * _DAY, step=_HOUR),
        Span(name="30d", label="30 days", length=30 * _DAY, step=_DAY),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFigures:
    """What some turns came to; the percentiles are None without turns."""

    turn_count: int
    unanswered_count: int
    failed_count: int
    up_count: int
    down_count: int
    imported_count: int
    token_count: int
    p50_ms: int | None
    p95_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeStep:
    """The figures of one hour or day."""

    begins_at: datetime
    ends_at: datetime
    figures: TurnFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """What one model took and wrote in tokens; `cost` is None where it has no price."""

    model: str
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A project's turns over a span; `bases` are names by id, of all that the span has, like `models`,
    `agents` and `askers`."""

    whole: TurnFigures
    steps: Sequence[TimeStep]
    uses: Sequence[ModelCost]
    cost: float | None
    bases: Mapping[str, str]
    models: Sequence[str]
    agents: Sequence[str]
    askers: Sequence[str]
    counted_at: datetime | None


def overview(
    project: Project, span: Span, *, kb_id: str = "", model: str = "", agent: str = "", asked_by: str = ""
) -> Overview:
    """Return the figures of the turns that began in the span, of one base, requested model, agent and asker if given.

    Args:
        asked_by: the name of a user or API key.
    """
    begins_at = span.begins_at(timezone.now())
    rows = list(TurnCounts.objects.filter(project=project, hour__gte=begins_at, turn_count__gt=0))
    fitting = [
        row
        for row in rows
        if kb_id in ("", row.kb_id)
        and model in ("", row.model)
        and agent in ("", row.agent)
        and asked_by in ("", row.asked_by)
    ]
    by_step: defaultdict[int, list[TurnCounts]] = defaultdict(list)
    for row in fitting:
        by_step[(row.hour - begins_at) // span.step].append(row)
    steps = [
        TimeStep(
            begins_at=begins_at + place * span.step,
            ends_at=begins_at + (place + 1) * span.step,
            figures=_figures(by_step[place]),
        )
        for place in range(span.length // span.step)
    ]
    uses = _uses(fitting)
    costs = [use.cost for use in uses if use.cost is not None]
    ids = {row.kb_id for row in rows}
    names = dict(KnowledgeBase.objects.filter(project=project, kb_id__in=ids).values_list("kb_id", "name"))
    return Overview(
        whole=_figures(fitting),
        steps=steps,
        uses=uses,
        cost=sum(costs) if costs else None,
        bases={base_id: names.get(base_id, base_id) for base_id in sorted(ids)},
        models=sorted({row.model for row in rows if row.model}),
        agents=sorted({row.agent for row in rows}),
        askers=sorted({row.asked_by for row in rows if row.asked_by}),
        counted_at=CountedTurns.objects.values_list("counted_at", flat=True).first(),
    )


def slowest_plugins(project: Project) -> list[PluginStatistics]:
    """Return the plugins that usually take longest."""
    return list(PluginStatistics.objects.filter(project=project).order_by("-latency_ms")[:PLUGINS_SHOWN])


def _figures(rows: Iterable[TurnCounts]) -> TurnFigures:
    totals: Counter[str] = Counter()
    durations: Counter[int] = Counter()
    for row in rows:
        totals["turns"] += row.turn_count
        totals["unanswered"] += row.unanswered_count
        totals["failed"] += row.failed_count
        totals["up"] += row.up_count
        totals["down"] += row.down_count
        totals["imported"] += row.imported_count
        totals["tokens"] += sum(taken + written for taken, written in row.tokens.values())
        durations.update({int(key): count for key, count in row.durations.items()})
    return TurnFigures(
        turn_count=totals["turns"],
        unanswered_count=totals["unanswered"],
        failed_count=totals["failed"],
        up_count=totals["up"],
        down_count=totals["down"],
        imported_count=totals["imported"],
        token_count=totals["tokens"],
        p50_ms=percentile_ms(durations, 0.5),
        p95_ms=percentile_ms(durations, 0.95),
    )


def _uses(rows: Iterable[TurnCounts]) -> list[ModelCost]:
    taken: Counter[str] = Counter()
    written: Counter[str] = Counter()
    for row in rows:
        for model, (input_tokens, output_tokens) in row.tokens.items():
            taken[model] += input_tokens
            written[model] += output_tokens
    return [
        ModelCost(
            model=model,
            input_tokens=count,
            output_tokens=written[model],
            cost=_cost(model, count, written[model]),
        )
        for model, count in sorted(taken.items(), key=lambda item: -(item[1] + written[item[0]]))
    ]


def _cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    price = settings.MRPVM_MODEL_PRICES.get(model)
    return None if price is None else (input_tokens * price[0] + output_tokens * price[1]) / 1_000_000
