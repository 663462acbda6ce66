"""Pages of forgetting: choose, find, confirm by name, remove, and verify."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from mrpvm.errors import InvalidInput, MRPError
from sessions_app.actions.experiments.experiments import Author
from sessions_app.actions.experiments.forgetting.acts import cancel_act
from sessions_app.experiments.forgetting.acts import name_of, start_plan, start_removal
from sessions_app.experiments.forgetting.certificate import places_of
from sessions_app.models import Forgetting
from sessions_app.queries.experiments.forgetting.acts import forgetting, forgetting_page
from sessions_app.queries.experiments.forgetting.origins import Subject
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error

TEXT_CHARS = 2_000
PAGE_ROWS = 50
AT_ONCE_MS = 500
_FIELDS = ("kind", "session_id", "sequence", "unit_id", "kb_id", "source_id", "text")
_TONES = {"finished": "ok", "planned": "idle", "planning": "active", "running": "active"}


@require_safe
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the form, filled in from the query string, and the project's requests to forget."""
    try:
        listed = forgetting_page(member.project, PAGE_ROWS, request.GET.get("cursor") or None)
    except MRPError:  # an address that was cut
        listed = forgetting_page(member.project, PAGE_ROWS)
    rows = [{"act": act, "tone": _TONES.get(act.status, "warn")} for act in listed.rows]
    context = {"given": _subject(request.GET), "rows": rows, "next_cursor": listed.next_cursor}
    return page(request, "experiments/forgetting/index.html", member, context, section="forget")


@form_of("forget")
@member_view("admin")
def plan(request: HttpRequest, member: Member) -> HttpResponse:
    """Plan a request to forget, and redirect to its page."""
    subject = _subject(request.POST)
    try:
        if not subject.kind:
            raise InvalidInput("Say what shall be forgotten.")
        act = start_plan(member.project, subject, _author(member), wait_ms=AT_ONCE_MS)
    except MRPError as refused:
        tell_error(request, refused)
        parameters = {name: value for name in _FIELDS if name != "text" and (value := getattr(subject, name))}
        return HttpResponseRedirect(f"{reverse('forget')}?{urlencode(parameters)}")
    return HttpResponseRedirect(reverse("forgetting", args=[act.forgetting_id]))


@require_safe
@member_view("admin")
def show(request: HttpRequest, member: Member, forgetting_id: str) -> HttpResponse:
    """Show a request: its plan, progress and certificate; for HTMX only the part that changes while it runs."""
    act = forgetting(member.project, forgetting_id)
    context: dict[str, Any] = {
        "act": act,
        "tone": _TONES.get(act.status, "warn"),
        "name": name_of(act),
        "places": places_of(act),
    }
    template = "experiments/forgetting/show.html" + ("#news" if "HX-Request" in request.headers else "")
    return page(request, template, member, context, section="forget")


@form_of("forgetting", "forgetting_id")
@member_view("admin")
def run(request: HttpRequest, member: Member, forgetting_id: str) -> HttpResponse:
    """Carry out a plan that the user confirmed by typing its name."""
    act = forgetting(member.project, forgetting_id)
    try:
        start_removal(act, request.POST.get("confirm", ""), wait_ms=AT_ONCE_MS)
    except MRPError as refused:
        tell_error(request, refused)
    return _to(act)


@form_of("forgetting", "forgetting_id")
@member_view("admin")
def cancel(request: HttpRequest, member: Member, forgetting_id: str) -> HttpResponse:
    """Discard a plan, or stop a request that is being carried out."""
    act = forgetting(member.project, forgetting_id)
    try:
        cancel_act(act)
        tell(request, "It is stopped. What was removed by then stays removed.")
    except MRPError as refused:
        tell_error(request, refused)
    return _to(act)


def _to(act: Forgetting) -> HttpResponse:
    return HttpResponseRedirect(reverse("forgetting", args=[act.forgetting_id]))


def _author(member: Member) -> Author:
    return Author(name=member.user.get_username(), user=member.user)


def _subject(form: QueryDict) -> Subject:
    def text(name: str, limit: int = 400) -> str:
        return form.get(name, "").strip()[:limit]

    kind = text("kind")
    return Subject(
        kind=kind if kind in Forgetting.Kind.values else "",
        session_id=text("session_id"),
        sequence=whole_number(form.get("sequence")) or 0,
        unit_id=text("unit_id"),
        kb_id=text("kb_id"),
        source_id=text("source_id"),
        text=text("text", TEXT_CHARS),
    )
