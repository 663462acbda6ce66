"""Views of experiments: replays, trials with changes, searches for causes, and searches through time."""

import json
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.assistants.personas import STYLES
from mrpvm.errors import MRPError
from mrpvm.text_cache import TextCache
from mrpvm.wire import from_wire
from sessions_app.actions.experiments.experiments import Author, cancel_experiment, delete_experiment
from sessions_app.experiments.diagnosis.search import USUAL_BOUNDS, Bounds, Expectation
from sessions_app.experiments.replays.recorded import NotReplayable
from sessions_app.experiments.replays.replay import ReplayResult, replay_turn
from sessions_app.experiments.running.experiments import (
    estimate_rest,
    estimate_trials,
    start_bisect,
    start_diagnosis,
    start_more_trials,
    start_trials,
)
from sessions_app.experiments.trials.changes import Changes
from sessions_app.experiments.trials.continuation import continue_from
from sessions_app.experiments.trials.live import Estimate
from sessions_app.language_model import is_configured
from sessions_app.models import Experiment, ExplainabilityTurn
from sessions_app.queries.experiments import experiments
from sessions_app.queries.experiments.forgetting.acts import last_act_began_at
from sessions_app.queries.knowledge.bases import knowledge_base, offered_bases
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.frozen_content import agents_of, personas_of
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.queries.turns import registry as turns
from sessions_app.web.experiments.comparison import experiment_context
from sessions_app.web.experiments.trial_form import changes_of, offered
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of, keep, take
from sessions_app.web.shell.pages import page, tell, tell_error
from sessions_app.web.turns.panels.choice import plugin_selectors

EXPECTED_CHARS = 2_000
PAGE_ROWS = 50
SEARCHING_MS, ASKING_MS = USUAL_BOUNDS.max_ms, 60_000
"""Time limits of a search for causes: longer if a model may be called."""
AT_ONCE_MS = 1_000
"""How long a form waits for its experiment. Most end within this time, so the page need not be reloaded."""


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the project's experiments, the newest first."""
    kind = request.GET.get("kind", "")
    kind = kind if kind in Experiment.Kind else ""
    try:
        listed = experiments.experiment_page(member.project, PAGE_ROWS, request.GET.get("cursor") or None, kind)
    except MRPError:  # an address that was cut
        listed = experiments.experiment_page(member.project, PAGE_ROWS, None, kind)
    context = {"experiments": listed.rows, "next_cursor": listed.next_cursor, "kind": kind}
    return page(request, "experiments/index.html", member, context, section="experiments")


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, experiment_id: str) -> HttpResponse:
    """Show an experiment with its trials side by side; for HTMX only the part that changes while it runs."""
    experiment = experiments.experiment(member.project, experiment_id)
    if experiment.kind == Experiment.Kind.SUITE:
        return HttpResponseRedirect(reverse("suite-run", args=[experiment.suite_run.suite.suite_id, experiment_id]))
    template = "experiments/show.html" + ("#news" if "HX-Request" in request.headers else "")
    context = experiment_context(experiment, may_change=may_change(member, experiment))
    return page(request, template, member, context, section="experiments")


@form_of("experiment", "experiment_id")
@member_view()
def stop(request: HttpRequest, member: Member, experiment_id: str) -> HttpResponse:
    """Request the end of a running experiment."""
    experiment = _changeable(member, experiment_id)
    try:
        cancel_experiment(experiment)
        tell(request, "The experiment is being stopped. What it has tried is kept.")
    except MRPError as refused:
        tell_error(request, refused)
    return HttpResponseRedirect(_address(experiment))


@form_of("experiment", "experiment_id")
@member_view()
def delete(request: HttpRequest, member: Member, experiment_id: str) -> HttpResponse:
    """Remove an experiment with its trials."""
    delete_experiment(_changeable(member, experiment_id))
    tell(request, "The experiment is deleted.")
    return HttpResponseRedirect(reverse("experiments"))


