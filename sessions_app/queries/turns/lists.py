"""The turns of all sessions of a project, newest first, as lists and the API page through them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched, takewhile
from statistics import median

from django.conf import settings
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import RawSQL

from mrpvm.errors import NotFound
from sessions_app.models import ExplainabilityTurn, KBMount, Project, Session, TurnRating
from sessions_app.queries.search.filter_language import SLOW_MS, UNANSWERED, Filter, parse
from sessions_app.queries.search.results import found_turns

SHOWN = 50
SHOWN_MAX = 200
PAGES_LOOKED_AT = 20
"""Pages of `MRPVM_SEARCHED_ROWS` turns that a bulk action goes through."""
SORTS: Mapping[str, str] = {"time": "duration_ms", "tokens": "token_count"}
"""The columns that a page can be ordered by in place of the time at which a turn began."""
_INDEXED: Mapping[tuple[str, str], Q] = {
    ("status", UNANSWERED): Q(outcome__in=ExplainabilityTurn.UNANSWERED),
    ("status", "no-answer"): Q(outcome=ExplainabilityTurn.Outcome.NO_ANSWER),
    ("status", "noted"): Q(outcome=ExplainabilityTurn.Outcome.NOTED),
    ("status", "quoted"): Q(outcome=ExplainabilityTurn.Outcome.QUOTED),
    ("status", "failed"): Q(outcome=ExplainabilityTurn.Outcome.FAILED),
    ("status", "cancelled"): Q(outcome=ExplainabilityTurn.Outcome.STOPPED),
    ("status", "interrupted"): Q(outcome=ExplainabilityTurn.Outcome.INTERRUPTED),
    ("is", "rewritten"): Q(is_rewritten=True),
    # SQLite uses a partial index only if the statement repeats the condition of the index literally.
    ("is", "left-out"): Q(left_out_count__gt=RawSQL("0", ())),
    ("is", "slow"): Q(duration_ms__gt=RawSQL(str(SLOW_MS), ())),  # noqa: S611  (a constant)
    ("is", "imported"): Q(kind=RawSQL("'imported'", ())),
}
"""The conditions that an index of turns covers, by key and value of a term."""
_COLUMNS = (
    "session__session_id", "session__title", "session__first_message", "request_id", "turn_index", "kind", "status",
    "outcome", "answer_status", "answer_basis", "created_at", "finished_at", "duration_ms", "user_message",
    "assistant_preview", "asked_by", "planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin",
    "deliberation_level", "model", "token_count", "is_rewritten", "left_out_count", "error",
    "is_grounded", "rating__turn_id", "rating__value", "rating__note",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPage:
    """Some turns with `base_name` and `base_id`, those of the base that each ran over.

    `next_before` is the key below which to continue, None at the end; a sorted page continues after `next_skip` rows.
    `is_cut_short` says that the limit of searched rows was reached before the page was full.
    """

    turns: Sequence[ExplainabilityTurn]
    next_before: int | None
    next_skip: int = 0
    is_cut_short: bool = False


def turn_page(
    project: Project, wanted: Filter, before: int | None = None, limit: int = SHOWN, *, sort: str = "", skip: int = 0
) -> TurnPage:
    """Return the newest turns below the key `before` that fit.

    At most `MRPVM_SEARCHED_ROWS` rows are searched, so that the cost of a page is bounded. A page may be short or empty
    and still say where to continue. If an index finds the turns, only the rows that it finds count.

    Args:
        sort: one of `SORTS`, by which the matching rows are ordered, largest first.
        skip: the number of rows on earlier pages; only with `sort`.
    """
    stored = ExplainabilityTurn.objects.order_by()
    start = before or (stored.aggregate(newest=Max("pk"))["newest"] or 0) + 1
    turns = _with_base(found_turns(project, wanted).defer(None).only(*_COLUMNS))
    keys = _indexed_keys(wanted, start)
    if keys is None:
        bound = start - settings.MRPVM_SEARCHED_ROWS
        goes_on = stored.filter(pk__lt=bound).exists()
    else:
        bound = keys[-1] if keys else 0
        goes_on = len(keys) == settings.MRPVM_SEARCHED_ROWS
        turns = turns.filter(pk__in=keys)
    among = turns.filter(pk__lt=start, pk__gte=bound)
    if sort:
        rows = list(among.order_by(F(SORTS[sort]).desc(nulls_last=True), "-pk")[skip : skip + limit + 1])
        if len(rows) > limit:
            return TurnPage(turns=rows[:limit], next_before=start, next_skip=skip + limit)
    else:
        rows = list(among[: limit + 1])
        if len(rows) > limit:
            return TurnPage(turns=rows[:limit], next_before=rows[limit - 1].pk)
    return TurnPage(turns=rows, next_before=bound if goes_on else None, is_cut_short=goes_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTurns:
    """Some of the newest turns that match; `has_more` says that there may be others."""

    turns: Sequence[ExplainabilityTurn]
    has_more: bool


def newest_turns(project: Project, wanted: Filter, most: int) -> FoundTurns:
    """Return the newest turns that fit, at most `most` of them, looked for in `PAGES_LOOKED_AT` pages at most."""
    turns: list[ExplainabilityTurn] = []
    before = None
    for _ in range(PAGES_LOOKED_AT):
        page = turn_page(project, wanted, before, limit=most - len(turns))
        turns += page.turns
        before = page.next_before
        if before is None or len(turns) == most:
            break
    return FoundTurns(turns=turns, has_more=before is not None)


def turns_named(project: Project, request_ids: Collection[str]) -> list[ExplainabilityTurn]:
    """Return the project's turns with these ids, the newest first.

    Raises:
        NotFound: TURN_NOT_FOUND, one of them.
    """
    turns = list(found_turns(project, Filter(text="")).filter(request_id__in=request_ids))
    missing = sorted(set(request_ids) - {turn.request_id for turn in turns})
    if missing:
        raise NotFound(f"There is no turn '{missing[0]}'.", code="TURN_NOT_FOUND")
    return turns


def _indexed_keys(wanted: Filter, start: int) -> list[int] | None:
    """Return the newest keys below `start` of the turns that an index finds by a term; None if no term has an index.

    The keys are read by a query of their own, because with the whole condition a database may scan all rows.
    """
    for term in wanted.terms:
        if term.is_negated:
            continue
        if term.key == "rating" and term.value != "none":
            rated = TurnRating.objects.filter(value=term.value, turn__lt=start).order_by("-turn")
            return list(rated.values_list("turn_id", flat=True)[: settings.MRPVM_SEARCHED_ROWS])
        condition = _INDEXED.get((term.key, str(term.value)))
        if condition is not None:
            marked = ExplainabilityTurn.objects.filter(condition, pk__lt=start).order_by("-pk")
            return list(marked.values_list("pk", flat=True)[: settings.MRPVM_SEARCHED_ROWS])
    return None


def latest_turns(sessions: Collection[Session], count: int) -> dict[int, list[ExplainabilityTurn]]:
    """Return the last turns of each session under its key, oldest first, with their ratings; one query."""
    rows = ExplainabilityTurn.objects.filter(
        session__in=[session.pk for session in sessions], turn_index__gt=F("session__turn_sequence") - count
    )
    columns = (
        "session_id", "turn_index", "kind", "status", "outcome", "answer_status", "answer_basis", "user_message",
        "assistant_preview", "command_result", "duration_ms", "token_count", "rating__turn_id", "rating__value",
    )  # fmt: skip
    turns: dict[int, list[ExplainabilityTurn]] = {session.pk: [] for session in sessions}
    for turn in rows.select_related("rating").only(*columns).order_by("session_id", "turn_index"):
        turns[turn.session_id].append(turn)
    return turns


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFigures:
    """Figures of a session's last turns: their median duration in ms, tokens and thumbs."""

    p50_ms: float | None
    token_count: int
    up_count: int
    down_count: int


