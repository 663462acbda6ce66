"""What a session's page does with knowledge bases: mount the newest revision, save, fork, discard a draft.

The forms lead to the page again; one that htmx sent is answered with what the page would say.
"""

from collections.abc import Callable, Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from mrpvm.errors import InvalidInput, MRPError
from sessions_app.actions.knowledge.drafts import remove_source
from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base, unmount_base
from sessions_app.models import KnowledgeBase
from sessions_app.queries.knowledge.bases import knowledge_base, offered_bases
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.web.sessions.saving import saving_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of
from sessions_app.web.shell.pages import answer_form, back_to, leads_back, page, tell, tell_error


@require_safe
@member_view("editor")
def saving(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return what the dialog asks: what is not saved, and what can be done with it before `kb_id` is mounted."""
    context = saving_context(session_of(member.project, session_id))
    return page(request, "sessions/state/saving.html", member, {**context, "kb_id": request.GET.get("kb_id", "")})


@form_of("session", "session_id")
@member_view("editor")
def mount(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Mount the newest revision of the mounted base, or of `kb_id`; over an unsaved draft only with `discard_draft`.

    From another page than the session's, which the form names as `next`, it leads back there and can be undone.
    """
    session, discards = session_of(member.project, session_id), "discard_draft" in request.POST
    kb_id = request.POST.get("kb_id") or request.GET.get("kb_id", "")
    before = session.mounted_kb

    def act() -> tuple[str, KnowledgeBase]:
        base = knowledge_base(member.project, kb_id) if kb_id else before
        mounted = mount_base(session, base, reason="mount-page", actor=member.user, discard_draft=discards)
        gone = "The draft was discarded. " if discards else ""
        return f"{gone}The session sees revision {mounted.revision} of “{base.name}” now.", base

    back = leads_back(request)
    if not back:
        return _run(request, session_id, act)
    try:
        text, _ = act()
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, text, undo_url=f"{request.path}?{urlencode({'kb_id': before.kb_id})}")
    return HttpResponseRedirect(back)


@require_safe
@member_view("editor")
def mounting(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return the form that mounts another base."""
    session = session_of(member.project, session_id)
    bases, goes_on = offered_bases(member.project)
    others = [base for base in bases if base.pk != session.mounted_kb_id]
    context = {"session": session, "bases": others, "bases_go_on": goes_on}
    return page(request, "sessions/state/mounting.html", member, context)


@form_of("session", "session_id")
@member_view("editor")
def unmount(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Mount the project's default base in place of the present one; refused over an unsaved draft."""
    session = session_of(member.project, session_id)
    before = session.mounted_kb
    try:
        unmount_base(session, reason="unmount-page", actor=member.user)
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, f"“{before.name}” is no longer mounted in “{session.label}”.")
    return back_to(request, reverse("session", args=[session_id]))


@form_of("session", "session_id")
@member_view("editor")
def unstage(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Remove the source called `source_id` from the draft."""
    session, source_id = session_of(member.project, session_id), request.POST.get("source_id", "")
    try:
        remove_source(session, source_id)
    except MRPError as error:
        if error.code == "SOURCE_NOT_FOUND":  # another member has just removed it
            tell(request, "The source is no longer in the draft.")
        else:
            tell_error(request, error)
    else:
        tell(request, "The source was removed from the draft.")
    return answer_form(request, reverse("session", args=[session_id]))


@form_of("session", "session_id")
@member_view("editor")
def save(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Save the draft into the mounted base; what the conversation told only where `include_conversation_units` says so:
    `yes` for all, `chosen` for the units that are named as `unit`.

    Others see what is saved there, so it is never taken along unasked.
    """
    session = session_of(member.project, session_id)

    def act() -> tuple[str, KnowledgeBase]:
        unit_ids = _told_units(request)
        if not session.is_dirty and unit_ids == []:
            raise InvalidInput("Nothing was saved: no source is staged, and what the conversation told was left out.")
        before = session.mounted_kb
        base = save_session_kb(session, conversation_unit_ids=unit_ids, actor=member.user)
        if base == before and base.revision == before.revision:
            return f"There was nothing to save: “{base.name}” stays at revision {base.revision}.", base
        return f"Saved into “{base.name}” as revision {base.revision}{_told_words(unit_ids)}.", base

    return _run(request, session_id, act)


@form_of("session", "session_id")
@member_view("editor")
def fork(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Make a base called `name` of what the session sees and mount it; the facts told are chosen as for a save."""
    session = session_of(member.project, session_id)

    def act() -> tuple[str, KnowledgeBase]:
        unit_ids = _told_units(request)
        name = request.POST.get("name", session.mounted_kb.fork_name)
        base = fork_session_kb(session, name, member.user, conversation_unit_ids=unit_ids)
        return f"Created “{base.name}”{_told_words(unit_ids)}. The session sees its revision {base.revision} now.", base

    return _run(request, session_id, act)


def _told_units(request: HttpRequest) -> list[str] | None:
    """Return which of the units told in the conversation go along; None for all of them.

    Raises:
        InvalidInput: some are to be chosen, and none is.
    """
    amount = request.POST.get("include_conversation_units", "")
    if amount != "chosen":
        return None if amount else []
    chosen = request.POST.getlist("unit")
    if not chosen:
        raise InvalidInput("Nothing was saved: choose the facts that are to go along, or none of them.")
    return chosen


def _told_words(unit_ids: Sequence[str] | None) -> str:
    if unit_ids is None:
        return ", with the facts told in the conversation"
    return f", with {len(unit_ids)} of the facts told in the conversation" if unit_ids else ""


def _run(request: HttpRequest, session_id: str, act: Callable[[], tuple[str, KnowledgeBase]]) -> HttpResponse:
    """Run the action, and show its result with a link to the base, or the reason of a refusal."""
    try:
        text, base = act()
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, text, link_url=reverse("knowledge-base", args=[base.kb_id]))
    return answer_form(request, reverse("session", args=[session_id]))
