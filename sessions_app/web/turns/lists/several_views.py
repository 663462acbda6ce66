"""Actions on several turns of the list at once."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from mrpvm.errors import InvalidInput, MRPError
from mrpvm.preview import counted
from sessions_app.experiments.suites.suites import KeptTests, keep_turns
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.search.filter_language import parse
from sessions_app.queries.turns.lists import SHOWN_MAX, newest_turns, turns_named
from sessions_app.web.experiments.suite_views import suite_meant
from sessions_app.web.experiments.views import author_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import tell, tell_error
from sessions_app.web.turns.lists.filter_views import turns_address

_REASONS_TOLD = 3


@form_of("turns")
@member_view("editor")
def keep(request: HttpRequest, member: Member) -> HttpResponse:
    """Add the turns to a suite as tests, and redirect to it."""
    try:
        turns = turns_meant(request, member)
        suite = suite_meant(request, member)
        kept = keep_turns(suite, turns, author_of(member))
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(turns_address(request.POST.get("q", "")))
    tell(request, _summary(kept))
    return HttpResponseRedirect(reverse("suite", args=[suite.suite_id]))


def turns_meant(request: HttpRequest, member: Member) -> Sequence[ExplainabilityTurn]:
    """Return the selected turns, or those that match the list's filter.

    Raises:
        InvalidInput: no turn or too many turns were selected.
        NotFound: TURN_NOT_FOUND.
    """
    if request.POST.get("which") == "found":
        return newest_turns(member.project, parse(request.POST.get("q", "")), SHOWN_MAX).turns
    chosen = request.POST.getlist("turn")
    if not chosen:
        raise InvalidInput("No turn was chosen: tick the boxes before them, or take all that the filter finds.")
    if len(chosen) > SHOWN_MAX:
        raise InvalidInput(f"At most {SHOWN_MAX} turns are taken at once.")
    return turns_named(member.project, chosen)


def _summary(kept: KeptTests) -> str:
    message = f"{counted(len(kept.tests), 'turn')} kept as tests."
    if not kept.refused:
        return message
    reasons = sorted({reason for _, reason in kept.refused})[:_REASONS_TOLD]
    return f"{message} {len(kept.refused)} could not be kept: {' '.join(reasons)}"
