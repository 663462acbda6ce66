"""The knowledge pages: bases with their lineage, what is in them, and which sessions mount them."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from mrpvm.errors import MRPError
from sessions_app.actions.knowledge import create_base
from sessions_app.queries.knowledge import knowledge_base, knowledge_bases
from sessions_app.queries.pages import bases_with_use, forks_of, mounting_sessions, visible_sources
from sessions_app.web.access import Member, member_view
from sessions_app.web.fragments.knowledge import lineage
from sessions_app.web.pages import page, tell

SOURCES_SHOWN = 200
SESSIONS_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show all bases, forks below what they were made from; a POST makes a base."""
    error, name, status = "", "", 200
    if request.method == "POST":
        member.check("editor")
        name = request.POST.get("name", "").replace("\0", "")
        try:
            made = create_base(member.project, name)
        except MRPError as refused:
            error, status = refused.message, 400
        else:
            tell(request, f"Made “{made.name}”.")
            return HttpResponseRedirect(reverse("knowledge-base", args=[made.kb_id]))
    bases = lineage(bases_with_use(knowledge_bases(member.project)))
    context = {"bases": bases, "error": error, "name": name}
    return page(request, "knowledge/index.html", member, context, section="knowledge", status=status)


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Show one base: its counts, its sources, where it came from and who uses it."""
    base = knowledge_base(member.project, kb_id)
    context = {
        "base": base,
        "forks": forks_of(base),
        "sources": visible_sources(base.head, SOURCES_SHOWN),
        "sessions": mounting_sessions(base, SESSIONS_SHOWN),
    }
    return page(request, "knowledge/show.html", member, context, section="knowledge")
