"""The knowledge pages: bases with their lineage, what is in them, and which sessions mount them."""

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from mrpvm.errors import Conflict, MRPError, NotFound, Unavailable
from mrpvm.preview import counted
from mrpvm.sources.documents.document import FORMATS
from sessions_app.actions.knowledge.bases import create_base, delete_base, remove_source, rename_base, restore_base
from sessions_app.actions.knowledge.forks import fork_base
from sessions_app.actions.knowledge.revisions import ask_for_compaction, restore_revision
from sessions_app.ingest.load import Upload, load_source
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.web.knowledge.base import base_context, comparison_context, news_context, tree_context
from sessions_app.web.knowledge.listing import list_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of, keep, take
from sessions_app.web.shell.pages import page, tell, tell_error


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show bases, forks below what they were made from, or those with `q` in their name; a POST makes a base."""
    error, name, status = "", "", 200
    if request.method == "POST":
        member.check("editor")
        name = request.POST.get("name", "")
        try:
            base = create_base(member.project, name)
        except MRPError as refused:
            error, status = refused.message, 400
        else:
            tell(request, f"Created “{base.name}”.")
            return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))
    context = {**list_context(member.project, _given(request, "q").strip()), "error": error, "name": name}
    return page(request, "knowledge/index.html", member, context, section="knowledge", status=status)


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Show one base; the address may name words to search its units for (`q`), a unit to look at (`unit`)
    and a source whose units are shown as a tree (`source`), or list the sources before one (`older`).

    With `by=rank` the words are searched for as a turn does.
    """
    words, unit_id, source_id = (_given(request, name) for name in ("q", "unit", "source"))
    by_rank = request.GET.get("by") == "rank"
    base = knowledge_base(member.project, kb_id)
    older_than = whole_number(request.GET.get("older"))
    context = base_context(base, words, unit_id, source_id, by_rank=by_rank, older_than=older_than)
    context |= take(request, f"upload:{kb_id}")
    return page(request, "knowledge/show.html", member, context, section="knowledge")


@require_safe
@member_view()
def news(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Return what changed in the base since a page showed it; 204 if nothing did."""
    revision, fork_pk = (whole_number(request.GET.get(name)) or 0 for name in ("revision", "fork"))
    context = news_context(knowledge_base(member.project, kb_id), revision, fork_pk)
    return HttpResponse(status=204) if context is None else page(request, "knowledge/news.html", member, context)


@require_safe
@member_view()
def tree(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Show the parts of a unit (`unit`), from the one at place `after` on."""
    after = whole_number(request.GET.get("after")) or 0
    context = tree_context(knowledge_base(member.project, kb_id), _given(request, "unit"), after)
    return page(request, "knowledge/tree.html", member, context)


def _given(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "")


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def upload(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Make a file a source of the base, in the place of `source_id` if that is given.

    If it cannot be read or is too large, nothing is stored and the page shows the reason.
    """
    base, file = knowledge_base(member.project, kb_id), request.FILES.get("file")
    place = request.POST.get("source_id", "")
    refusal = f"Choose a file of {FORMATS}."
    if isinstance(file, UploadedFile) and file.name:
        try:
            upload = Upload(data=file.read(), name=file.name, declared_type=file.content_type, source_id=place or None)
            loaded = load_source(base, upload)
        except MRPError as refused:
            refusal = refused.message
        else:
            name, count = loaded.source.name, loaded.source.unit_count
            added = f"“{name}” gave {counted(count, 'unit')}."
            tell(request, f"“{name}” is already there, unchanged." if loaded.is_unchanged else added)
            return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))
    keep(request, f"upload:{kb_id}", {"upload_error": refusal, "upload_place": place})
    return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]) + "#upload-status")


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def remove(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Remove a source (`source_id`) from the base."""
    base = knowledge_base(member.project, kb_id)
    try:
        removed = remove_source(base, request.POST.get("source_id", ""))
    except (Conflict, NotFound) as refused:
        tell_error(request, refused)
    else:
        tell(request, f"Removed “{removed.name}”. Restoring revision {base.revision} brings it back.")
    return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))


@require_safe
@member_view()
def compare(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Show what differs between two revisions (`before`, `after`); without them, between the newest two.

    Where `before` is the present one and `after` is older, that is what restoring it would change.
    """
    base = knowledge_base(member.project, kb_id)
    before, after = (whole_number(request.GET.get(name)) for name in ("before", "after"))
    context = comparison_context(base, before, after)
    return page(request, "knowledge/compare.html", member, context, section="knowledge")


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def restore(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Restore an earlier revision, if the base is still at the one that the page showed."""
    base = knowledge_base(member.project, kb_id)
    revision, expected = (whole_number(request.POST.get(name)) for name in ("revision", "expected"))
    try:
        restored = restore_revision(base, revision or 0, actor=member.user, expected=expected)
    except MRPError as refused:
        tell_error(request, refused)
    else:
        tell(request, f"Revision {revision} is back, as revision {restored.revision}.")
    return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def rename(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    base = knowledge_base(member.project, kb_id)
    try:
        rename_base(base, _posted_name(request))
    except MRPError as refused:
        tell_error(request, refused)
    return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def fork(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Make a base that starts with what this one holds, and go there."""
    base = knowledge_base(member.project, kb_id)
    try:
        fork = fork_base(base, _posted_name(request) or None, actor=member.user)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))
    tell(request, f"Forked “{base.name}” into “{fork.name}”.")
    return HttpResponseRedirect(reverse("knowledge-base", args=[fork.kb_id]))


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def delete(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Delete the base, unless sessions have it mounted; it can be taken back."""
    base = knowledge_base(member.project, kb_id)
    try:
        delete_base(base)
    except MRPError as refused:
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))
    tell(request, f"Deleted “{base.name}”.", undo_url=reverse("knowledge-undelete", args=[base.kb_id]))
    return HttpResponseRedirect(reverse("knowledge"))


@form_of("knowledge")
@member_view("editor")
def undelete(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Restore a deleted base and redirect to it."""
    try:
        base = restore_base(member.project, kb_id)
    except Unavailable as refused:  # the project is full
        tell_error(request, refused)
        return HttpResponseRedirect(reverse("knowledge"))
    tell(request, f"“{base.name}” is back.")
    return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))


def _posted_name(request: HttpRequest) -> str:
    return request.POST.get("name", "")


@form_of("knowledge-base", "kb_id")
@member_view("editor")
def compact(request: HttpRequest, member: Member, kb_id: str) -> HttpResponse:
    """Ask for compaction of the layer chain in the background."""
    base = ask_for_compaction(knowledge_base(member.project, kb_id))
    tell(request, "The layers are compacted in the background; what the base shows stays.")
    return HttpResponseRedirect(reverse("knowledge-base", args=[base.kb_id]))