@require_safe
@member_view()
def diagnosis(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the form, and the search that the query string names; for HTMX only its findings."""
    turn = turns.turn(member.project, session_id, request_id)
    context: dict[str, Any] = {
        **_turn_context(turn),
        "tab": "diagnosis",
        "expected": _expected(request.GET),
        "earlier": experiments.experiments_of(turn, 10, "diagnosis"),
    }
    if request.GET.get("experiment"):
        experiment = experiments.experiment_over(turn, request.GET["experiment"])
        context |= experiment_context(experiment, may_change=may_change(member, experiment))
        context["earlier"] = [each for each in context["earlier"] if each.pk != experiment.pk]
        question = experiment.question
        context["expected"] = Expectation(
            should_contain=question.get("shouldContain", ""), should_not_contain=question.get("shouldNotContain", "")
        )
        context["rest"] = _estimate_rest(experiment) if member.can_write and is_configured() else None
    template = "experiments/diagnosis.html" + ("#news" if "HX-Request" in request.headers else "")
    return page(request, template, member, context, section="sessions")


@form_of("turn-diagnosis", "session_id", "request_id")
@member_view()
def diagnose(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Start the search for causes and redirect to the page of its findings."""
    turn = turns.turn(member.project, session_id, request_id)
    address = reverse("turn-diagnosis", args=[session_id, request_id])
    expected = _expected(request.POST)
    try:
        allow_model = "allow_model" in request.POST and member.can_write
        bounds = Bounds(exhaustive="exhaustive" in request.POST, max_ms=ASKING_MS if allow_model else SEARCHING_MS)
        experiment = start_diagnosis(
            turn, expected, bounds, author_of(member), allow_model=allow_model, wait_ms=AT_ONCE_MS // 2
        )
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(f"{address}?{urlencode(_asked(expected))}")
    return HttpResponseRedirect(f"{address}?{urlencode({'experiment': experiment.experiment_id})}")


@require_safe
@member_view()
def trial(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the form of a trial, filled in from the query string or from an earlier trial (`from`)."""
    turn = turns.turn(member.project, session_id, request_id)
    kept = take(request, _refused_trial(turn))
    changes, experiment = from_wire(Changes, kept) if kept else _changes_named(request, turn), None
    if request.GET.get("experiment"):
        experiment = experiments.experiment_over(turn, request.GET["experiment"])
        number = whole_number(request.GET.get("from"))
        earlier = next((each for each in experiments.trials(experiment) if each.position == number), None)
        changes = from_wire(Changes, earlier.changes) if earlier else changes
    context: dict[str, Any] = {
        **_turn_context(turn),
        "tab": "try",
        "changes": changes,
        "experiment": experiment,
        "offered": offered(turn.response_document, changes),
        "with_units": "\n".join(changes.with_units),
        "selectors": plugin_selectors(changes.pins),
        "bases": offered_bases(member.project, changes.base or "")[0],
        "whole_history": "history_max_turns" in changes.flags,
        "rewriting": changes.flags.get("enable_query_rewriting"),
        "earlier": experiments.experiments_of(turn, 10, "trials"),
        "has_model": is_configured(),
        "personas": [each.id for each in personas_of(turn.session).personas],
        "agents": [each.id for each in agents_of(turn.session).agents],
        "styles": STYLES,
        "estimate": _estimate(turn) if member.can_write and is_configured() else None,
    }
    return page(request, "experiments/trial.html", member, context, section="sessions")


@form_of("turn-try", "session_id", "request_id")
@member_view()
def try_turn(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Run the trial in the experiment that the form names or in a new one, and redirect to the experiment."""
    turn = turns.turn(member.project, session_id, request_id)
    changes = Changes()
    try:
        changes = changes_of(request.POST, turn.user_message)
        if request.POST.get("experiment"):
            experiment = experiments.experiment_over(turn, request.POST["experiment"])
            _check_change(member, experiment)
            if experiment.asks_models:
                member.check("editor")
            made = start_more_trials(experiment, [changes], wait_ms=AT_ONCE_MS)
        else:
            allow_model = "allow_model" in request.POST and member.can_write
            made = start_trials(
                turn.session, turn, [changes], author_of(member), allow_model=allow_model, wait_ms=AT_ONCE_MS
            )
    except MRPError as refused:
        return _ask_again(request, turn, changes, refused)
    return HttpResponseRedirect(_address(made))


def _ask_again(request: HttpRequest, turn: ExplainabilityTurn, changes: Changes, refused: MRPError) -> HttpResponse:
    """Show the form of a refused trial again, filled in as it was sent."""
    tell_error(request, refused)
    keep(request, _refused_trial(turn), changes.as_record())
    beside = {"experiment": request.POST["experiment"]} if request.POST.get("experiment") else None
    return HttpResponseRedirect(reverse("turn-try", args=[turn.session.session_id, turn.request_id], query=beside))


def _refused_trial(turn: ExplainabilityTurn) -> str:
    return f"trial:{turn.request_id}"


@require_safe
@member_view()
def bisect(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Show the form of a search for the first turn or revision that leads to the present answer."""
    session = session_of(member.project, session_id)
    questions = [turn for turn in turns.turns(session).order_by("-turn_index")[:PAGE_ROWS] if turn.kind == "chat"]
    context = {
        "session": session,
        "turns": questions,
        "chosen": request.GET.get("turn", ""),
        "bases": offered_bases(member.project, "")[0],
        "chosen_base": request.GET.get("base", ""),
        "expected": _expected(request.GET),
    }
    return page(request, "experiments/bisect.html", member, context, section="sessions")


@form_of("session-bisect", "session_id")
@member_view()
def search_time(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Start the search through time and redirect to its experiment."""
    turn = turns.turn(member.project, session_id, request.POST.get("turn", ""))
    kb_id, expected = request.POST.get("base", ""), _expected(request.POST)
    try:
        base = knowledge_base(member.project, kb_id) if kb_id else None
        experiment = start_bisect(turn, expected, author_of(member), base, wait_ms=AT_ONCE_MS)
    except MRPError as refused:
        tell_error(request, refused)
        asked = urlencode({"turn": turn.request_id, "base": kb_id, **_asked(expected)})
        return HttpResponseRedirect(f"{reverse('session-bisect', args=[session_id])}?{asked}")
    return HttpResponseRedirect(_address(experiment))


@require_safe
@member_view()
def replay(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show whether a replay of the turn gives the recorded result, and the differences; for HTMX only one line."""
    turn = turns.turn(member.project, session_id, request_id)
    context: dict[str, Any] = {**_turn_context(turn), "tab": "replay"}
    is_line = "HX-Request" in request.headers
    try:
        replayed = _known_replay(turn.pk, *_removals(turn)) if is_line else replay_turn(turn)
        context["replayed"] = replayed
        if replayed.divergence is not None:
            difference = replayed.divergence.difference
            context |= {"recorded_text": _json(difference.recorded), "replayed_text": _json(difference.replayed)}
    except MRPError as refused:
        context |= {"refused": refused.message, "not_replayable": isinstance(refused, NotReplayable)}
    template = "experiments/replay.html" + ("#line" if is_line else "")
    return page(request, template, member, context, section="sessions")


@TextCache
def _known_replay(turn_pk: int, *removals: object) -> ReplayResult:
    """Return the cached result of the turn's replay, which every page of the turn shows."""
    return replay_turn(turns.turn_by_key(turn_pk))


def _removals(turn: ExplainabilityTurn) -> tuple[object, ...]:
    """Return a cache key that changes when content of the turn is removed: a replay may then be impossible."""
    removed_count = turn.session.removed_message_count
    last_act = last_act_began_at(turn.session.project)
    return (turn.request_id, turn.payloads_removed_at, turn.exchanges_removed_at, removed_count, last_act)


@form_of("turn-try", "session_id", "request_id")
@member_view("editor")
def continuation(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Fork the session before the turn, send the trial's message with its choices, and redirect to the fork's turn."""
    turn = turns.turn(member.project, session_id, request_id)
    changes = Changes()
    try:
        changes = changes_of(request.POST, turn.user_message)
        continued = continue_from(turn, changes, tells_supposed="tell_supposed" in request.POST)
    except MRPError as refused:
        return _ask_again(request, turn, changes, refused)
    return HttpResponseRedirect(reverse("turn", args=[continued.session.session_id, continued.request_id]))


def _changes_named(request: HttpRequest, turn: ExplainabilityTurn) -> Changes:
    try:
        return changes_of(request.GET, turn.user_message)
    except MRPError as refused:
        tell_error(request, refused)
        return Changes()


def _estimate(turn: ExplainabilityTurn) -> Estimate | None:
    try:
        return estimate_trials(turn.session, turn, "", 1)
    except MRPError:  # the page says why it cannot be run
        return None


def _estimate_rest(experiment: Experiment) -> Estimate | None:
    try:
        return estimate_rest(experiment)
    except MRPError:  # the page says why it cannot be run
        return None


def author_of(member: Member) -> Author:
    """Return the member as the author of an experiment."""
    return Author(name=member.user.get_username(), user=member.user)


def may_change(member: Member, experiment: Experiment) -> bool:
    """Return whether the member ran the experiment, or may change what others ran."""
    return member.can_write or experiment.created_by_id == member.user.pk


def _changeable(member: Member, experiment_id: str) -> Experiment:
    experiment = experiments.experiment(member.project, experiment_id)
    _check_change(member, experiment)
    return experiment


def _check_change(member: Member, experiment: Experiment) -> None:
    if not may_change(member, experiment):
        raise PermissionDenied("Only an editor may change an experiment of somebody else.")


def _address(experiment: Experiment) -> str:
    return reverse("experiment", args=[experiment.experiment_id])


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair, as JSON writes it


def _expected(form: QueryDict) -> Expectation:
    def text(name: str) -> str:
        return form.get(name, "").strip()[:EXPECTED_CHARS]

    return Expectation(should_contain=text("should_contain"), should_not_contain=text("should_not_contain"))


def _asked(expected: Expectation) -> dict[str, str]:
    return {"should_contain": expected.should_contain, "should_not_contain": expected.should_not_contain}


def _turn_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    return {"turn": turn, "session": turn.session, "answer": turns.answer_of(turn)}
