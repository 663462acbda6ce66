"""Thumbs and notes on answers."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from mrpvm.errors import InvalidInput
from sessions_app.actions.turns.ratings import rate_turn
from sessions_app.queries.turns.registry import turn as turn_of
from sessions_app.queries.turns.reviews import scores_of
from sessions_app.web.experiments.views import author_of
from sessions_app.web.sessions.conversation import rating_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell_error
from sessions_app.web.turns.opinions import opinions


@form_of("session", "session_id")
@member_view("editor")
def rate(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Set or remove the rating; return the fragment, or without JavaScript redirect to the turn in the conversation.

    A thumb that is pressed again removes the rating, unless a note was typed, which is saved.
    """
    turn = turn_of(member.project, session_id, request_id)
    value, note = (request.POST.get(name, "") for name in ("value", "note"))
    error = ""
    if not value and note.strip():
        own = opinions(scores_of(turn), None, author_of(member).name).own
        value = own.value if own else ""
    try:
        rate_turn(turn, value, note, author_of(member))
    except InvalidInput as refused:
        error = refused.message
        if "HX-Request" not in request.headers:
            tell_error(request, refused)
    if "HX-Request" not in request.headers:
        place = reverse("session", args=[session_id]) + f"?before={turn.turn_index + 1}#turn-{turn.turn_index}"
        return HttpResponseRedirect(place)
    turn = turn_of(member.project, session_id, request_id)
    turn_opinions = opinions(scores_of(turn), rating_of(turn), author_of(member).name)
    rate_url = reverse("turn-rate", args=[session_id, request_id])
    context = {"turn": turn, "opinions": turn_opinions, "rate_url": rate_url, "error": error, "note": note}
    return page(request, "sessions/conversation/rating.html", member, context)
