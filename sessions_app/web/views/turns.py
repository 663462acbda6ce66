"""One turn: the picture first, then everything behind it."""

from urllib.parse import parse_qs, urlsplit

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from mrpvm.errors import MRPError, NotFound
from sessions_app.queries import turns
from sessions_app.turns.cancel import request_cancel
from sessions_app.web.access import Member, member_view
from sessions_app.web.fragments.turn import graph_context, head_context, outline_context
from sessions_app.web.fragments.turn_context import context_context
from sessions_app.web.fragments.turn_detail import detail_context
from sessions_app.web.pages import back_to, page, tell, tell_error

TEMPLATE = "turn/show.html"


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Show the turn; the address holds the selection and what was opened and shut."""
    turn = turns.turn(member.project, session_id, request_id)
    graph = turns.graph(turn)
    selected = request.GET.get("sel", "")
    context = {
        **head_context(turn),
        **outline_context(turn, graph, selected),
        **graph_context(turn, graph, request.GET.getlist("open"), request.GET.getlist("shut")),
        **context_context(turn),
        "has_detail": False,
    }
    if selected:
        try:
            found = turns.detail(turn, selected.replace("\0", ""))
            context |= {**detail_context(turn, graph, found), "has_detail": True}
        except NotFound:
            context["selected"] = ""  # an old address, or a node that a running turn has not reached yet
    return page(request, TEMPLATE, member, context, section="sessions")


@require_safe
@member_view()
def head(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Give how the turn stands, and its neighbours."""
    turn = turns.turn(member.project, session_id, request_id)
    return page(request, f"{TEMPLATE}#head", member, head_context(turn))


@require_safe
@member_view()
def graph(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Give the picture alone."""
    turn = turns.turn(member.project, session_id, request_id)
    opened, shut = request.GET.getlist("open"), request.GET.getlist("shut")
    context = graph_context(turn, turns.graph(turn), opened, shut)
    return page(request, "components/graph.html#svg", member, context)


@require_safe
@member_view()
def outline(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Give the outline; what the reader's own address has selected stays selected."""
    turn = turns.turn(member.project, session_id, request_id)
    shown = parse_qs(urlsplit(request.headers.get("HX-Current-URL", "")).query)
    context = outline_context(turn, turns.graph(turn), shown.get("sel", [""])[0])
    return page(request, f"{TEMPLATE}#outline", member, context)


@require_safe
@member_view()
def context(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Give the context ledger and the state change."""
    turn = turns.turn(member.project, session_id, request_id)
    return page(request, f"{TEMPLATE}#context", member, context_context(turn))


@require_safe
@member_view()
def detail(request: HttpRequest, member: Member, session_id: str, request_id: str, ref: str) -> HttpResponse:
    """Give one node's input, output, meta and error."""
    turn = turns.turn(member.project, session_id, request_id)
    shown = detail_context(turn, turns.graph(turn), turns.detail(turn, ref))
    return page(request, f"{TEMPLATE}#detail", member, shown)


@require_POST
@member_view("editor")
def cancel(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Ask the running turn to end."""
    turn = turns.turn(member.project, session_id, request_id)
    try:
        request_cancel(turn)
        tell(request, "The turn is being stopped.")
    except MRPError as error:
        tell_error(request, error)
    return back_to(request, reverse("session", args=[session_id]))
