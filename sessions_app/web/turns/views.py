"""The page of one turn: the graph, and fragments with its details."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError, NotFound
from sessions_app.actions.turns.running import request_cancel
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.turns import registry as turns
from sessions_app.queries.turns.context_sections import section_text
from sessions_app.turns.live_draft import draft_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import back_to, page, tell, tell_error
from sessions_app.web.turns.compare.comparison import compared_turn, comparison_context
from sessions_app.web.turns.compare.runs import SIDES, runs_context, side_svg
from sessions_app.web.turns.drawing import TABS, VIEWS, one_of, shown_graph, stage_context, turn_addresses
from sessions_app.web.turns.graph import render_outline, render_timeline
from sessions_app.web.turns.head import head_context
from sessions_app.web.turns.panels.choice import choice_context
from sessions_app.web.turns.panels.context import context_context
from sessions_app.web.turns.panels.detail import detail_context
from sessions_app.web.turns.panels.remedies import bases_that_know
from sessions_app.web.turns.panels.requests import PREPARING, requests_context
from sessions_app.web.turns.panels.state import state_context
from sessions_app.web.turns.reader import Reader

TEMPLATE = "turns/show.html"


def _reader(query: QueryDict) -> Reader:
    return Reader(
        view=one_of(query.get("view"), VIEWS),
        tab=one_of(query.get("tab"), TABS),
        selected=query.get("sel", ""),
        opened=tuple(query.getlist("open")),
        shut=tuple(query.getlist("shut")),
    )


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the turn; the query string holds the view, the tab, the selection and the expanded and collapsed frames."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    reader = _reader(request.GET)
    context = {
        **head_context(turn),
        **stage_context(turn, reader),
        **_panel(turn, reader.tab),
        **_detail(turn, reader.selected),
        "reader": reader,
    }
    return page(request, TEMPLATE, member, context, section="sessions")


def _panel(turn: ExplainabilityTurn, tab: str) -> dict[str, Any]:
    panels = {"context": context_context, "state": state_context, "choice": choice_context}
    return panels[tab](turn) if tab in panels else {}


def _detail(turn: ExplainabilityTurn, selected: str) -> dict[str, Any]:
    """Return the selected node, None without a selection."""
    if selected:
        try:
            return {**detail_context(turn, turns.detail(turn, selected)), "has_detail": True}
        except NotFound:
            pass  # an old address, or a node that a running turn has not reached yet
    return {"has_detail": False}


@require_safe
@member_view()
def graph(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return only the picture."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    return page(request, "turns/stage.html#svg", member, stage_context(turn, _reader(request.GET)))


@require_safe
@member_view()
def timeline(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return only the timeline."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    shown = shown_graph(turn, _reader(request.GET))
    return page(request, "turns/stage.html#timeline", member, {"turn": turn, "timeline": render_timeline(shown)})


@require_safe
@member_view()
def outline(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the outline, or with `rows=all` only its rows, but all of them.

    The selection is read from the address of the reader's page.
    """
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    reader = _reader(QueryDict(urlsplit(request.headers.get("HX-Current-URL", "")).query))
    if request.GET.get("rows") == "all":
        return page(request, f"{TEMPLATE}#outline-rows", member, {"outline": render_outline(shown_graph(turn, reader))})
    return page(request, f"{TEMPLATE}#outline", member, stage_context(turn, reader))


@require_safe
@member_view()
def requests(request: HttpRequest, member: Member, session_id: str, request_id: str, ref: str) -> HttpResponse:
    """Return the requests of one execution to models."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    detail = None if ref == PREPARING else turns.detail(turn, ref)
    return page(request, "turns/panels/requests.html", member, requests_context(turn, detail))


def _part(template: str, part_context: Callable[[ExplainabilityTurn], dict[str, Any]]) -> Callable[..., HttpResponse]:
    """Return a view for a part of the page that needs only its turn."""

    @require_safe
    @member_view()
    def view(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
        turn = turns.turn_or_trial(member.project, session_id, request_id)
        return page(request, template, member, part_context(turn))

    return view


head = _part(f"{TEMPLATE}#head", head_context)
context = _part("turns/panels/context.html", context_context)
state = _part("turns/panels/state.html", state_context)
choice = _part("turns/panels/choice.html", choice_context)


@require_safe
@member_view()
def remedies(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the other bases with units on the question, each with a button that mounts it."""
    turn = turns.turn(member.project, session_id, request_id)
    context = {"session": turn.session, "knowing": bases_that_know(turn), **turn_addresses(turn)}
    return page(request, "turns/panels/remedies.html", member, context)


@require_safe
@member_view()
def draft(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the text that a model has written so far for a running turn."""
    turn = turns.turn(member.project, session_id, request_id)
    return page(
        request, "turns/panels/draft.html", member, {"turn": turn, "draft": draft_of(turn), **turn_addresses(turn)}
    )


@require_safe
@member_view()
def compare(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the turn beside an earlier one (`?with=<number>`, else the previous one): what ran, and what changed.

    With `side` return only the graph of that side.
    """
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    earlier, reader = compared_turn(turn, whole_number(request.GET.get("with"))), _reader(request.GET)
    side = request.GET.get("side")
    if side in SIDES:
        return HttpResponse(side_svg(earlier, turn, side, reader))
    context = {**comparison_context(turn, earlier), **runs_context(earlier, turn, reader)}
    return page(request, "turns/compare.html", member, context, section="sessions")


@require_safe
@member_view()
def section(request: HttpRequest, member: Member, session_id: str, request_id: str, place: int) -> HttpResponse:
    """Return the exact text of one section of the context; to a browser that opens its address, as plain text."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    section = section_text(turn, place)
    if "HX-Request" not in request.headers:
        return HttpResponse(section.text, content_type="text/plain; charset=utf-8")
    return page(request, "turns/panels/section.html", member, {"shown": section})


@require_safe
@member_view()
def detail(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the input, output, meta and error of the selected node."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    shown = detail_context(turn, turns.detail(turn, _reader(request.GET).selected))
    return page(request, "turns/panels/detail.html", member, shown)


@form_of("session", "session_id")
@member_view("editor")
def cancel(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Request the cancellation of the running turn."""
    turn = turns.turn(member.project, session_id, request_id)
    try:
        request_cancel(turn)
        tell(request, "The turn is being stopped.")
    except MRPError as error:
        tell_error(request, error)
    return back_to(request, reverse("session", args=[session_id]))
