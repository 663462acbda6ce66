"""The audit log page, for admins of the project: who changed what."""

from datetime import date
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError
from sessions_app.queries.settings.audit import AREAS, AuditFilter, entry_page
from sessions_app.queries.settings.retention import days_kept, retention_of
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page

TEMPLATE = "settings/audit.html"
PAGE_ROWS = 50
_TEXT_CHARS = 200


@require_safe
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the entries that fit, the newest first; for HTMX the list, or with `cursor` the rows that follow."""
    wanted, cursor = _filter(request), request.GET.get("cursor") or None
    try:
        listed = entry_page(member.project, wanted, PAGE_ROWS, cursor)
    except MRPError:  # an address that was cut
        cursor = None
        listed = entry_page(member.project, wanted, PAGE_ROWS, None)
    query = urlencode({name: value for name, value in _fields(wanted).items() if value})
    context = {
        "entries": listed.rows,
        "areas": [(area, area.replace("-", " ").capitalize()) for area in AREAS],
        "fields": _fields(wanted),
        "query": query,
        "next_cursor": listed.next_cursor,
        "kept_days": days_kept(retention_of(member.project).days, "audit"),
    }
    part = "" if "HX-Request" not in request.headers else "#rows" if cursor else "#list"
    return page(request, TEMPLATE + part, member, context, section="audit")


def _filter(request: HttpRequest) -> AuditFilter:
    """Return the filter of the address; parts that are not understood are ignored."""
    parameters = {name: str(value).strip()[:_TEXT_CHARS] for name, value in request.GET.items()}
    area = parameters.get("area", "")
    return AuditFilter(
        area=area if area in AREAS else "",
        actor=parameters.get("actor", ""),
        subject=parameters.get("subject", ""),
        since=_day(parameters.get("since", "")),
        until=_day(parameters.get("until", "")),
    )


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if 1970 <= day.year < 9999 else None


def _fields(wanted: AuditFilter) -> dict[str, str]:
    return {
        "area": wanted.area,
        "actor": wanted.actor,
        "subject": wanted.subject,
        "since": wanted.since.isoformat() if wanted.since else "",
        "until": wanted.until.isoformat() if wanted.until else "",
    }
