"""The page of one session: the conversation, its live state, and the actions on the session."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from mrpvm.errors import MRPError, NotFound, Unavailable
from sessions_app.actions.sessions.session import (
    UNDO_PERIOD,
    Choices,
    choose_policies,
    clean_title,
    clear_preference,
    delete_session,
    rename_session,
    restore_session,
)
from sessions_app.actions.settings.model_roles import change_model_config
from sessions_app.actions.settings.quotas import take_turn
from sessions_app.call_rates import is_allowed, seconds_to_wait
from sessions_app.commands.messages import answer_message
from sessions_app.provider_threads import drop_provider_thread
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.search.row_numbers import whole_number
from sessions_app.queries.sessions.lookups import counted_session as session_of
from sessions_app.queries.sessions.pages import deleted_session, newest_mounts
from sessions_app.turns.call import TurnCall
from sessions_app.web.sessions.composer import composer_context
from sessions_app.web.sessions.conversation import exchanges_context
from sessions_app.web.sessions.diagnostics import diagnostics_context
from sessions_app.web.sessions.policies import chosen_policies
from sessions_app.web.sessions.saving import saving_context
from sessions_app.web.sessions.state import PanelQuery, registry_context, state_context, units_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of, keep_written, take
from sessions_app.web.shell.pages import answer_form, back_to, page, tell, tell_error

TEMPLATE = "sessions/show.html"


@require_safe
@member_view()
def show(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Show the conversation beside what the session holds; an expired one is read-only, a deleted one can be restored.

    Opening the page resets the provider's conversation.
    """
    try:
        session = session_of(member.project, session_id)
    except NotFound:
        deleted = deleted_session(session_id, member.project.pk)
        if deleted is None or deleted.deleted_at is None or deleted.deleted_at < timezone.now() - UNDO_PERIOD:
            raise
        return page(request, "sessions/deleted.html", member, {"session": deleted}, section="sessions", status=404)
    drop_provider_thread(session)
    written = take(request, f"written:{session_id}")
    mounted, before = newest_mounts(session), whole_number(request.GET.get("before"))
    context = {
        **exchanges_context(session, member.user.get_username(), before, mounted=mounted),
        **state_context(session, PanelQuery.of(request.GET.dict()), mounted),
        **composer_context(member.project, session, written, with_controls="options" in request.GET),
        **(saving_context(session, mounted) | {"is_saving_asked": True} if "saving" in request.GET else {}),
        **(diagnostics_context(session) if "diagnostics" in request.GET else {}),
    }
    return page(request, TEMPLATE, member, context, section="sessions")


