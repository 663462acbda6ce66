"""Search for a project's sessions, turns, units and bases by the filter language."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import or_

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.db.models.lookups import Contains, Exact

from sessions_app.models import ContextUnit, ExplainabilityTurn, KnowledgeBase, Message, Project, Session
from sessions_app.queries.knowledge.bases import knowledge_bases
from sessions_app.queries.search.filter_language import OUTCOMES, SLOW_MS, UNANSWERED, Filter, Term
from sessions_app.queries.sessions.lookups import overdue

_SUFFIX = {"=": "", "<": "__lt", "<=": "__lte", ">": "__gt", ">=": "__gte"}
_PLUGIN_COLUMNS = ("planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin")
_TURN_STATUSES = tuple(ExplainabilityTurn.Status.values)
OF_TURNS = frozenset({"is", "plugin", "level", "duration", "rating", "error", "model", "used", "by"})
"""Keys of turns. A session matches them if one of its turns does."""


def found_sessions(project: Project, wanted: Filter) -> QuerySet[Session]:
    """Return sessions whose title, beginning or id hold the words, latest activity first."""
    alive = Session.objects.filter(project=project, deleted_at=None, suite=None).select_related("mounted_kb")
    sessions = _narrowed(alive, wanted, _of_session, Q(session=OuterRef("pk")))
    return sessions.order_by("-last_activity_at", "-id")


def _narrowed[Row: Model](
    rows: QuerySet[Row], wanted: Filter, condition: Callable[[Term], Q], its_turns: Q
) -> QuerySet[Row]:
    """Return the rows that match; terms about turns must all match one turn of the row."""
    of_turns = [term for term in wanted.conditions if term.key in OF_TURNS]
    rows = rows.filter(*_conditions(rows.model, _without(wanted, OF_TURNS), condition))
    return rows.filter(Exists(_turns_of(its_turns, of_turns))) if of_turns else rows


def _of_session(term: Term) -> Q:
    match term.key:
        case "":
            return Q(title__icontains=term.value) | Q(first_message__icontains=term.value) | Q(session_id=term.value)
        case "status":
            return _session_status(str(term.value))
    return _of_place(term, "", "last_activity_at")


def _of_place(term: Term, prefix: str, moment: str) -> Q:
    """Return the condition of a term about the time or the session of a row.

    Args:
        prefix: the lookup path from the row to its session.
        moment: the column with the row's time.
    """
    match term.key:
        case "after" | "before":
            return _time(moment, term)
        case "kb":
            return _base(prefix, term)
        case "agent":
            return Q(**{f"{prefix}active_agent__iexact": term.value})
        case "session":
            return Q(**{f"{prefix}session_id": term.value})
    return Q()


def _session_status(status: str) -> Q:
    expired = overdue()
    if status == "expired":
        return expired
    running = Exists(ExplainabilityTurn.objects.filter(session=OuterRef("pk"), status="running"))
    if status == "active":
        return ~expired & ~Q(running)
    return Q(Exists(ExplainabilityTurn.objects.filter(_turn_status(status), session=OuterRef("pk"))))


def found_turns(project: Project, wanted: Filter) -> QuerySet[ExplainabilityTurn]:
    """Return turns with the words in question, answer, error or note, newest first, with session and rating."""
    turns = _of_project(_turns_of(Q(), wanted.terms), project).select_related("session", "rating")
    return turns.defer("response_document", "session__system_prompt").order_by("-id")


def session_turns(session: Session, wanted: Filter) -> QuerySet[ExplainabilityTurn]:
    """Return the turns of one session that match, without their documents."""
    turns = _turns_of(Q(session=session), wanted.terms).select_related("rating")
    return turns.defer("response_document").order_by("-turn_index")


def _turns_of(among: Q, terms: Iterable[Term]) -> QuerySet[ExplainabilityTurn]:
    errors = [Q(error__isnull=term.is_negated) for term in terms if (term.key, term.value) == ("in", "errors")]
    return ExplainabilityTurn.objects.filter(among, *errors, *_conditions(ExplainabilityTurn, terms, _of_turn))


def _of_turn(term: Term) -> Q:
    match term.key:
        case "":
            said = Message.objects.filter(turn=OuterRef("pk"), content__icontains=str(term.value))
            columns = ("user_message", "error__message", "error__code", "rating__note")
            return _any(columns, "icontains", term.value) | Q(Exists(said))
        case "status":
            return _turn_status(str(term.value))
        case "is":
            return _MARKS[str(term.value)]
        case "plugin":
            return _any(_PLUGIN_COLUMNS, "exact", term.value)
        case "level":
            return Q(**{f"deliberation_level{_SUFFIX[term.operator]}": term.value})
        case "duration":
            return Q(**{f"duration_ms{_SUFFIX[term.operator]}": term.value})
        case "rating":
            return Q(rating__isnull=True) if term.value == "none" else Q(rating__value=term.value)
        case "error":
            return Q(error__code__iexact=term.value)
        case "model":
            return Q(model__iexact=term.value)
        case "used":
            return _used(str(term.value))
        case "by":
            return Q(asked_by__iexact=term.value)
    return _of_place(term, "session__", "created_at")


def _used(model: str) -> Q:
    """Return the condition that a turn used the model; uses are stored as `[model, input tokens, output tokens]`.

    In the JSON text PostgreSQL has non-ASCII letters unescaped; SQLite keeps the text as it was written.
    """
    uses = Cast("model_usage", TextField())
    written = {json.dumps(model, ensure_ascii=is_ascii) for is_ascii in (True, False)}
    return reduce(or_, (Q(Contains(uses, f"[{name},")) for name in sorted(written)))


_MARKS = {
    "rewritten": Q(is_rewritten=True),
    "left-out": Q(left_out_count__gt=0),
    "ungrounded": Q(is_grounded=False),
    "slow": Q(duration_ms__gt=SLOW_MS),
    "imported": Q(kind=ExplainabilityTurn.Kind.IMPORTED),
}


def _turn_status(status: str) -> Q:
    if status == UNANSWERED:
        return Q(outcome__in=ExplainabilityTurn.UNANSWERED)
    if status in OUTCOMES:
        return Q(outcome=status)
    if status in _TURN_STATUSES:
        return Q(status=status)
    expired = overdue("session__")
    return expired if status == "expired" else ~expired


def found_units(project: Project, wanted: Filter) -> QuerySet[ContextUnit]:
    """Return units of sessions that contain the words, newest first, with session and turn."""
    alive = _of_project(ContextUnit.objects.all(), project)
    units = _narrowed(alive, wanted, _of_unit, Q(pk=OuterRef("turn_id"))).select_related("session", "turn")
    return units.defer("session__system_prompt", "turn__response_document").order_by("-id")


def _of_unit(term: Term) -> Q:
    match term.key:
        case "":
            return _any(("claim", "procedure", "topic"), "icontains", term.value)
        case "status":
            return _unit_status(str(term.value))
    return _of_place(term, "session__", "created_at")


def _unit_status(status: str) -> Q:
    if status == UNANSWERED:
        return Q(turn__outcome__in=ExplainabilityTurn.UNANSWERED)
    if status in OUTCOMES:
        return Q(turn__outcome=status)
    return Q(turn__status=status) if status in _TURN_STATUSES else _turn_status(status)


def imported_messages(project: Project, wanted: Filter) -> QuerySet[Message]:
    """Return messages without a turn that contain the words, newest first."""
    alive = _of_project(Message.objects.filter(turn__isnull=True), project)
    words = _conditions(Message, wanted.words, lambda term: Q(content__icontains=str(term.value)))
    return alive.filter(*words).select_related("session").order_by("-id")


def found_bases(project: Project, wanted: Filter) -> QuerySet[KnowledgeBase]:
    """Return the bases with the words in their names; other terms do not apply to bases."""
    words = _conditions(KnowledgeBase, wanted.words, lambda term: Q(name__icontains=str(term.value)))
    return knowledge_bases(project).filter(*words)


def _of_project[Row: Model](rows: QuerySet[Row], project: Project) -> QuerySet[Row]:
    """Return the rows whose session is one of the project's.

    SQLite has no statistics and would read every session of the project first and sort all its rows. The sum prevents
    that: the newest rows are read in order, and the session of each is looked up.
    """
    return rows.filter(Exact(F("session__project") + 0, project.pk), session__deleted_at__isnull=True)


def _without(wanted: Filter, keys: frozenset[str]) -> Iterator[Term]:
    return (term for term in wanted.terms if term.key not in keys)


def _base(prefix: str, term: Term) -> Q:
    path = f"{prefix}mounted_kb__"
    return Q(**{f"{path}name__iexact": term.value}) | Q(**{f"{path}kb_id": term.value})


def _time(column: str, term: Term) -> Q:
    return Q(**{f"{column}__{'gte' if term.key == 'after' else 'lt'}": term.value})


def _any(columns: Iterable[str], lookup: str, value: object) -> Q:
    return reduce(or_, (Q(**{f"{column}__{lookup}": value}) for column in columns))


def _conditions(model: type[Model], terms: Iterable[Term], condition: Callable[[Term], Q]) -> Iterator[Q]:
    """Yield the condition of each term for the model's rows.

    An excluded term is a subquery, because NOT over a null column is neither true nor false. The term `in` names the
    kinds to search and has no condition.
    """
    for term in terms:
        if term.key == "in":
            continue
        wanted = condition(term)
        yield Q(~Exists(model._default_manager.filter(wanted, pk=OuterRef("pk")))) if term.is_negated else wanted
