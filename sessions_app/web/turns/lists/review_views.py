"""The review queue: members rate or skip one answer after another."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError
from mrpvm.preview import counted
from sessions_app.actions.turns.ratings import NOTE_CHARS, rate_turn
from sessions_app.actions.turns.reviews import queue_turns, skip_turn, unqueue_turns
from sessions_app.models import QueuedTurn
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.turns.agreement import SCORES_LOOKED_AT, project_agreements
from sessions_app.queries.turns.registry import answer_of
from sessions_app.queries.turns.registry import turn as turn_of
from sessions_app.queries.turns.reviews import next_queued, queue_counts, queued_turn
from sessions_app.web.experiments.views import author_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error
from sessions_app.web.shell.prose import prose
from sessions_app.web.turns.lists.filter_views import turns_address
from sessions_app.web.turns.lists.several_views import turns_meant


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the next turn that the member has not reviewed, after the turn in the query string if there is one."""
    person = author_of(member).name
    queued = next_queued(member.project, person, whole_number(request.GET.get("after")) or 0)
    context = {
        "counts": queue_counts(member.project, person),
        "agreements": project_agreements(member.project),
        "looked_at": f"{SCORES_LOOKED_AT:,}",
        "note_chars": NOTE_CHARS,
        **(_shown(queued) if queued else {"queued": None}),
    }
    return page(request, "turns/review.html", member, context, section="review")


def _shown(queued: QueuedTurn) -> dict[str, Any]:
    turn = queued.turn
    url = reverse("turn", args=[turn.session.session_id, turn.request_id])
    return {
        "queued": queued,
        "turn": turn,
        "turn_url": url,
        "answer": prose(answer_of(turn), f"{url}/sources/"),
        "next_url": f"{reverse('review')}?after={queued.pk}",
    }


@form_of("review")
@member_view("editor")
def rate(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Rate or skip a turn of the queue and redirect to the next one."""
    turn, author = turn_of(member.project, session_id, request_id), author_of(member)
    value, note = (request.POST.get(name, "") for name in ("value", "note"))
    try:
        if value == "skip":
            skip_turn(turn, author)
        else:
            rate_turn(turn, value, note, author)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("review"))
    queued = queued_turn(member.project, request_id)
    return HttpResponseRedirect(f"{reverse('review')}?after={queued.pk}" if queued else reverse("review"))


@form_of("turns")
@member_view("editor")
def queue(request: HttpRequest, member: Member) -> HttpResponse:
    """Add turns of the list to the queue."""
    try:
        queued = queue_turns(member.project, turns_meant(request, member), author_of(member))
    except MRPError as refused:
        tell_error(request, refused)
    else:
        rest = [f"{queued.known} were there already"] * bool(queued.known)
        rest += [f"{queued.unanswered} have no answer to rate"] * bool(queued.unanswered)
        message = f"{counted(queued.added, 'turn')} added to the review queue"
        tell(request, f"{'; '.join([message, *rest])}.", link_url=reverse("review"))
    return HttpResponseRedirect(turns_address(request.POST.get("q", "")))


@form_of("review")
@member_view("editor")
def clear(request: HttpRequest, member: Member) -> HttpResponse:
    """Remove all turns from the queue, or the one that the form names; ratings stay."""
    one = request.POST.get("turn", "")
    count = unqueue_turns(member.project, [one] if one else None)
    tell(request, f"{counted(count, 'turn')} taken out of the review queue.")
    return HttpResponseRedirect(reverse("review"))