@require_safe
@member_view()
def head(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return the title, the time to expiry and the actions."""
    session = session_of(member.project, session_id)
    return page(request, f"{TEMPLATE}#head", member, {"session": session})


@require_safe
@member_view()
def messages(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return the conversation, or with `before` the part of it that came earlier."""
    session = session_of(member.project, session_id)
    before, count = (whole_number(request.GET.get(name)) for name in ("before", "count"))
    part = "exchanges" if before is not None else "messages"
    context = exchanges_context(session, member.user.get_username(), before, count) | {"is_window_moved": False}
    return page(request, f"{TEMPLATE}#{part}", member, context)


@require_safe
@member_view()
def state(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return one tab of the live state, or more of its units or turns."""
    session = session_of(member.project, session_id)
    units_before, turns_before = (whole_number(request.GET.get(name)) for name in ("units_before", "turns_before"))
    query = PanelQuery.of(request.GET.dict())
    if units_before is not None:
        return page(request, f"{TEMPLATE}#units", member, units_context(session, units_before))
    if turns_before is not None:
        return page(request, f"{TEMPLATE}#registry", member, registry_context(session, query.find, turns_before))
    return page(request, f"{TEMPLATE}#state", member, state_context(session, query))


@require_safe
@member_view()
def diagnostics(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return what the latest turn really sent."""
    session = session_of(member.project, session_id)
    return page(request, "sessions/state/diagnostics.html", member, diagnostics_context(session))


@require_safe
@member_view()
def composer(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Return the composer with its controls, or why there is none."""
    session = session_of(member.project, session_id)
    context = composer_context(member.project, session, with_controls=True)
    return page(request, f"{TEMPLATE}#composer", member, context)


@form_of("session", "session_id")
@member_view("editor")
def ask(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Run a turn for a browser without JavaScript and show the conversation with its end.

    A message that was not answered stays in the form with its choices.
    """
    session = session_of(member.project, session_id)
    try:
        if not is_allowed(f"chats:user-{member.user.pk}", settings.MRPVM_CHATS_PER_MINUTE):
            raise Unavailable(f"Too many messages. Try again in {seconds_to_wait()} s.", code="RATE_LIMITED")
        take_turn(member.project)
        answer_message(session, _call(request, member))
    except MRPError as error:
        tell_error(request, error)
        keep_written(request, session_id)
        return HttpResponseRedirect(reverse("session", args=[session_id]))
    return HttpResponseRedirect(reverse("session", args=[session.session_id]) + "#latest")


def _call(request: HttpRequest, member: Member) -> TurnCall:
    form = {name: value for name, value in request.POST.items() if isinstance(value, str) and value.strip()}
    kb_id = form.get("kb_id")
    return TurnCall(
        message=form.get("content", ""),
        choices=Choices(
            planner=form.get("planner_plugin"),
            seed_detector=form.get("seed_detector_plugin"),
            kb=form.get("kb_plugin"),
            goal_solver=form.get("goal_solver_plugin"),
            deliberation_level=whole_number(form.get("deliberation_level")),
            model=form.get("model"),
            grounding=form.get("grounding"),
        ),
        base=knowledge_base(member.project, kb_id) if kb_id else None,
    )


@form_of("session", "session_id")
@member_view("editor")
def take_models(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Copy the project's present role table into the session."""
    session = session_of(member.project, session_id)
    try:
        change_model_config(session, {"take_current_roles": True})
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, "This session uses the project's current table of models now.")
    return HttpResponseRedirect(reverse("session", args=[session.session_id]) + "?panel=settings")


@form_of("session", "session_id")
@member_view("editor")
def policies(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Choose the session's policies; an empty field takes a choice back."""
    session = session_of(member.project, session_id)
    try:
        choose_policies(session, chosen_policies(request.POST.dict()))
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, "Saved. The policies hold for turns from now on.")
    return HttpResponseRedirect(reverse("session", args=[session.session_id]) + "?panel=settings")


@form_of("session", "session_id")
@member_view("editor")
def clear(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    session = session_of(member.project, session_id)
    try:
        clear_preference(session, request.POST.get("name", ""))
    except MRPError as error:
        tell_error(request, error)
    else:
        tell(request, "Cleared: it is chosen by the planner again.")
    return answer_form(request, reverse("session", args=[session.session_id]) + "?panel=settings")


@form_of("session", "session_id")
@member_view("editor")
def rename(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Rename the session; an empty name restores the default."""
    session = session_of(member.project, session_id)
    title = " ".join(request.POST.get("title", "").split())
    try:
        if clean_title(title) != session.title:
            rename_session(session, title)
    except MRPError as error:
        tell_error(request, error)
    return back_to(request, reverse("session", args=[session.session_id]))


@form_of("session", "session_id")
@member_view("editor")
def delete(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Delete the session; the next page offers to take it back."""
    session = session_of(member.project, session_id)
    delete_session(session)
    tell(request, f"Deleted “{session.label}”.", undo_url=reverse("session-restore", args=[session.session_id]))
    return back_to(request, reverse("sessions"))


@form_of("sessions")
@member_view("editor")
def restore(request: HttpRequest, member: Member, session_id: str) -> HttpResponse:
    """Restore a deleted session and redirect to it."""
    session = deleted_session(session_id, member.project.pk)
    if session is None:
        raise Http404("There is no such deleted session.")
    try:
        restore_session(session)
    except MRPError as error:
        tell_error(request, error)
        return HttpResponseRedirect(reverse("session", args=[session_id]))
    tell(request, f"“{session.label}” is back.")
    return back_to(request, reverse("sessions"))
