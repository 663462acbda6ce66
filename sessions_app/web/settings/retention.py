"""The retention page, for admins of the project: rules, a preview of what they remove, and the progress of a run."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import InvalidInput, MRPError
from sessions_app.actions.settings.retention import check_days, choose_retention, start_retention, stop_retention
from sessions_app.models import Retention, RetentionKind
from sessions_app.queries.settings.retention import chosen_with, days_kept, removal_preview, retention_of, server_days
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.changed_fields import changed_fields
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import page, tell

TEMPLATE = "settings/retention.html"


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the rules and the run; a POST saves changed rules, with `preview` it shows first what they would remove.

    For HTMX the run alone.
    """
    retention = retention_of(member.project)
    if request.method != "POST" and "HX-Request" in request.headers:
        return page(request, f"{TEMPLATE}#run", member, {"run": retention, "removed": _removed(retention)})
    stored = {kind: str(days) for kind, days in retention.days.items()}
    written = changed_fields(request.POST.dict(), RetentionKind.values)
    chosen, error, previews = dict(retention.days), "", []
    if request.method == "POST":
        try:
            named = {kind: _days(kind, text) for kind, text in written.items()}
            check_days(named)
            chosen = chosen_with(retention.days, named)
            if "preview" in request.POST:
                previews = removal_preview(member.project, chosen)
            else:
                is_stopped = choose_retention(member.project, named).is_stopped
                removal = "Removal is stopped until you start it." if is_stopped else "What is too old is removed soon."
                tell(request, f"Saved. {removal}")
                return HttpResponseRedirect(reverse("retention"))
        except MRPError as refused:
            error = refused.message
    previews_by_kind = {item.kind: item for item in previews}
    context = {
        "fields": [
            {
                "kind": kind,
                "days": written.get(kind.value, stored.get(kind.value, "")),
                "stored": stored.get(kind.value, ""),
                "kept": days_kept(chosen, kind),
                "server_days": server_days(kind),
                "preview": previews_by_kind.get(kind),
            }
            for kind in RetentionKind
        ],
        "has_preview": bool(previews),
        "error": error,
        "run": retention,
        "removed": _removed(retention),
    }
    return page(request, TEMPLATE, member, context, section="retention", status=400 if error else 200)


def _days(kind: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidInput(f"{RetentionKind(kind).label}: days are a whole number; 0 keeps all.")
    return int(text)


def _removed(retention: Retention) -> list[tuple[str, int]]:
    """Return what the run has removed so far, by the names of the kinds."""
    return [(kind.label, retention.removed[kind]) for kind in RetentionKind if retention.removed.get(kind)]


@form_of("retention")
@member_view("admin")
def stop(request: HttpRequest, member: Member) -> HttpResponse:
    """Remove nothing more."""
    stop_retention(member.project)
    tell(request, "Stopped. Nothing more is removed until you start it again.")
    return HttpResponseRedirect(reverse("retention"))


@form_of("retention")
@member_view("admin")
def start(request: HttpRequest, member: Member) -> HttpResponse:
    """Begin a run soon."""
    start_retention(member.project)
    tell(request, "Removal starts within a minute.")
    return HttpResponseRedirect(reverse("retention"))
