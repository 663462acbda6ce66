"""The limits page, for admins of the project: the limits and the present use."""

import re

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import InvalidInput, MRPError
from sessions_app.actions.settings.quotas import choose_quotas
from sessions_app.models import QuotaKind
from sessions_app.queries.settings.quotas import uses
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.changed_fields import changed_fields
from sessions_app.web.shell.pages import page, tell

_UNITS = {"GB": 1024**3, "MB": 1024**2, "KB": 1024}
_SIZE = re.compile(r"(?P<number>[0-9]{1,15}(\.[0-9]{1,3})?) ?(?P<unit>[KMG]B|bytes?)?", re.IGNORECASE | re.ASCII)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show each limit with its use; a POST sets changed limits, and a refused one is shown with the reason."""
    error, written = "", changed_fields(request.POST.dict(), QuotaKind.values)
    if request.method == "POST":
        try:
            choose_quotas(member.project, {kind: _limit(kind, text) for kind, text in written.items()})
        except MRPError as refused:
            error = refused.message
        else:
            tell(request, "Saved. What is above a limit stays; nothing is added until there is room.")
            return HttpResponseRedirect(reverse("quotas"))
    fields = [
        {"use": use, "text": written.get(use.kind.value, stored), "stored": stored}
        for use in uses(member.project)
        for stored in ["" if use.limit is None else _text(use.kind, use.limit)]
    ]
    context = {"fields": fields, "error": error}
    return page(request, "settings/quotas.html", member, context, section="quotas", status=400 if error else 200)


def _text(kind: str, limit: float) -> str:
    """Return a limit as its field shows it: a size in the largest unit of which it is a whole number."""
    if kind == QuotaKind.BYTES:
        for unit, size in _UNITS.items():
            if limit % size == 0:
                return f"{limit / size:.15g} {unit}"
    return f"{limit:.15g}"


def _limit(kind: str, text: str) -> float | None:
    if not text:
        return None
    if kind == QuotaKind.BYTES:
        return _size(text)
    if not (text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 18):
        raise InvalidInput(f"{QuotaKind(kind).label}: a limit is a number above 0, or nothing.")
    return float(text)


def _size(text: str) -> float:
    match = _SIZE.fullmatch(text)
    if not match:
        raise InvalidInput(f"{QuotaKind.BYTES.label}: a limit is a size above 0 such as 500 MB, or nothing.")
    return round(float(match["number"]) * _UNITS.get((match["unit"] or "").upper(), 1))
