"""A turn run again: whether it replays, what it answers with changes, and what its answer depends on."""

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError
from mrpvm.trace.graph import fold_graph
from mrpvm.values import Selection
from sessions_app.experiments.continuation import continue_from
from sessions_app.experiments.diagnosis import diagnose, replay_turn, try_turn
from sessions_app.experiments.search import Expectation, Finding
from sessions_app.queries.knowledge.bases import offered_bases
from sessions_app.queries.turns import registry as turns
from sessions_app.web.experiments.trial_form import changes_of, query_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell_error
from sessions_app.web.turns.choice import plugin_selectors
from sessions_app.web.turns.graph import read_structure, render_shown, show_structure

if TYPE_CHECKING:
    from sessions_app.experiments.trial import TrialOutcome
    from sessions_app.models import ExplainabilityTurn

EXPECTED_CHARS = 2_000


@require_safe
@member_view()
def diagnosis(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the form, and with `search` what the search finds: the address holds the question."""
    turn = turns.turn(member.project, session_id, request_id)
    expected = Expectation(
        should_contain=_text(request, "should_contain"), should_not_contain=_text(request, "should_not_contain")
    )
    context: dict[str, Any] = {**_turn_context(turn), "expected": expected, "tab": "diagnosis"}
    if "search" in request.GET:
        try:
            found = diagnose(turn, expected)
            context |= {"found": found, "findings": [_shown(turn, finding) for finding in found.findings]}
        except MRPError as refused:
            context["refused"] = refused.message
    return page(request, "experiments/diagnosis.html", member, context, section="sessions")


@require_safe
@member_view()
def trial(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the form, and with `try` what the turn answers with these changes beside what it answered."""
    turn = turns.turn(member.project, session_id, request_id)
    changes = changes_of(request.GET, turn.user_message)
    context: dict[str, Any] = {
        **_turn_context(turn),
        "tab": "try",
        "changes": changes,
        "fields": parse_qsl(query_of(changes)),
        "left_out_units": "\n".join(changes.without_units),
        "left_out_sources": "\n".join(changes.without_sources),
        "selectors": plugin_selectors(changes.pins),
        "bases": offered_bases(member.project, changes.base or "")[0],
        "whole_history": "history_max_turns" in changes.flags,
        "rewriting": changes.flags.get("enable_query_rewriting"),
    }
    if "try" in request.GET:
        try:
            context |= _outcome_context(try_turn(turn, changes))
        except MRPError as refused:
            context["refused"] = refused.message
    return page(request, "experiments/trial.html", member, context, section="sessions")


@require_safe
@member_view()
def replay(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show whether the turn comes out as it is recorded, and where not."""
    turn = turns.turn(member.project, session_id, request_id)
    context: dict[str, Any] = {**_turn_context(turn), "tab": "replay"}
    try:
        replayed = replay_turn(turn)
        context["replayed"] = replayed
        if replayed.divergence is not None:
            difference = replayed.divergence.difference
            context |= {"recorded_text": _json(difference.recorded), "replayed_text": _json(difference.replayed)}
    except MRPError as refused:
        context["refused"] = refused.message
    return page(request, "experiments/replay.html", member, context, section="sessions")


@form_of("turn-try", "session_id", "request_id")
@member_view("editor")
def continuation(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Go on from before the turn in a fork, with the trial's message and choices; leads to the fork's turn."""
    turn = turns.turn(member.project, session_id, request_id)
    try:
        made = continue_from(turn, changes_of(request.POST, turn.user_message))
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("turn-try", args=[session_id, request_id]))
    return HttpResponseRedirect(reverse("turn", args=[made.session.session_id, made.request_id]))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _text(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\0", "").strip()[:EXPECTED_CHARS]


def _turn_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    return {"turn": turn, "session": turn.session, "answer": turns.answer_of(turn)}


def _shown(turn: "ExplainabilityTurn", finding: Finding) -> dict[str, Any]:
    """Return a finding with where its trial is run again, and where its links lead."""
    session_id = turn.session.session_id
    address = reverse("turn-try", args=[session_id, turn.request_id])
    return {
        "finding": finding,
        "address": f"{address}?{query_of(finding.outcome.changes)}&try=1",
        "units": [link.id for link in finding.links if link.kind == "unit"],
        "bases": [link for link in finding.links if link.kind == "base"],
    }


def _outcome_context(outcome: "TrialOutcome") -> dict[str, Any]:
    structure = read_structure(fold_graph(outcome.events))
    return {
        "outcome": outcome,
        "tone": "ok" if outcome.status == "succeeded" else "warn",
        "used": [name for name in _plugins(outcome.used) if name],
        "graph": render_shown(show_structure(structure), uid="trial"),
    }


def _plugins(used: Selection) -> list[str | None]:
    return [used.planner, used.seed_detector, used.kb, used.goal_solver]
