"""Addresses that only accept a form: the page that holds the form, and the values kept for that page."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from sessions_app.call_rates import is_allowed, network_of
from sessions_app.web.shell.pages import leads_back, tell

type FormView[**P] = Callable[Concatenate[HttpRequest, P], HttpResponse]


def form_of[**P](page: str, *names: str) -> Callable[[FormView[P]], FormView[P]]:
    """Return a decorator for a view that takes a form by POST; a GET of its address is answered 405 with that reason.

    Args:
        page: the name of the page that holds the form.
        names: which parts of the form's address the page's address has too.
    """

    def decorate(view: FormView[P]) -> FormView[P]:
        @wraps(view)
        def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            response = render(request, "405.html", {"form_page": _address(page, names, kwargs)}, status=405)
            response.headers["Allow"] = "POST"
            return response

        answer.form_page = (page, names)  # type: ignore[attr-defined]
        return answer

    return decorate


class LoginRequired(LoginRequiredMiddleware):
    """Asks for a login; from a form it leads back to the page that holds it, with the message that was written."""

    def handle_no_permission(self, request: HttpRequest, view_func: Callable[..., Any]) -> HttpResponseRedirect:
        """Redirect to the login page."""
        form_page = getattr(view_func, "form_page", None)
        match = request.resolver_match
        if form_page is None or match is None:
            return super().handle_no_permission(request, view_func)
        if request.method == "POST":
            is_kept = match.url_name == "session-ask" and _keep_of_nobody(request, match.kwargs["session_id"])
            rest = "your message will be in its field again" if is_kept else "nothing was done"
            tell(request, f"Your login has expired. Log in; {rest}.")
        page, names = form_page
        return redirect_to_login(leads_back(request) or _address(page, names, match.kwargs))


def _address(page: str, names: tuple[str, ...], arguments: dict[str, Any]) -> str:
    return reverse(page, kwargs={name: arguments[name] for name in names})


def _keep_of_nobody(request: HttpRequest, session_id: str) -> bool:
    """Keep a message unless it would be refused anyway, so that strangers can store only little."""
    is_short = len(request.POST.get("content", "")) <= settings.MRPVM_MAX_MESSAGE_CHARS
    network = network_of(request.META.get("REMOTE_ADDR", ""))
    if not is_short or not is_allowed(f"written:{network}", settings.MRPVM_LOGINS_PER_MINUTE):
        return False
    keep_written(request, session_id)
    return True


def keep_written(request: HttpRequest, session_id: str) -> None:
    """Keep what a session's composer held until its page is shown next."""
    keep(request, f"written:{session_id}", {name: value for name, value in request.POST.items() if name in COMPOSER})


COMPOSER = (
    "content", "planner_plugin", "seed_detector_plugin", "kb_plugin", "goal_solver_plugin", "kb_id", "model",
    "grounding", "deliberation_level",
)  # fmt: skip
"""The fields of a composer."""


def keep(request: HttpRequest, name: str, value: dict[str, Any]) -> None:
    """Keep something in the browser's login session, which outlives the login itself, for the page shown next."""
    request.session[name] = value


def take(request: HttpRequest, name: str) -> dict[str, Any]:
    """Return what was kept, once."""
    return request.session.pop(name, {})
