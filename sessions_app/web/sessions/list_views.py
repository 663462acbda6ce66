"""The sessions page: a live list, and the way to a new conversation."""

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from mrpvm.errors import InvalidInput, MRPError
from mrpvm.preview import counted
from sessions_app.actions.sessions.session import create_session
from sessions_app.interchange.bundle.importing import import_bundle
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.web.sessions.listing import ListQuery, filter_context, list_context
from sessions_app.web.sessions.start import start_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell, tell_error

TEMPLATE = "sessions/index.html"


@require_safe
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the list with its filter; without any session, how to make the first call."""
    query = ListQuery.of(request.GET)
    context = {
        **list_context(member.project, query),
        **filter_context(member.project, query),
        "server_url": request.build_absolute_uri("/").rstrip("/"),
    }
    return page(request, TEMPLATE, member, context, section="sessions")


@require_safe
@member_view()
def start(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the first three steps."""
    context = {**start_context(member.project), "server_url": request.build_absolute_uri("/").rstrip("/")}
    return page(request, "sessions/start.html", member, context, section="start")


@require_safe
@member_view()
def rows(request: HttpRequest, member: Member) -> HttpResponse:
    """Return the list, or with `after` the rows that follow."""
    query = ListQuery.of(request.GET)
    part = "rows" if query.after else "list"
    context = {
        **list_context(member.project, query),
        "server_url": request.build_absolute_uri("/").rstrip("/"),
    }
    response = page(request, f"{TEMPLATE}#{part}", member, context)
    if not query.after:
        response["HX-Replace-Url"] = reverse("sessions") + (f"?{context['here']}" if context["here"] else "")
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def create(request: HttpRequest, member: Member) -> HttpResponse:
    """Make a session and go there; it mounts the base `kb_id` if one is given; a GET leads to the list."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("sessions"))
    member.check("editor")
    kb_id = request.POST.get("kb_id", "")
    try:
        session = create_session(member.project, base=knowledge_base(member.project, kb_id) if kb_id else None)
    except MRPError as error:
        tell_error(request, error)
        return HttpResponseRedirect(reverse("sessions"))
    return HttpResponseRedirect(reverse("session", args=[session.session_id]))


@form_of("sessions")
@member_view("editor")
def import_session(request: HttpRequest, member: Member) -> HttpResponse:
    """Store a bundle as a session and redirect to it; if it is refused, nothing is stored and the reason is shown."""
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        tell_error(request, InvalidInput("Choose a bundle: a file that “Export as a bundle” gave."))
        return HttpResponseRedirect(reverse("sessions"))
    try:
        imported = import_bundle(member.project, file)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("sessions"))
    count = imported.turn_count
    messages = [f"{counted(count, 'turn')} imported.", *imported.left_out]
    tell(request, " ".join(messages))
    return HttpResponseRedirect(reverse("session", args=[imported.session.session_id]))