type Figured = tuple[int | None, int | None, str]
"""A turn's duration in ms, its tokens, its thumb."""


def figures_of(turns: Sequence[Figured]) -> SessionFigures:
    """Return what some turns come to."""
    durations = [duration_ms for duration_ms, _, _ in turns if duration_ms is not None]
    thumbs = [thumb for _, _, thumb in turns]
    return SessionFigures(
        p50_ms=median(durations) if durations else None,
        token_count=sum(tokens or 0 for _, tokens, _ in turns),
        up_count=thumbs.count("up"),
        down_count=thumbs.count("down"),
    )


def latest_figures(sessions: Collection[int], count: int) -> dict[int, SessionFigures]:
    """Return the figures of the last turns of sessions, by the sessions' keys; one query for 5,000 of them."""
    turns: dict[int, list[Figured]] = {pk: [] for pk in sessions}
    for some in batched(sessions, settings.MRPVM_SEARCHED_ROWS, strict=False):
        newest = ExplainabilityTurn.objects.filter(session__in=some, turn_index__gt=F("session__turn_sequence") - count)
        columns = ("session_id", "duration_ms", "token_count", "rating__value")
        for pk, duration_ms, tokens, thumb in newest.order_by().values_list(*columns):
            turns[pk].append((duration_ms, tokens, thumb or ""))
    return {pk: figures_of(rows) for pk, rows in turns.items()}


def used_since(session: Session, used: Mapping[str, str | int | None]) -> dict[str, int | None]:
    """Return for each column since which turn all answered turns have used the value; one query.

    None if the latest did not. At most `SHOWN_MAX` turns are read.
    """
    answered = session.turns.filter(status=ExplainabilityTurn.Status.SUCCEEDED, kind=ExplainabilityTurn.Kind.CHAT)
    rows = list(answered.order_by("-turn_index").values("turn_index", *used)[:SHOWN_MAX])
    since: dict[str, int | None] = {}
    for column, value in used.items():
        alike = [row["turn_index"] for row in takewhile(lambda row: row[column] == value, rows)]  # noqa: B023
        since[column] = alike[-1] if alike else None
    return since


def _with_base(turns: QuerySet[ExplainabilityTurn]) -> QuerySet[ExplainabilityTurn]:
    mounts = KBMount.objects.filter(session=OuterRef("session"), mounted_at__lte=OuterRef("created_at")).order_by("-id")
    return turns.annotate(
        base_name=Subquery(mounts.values("knowledge_base__name")[:1]),
        base_id=Subquery(mounts.values("knowledge_base__kb_id")[:1]),
    )


def newest_by_outcome(project: Project, outcomes: Collection[str]) -> dict[str, ExplainabilityTurn]:
    """Return the newest turn of each outcome among the newest `MRPVM_SEARCHED_ROWS`; at most two queries an outcome."""
    turns_by_outcome = {}
    for outcome in outcomes:
        page = turn_page(project, parse(f"status:{outcome}"), limit=1)
        if page.turns:
            turns_by_outcome[outcome] = page.turns[0]
    return turns_by_outcome
