"""Logging in: by password and a second factor, where there is one; or by the link that the server prints."""

import time
from dataclasses import asdict, dataclass
from typing import Any

import segno
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.actions.settings.projects import use_login_link
from sessions_app.actions.settings.second_factor import begin_enrolment, check_code, confirm_enrolment
from sessions_app.actions.settings.users import record_failed_login
from sessions_app.call_rates import is_allowed, network_of, seconds_to_wait
from sessions_app.queries.settings.members import active_users
from sessions_app.queries.settings.second_factor import Enrolment, enrolment_of, has_second_factor
from sessions_app.web.shell.pages import tell
from sessions_app.web.shell.second_factor import note_passed

TEMPLATE = "shell/login.html"
NAMES_A_NETWORK = 5
"""A network's limit for all users, as a multiple of the limit for one; each attempt hashes a password."""
PATIENCE_SECONDS = 600
"""The time limit for the code after a correct password."""
_LINK_BACKEND = "django.contrib.auth.backends.ModelBackend"
_WAITING = "waiting_login"


@dataclass(frozen=True, slots=True)
class WaitingLogin:
    """A login that waits for its code, kept in the browser's session; a new password makes `proof` wrong."""

    user: int
    proof: str
    leads_to: str
    until: float


@method_decorator(login_not_required, name="dispatch")
class PasswordLogin(LoginView):
    """The login form; attempts are counted by network and user, and by network."""

    template_name = TEMPLATE
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the password, unless there were too many attempts in this minute."""
        network, most = network_of(request.META.get("REMOTE_ADDR", "")), settings.MRPVM_LOGINS_PER_MINUTE
        # The name as the form reads it: no blank or other form of a letter makes it somebody else's.
        name = str(UsernameField().to_python(request.POST.get("username", ""))).casefold()[:150]
        if is_allowed(f"login:{network}", NAMES_A_NETWORK * most) and is_allowed(f"login:{network}:{name}", most):
            return super().post(request, *args, **kwargs)
        form = self.get_form_class()()
        return _too_often(request, TEMPLATE, self.get_context_data(form=form))

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in, or ask for the second factor."""
        user: Any = form.get_user()
        if has_second_factor(user):
            return self._waits(user, "login-code")
        if settings.MRPVM_SECOND_FACTOR == "required":
            begin_enrolment(user)
            return self._waits(user, "login-enrolment")
        return super().form_valid(form)

    def _waits(self, user: User, page: str) -> HttpResponse:
        until = time.time() + PATIENCE_SECONDS
        waiting = WaitingLogin(user.pk, user.get_session_auth_hash(), self.get_success_url(), until)
        self.request.session[_WAITING] = asdict(waiting)
        return HttpResponseRedirect(reverse(page))


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask for a code of the app, or a recovery code; a right one logs in."""
    user, waiting = _waiting(request)
    if user is None or waiting is None:
        return _begin_again(request)
    template = "shell/code.html"
    if request.method != "POST":
        return render(request, template)
    if not is_allowed(f"code:{user.pk}", settings.MRPVM_LOGINS_PER_MINUTE):
        return _too_often(request, template, {})
    try:
        check_code(user, request.POST.get("code", ""))
    except InvalidInput as refused:
        record_failed_login(user.get_username(), "wrong code of the second factor")
        return render(request, template, {"error": refused.message}, status=400)
    _log_in(request, user)
    return HttpResponseRedirect(waiting.leads_to)


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def enrolment(request: HttpRequest) -> HttpResponse:
    """Set up an authenticator where one is required; its first code logs in."""
    user, waiting = _waiting(request)
    if user is None or waiting is None:
        return _begin_again(request)
    started = enrolment_of(user)
    if started is None or has_second_factor(user):
        return _begin_again(request)
    template = "shell/enrolment.html"
    if request.method != "POST":
        return render(request, template, qr_context(started))
    if not is_allowed(f"code:{user.pk}", settings.MRPVM_LOGINS_PER_MINUTE):
        return _too_often(request, template, qr_context(started))
    try:
        codes = confirm_enrolment(user, request.POST.get("code", ""))
    except (InvalidInput, Conflict) as refused:
        return render(request, template, {**qr_context(started), "error": refused.message}, status=400)
    _log_in(request, user)
    return render(request, "shell/recovery_codes.html", {"codes": codes, "leads_to": waiting.leads_to})


def qr_context(enrolment: Enrolment) -> dict[str, object]:
    """Return what templates show of an authenticator that is being set up."""
    drawn = segno.make(enrolment.address).svg_inline(scale=4, dark="#000", light="#fff", title="QR code", svgclass="qr")
    return {"secret": enrolment.secret, "qr": SafeString(drawn), "address": enrolment.address}


@never_cache
@login_not_required
@require_GET
def login_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Log in the user of the link, which works once; its address is given to no other server."""
    try:
        user = use_login_link(secret)
    except InvalidInput as error:
        return render(request, "shell/link_invalid.html", {"error": error}, status=400)
    login(request, user, backend=_LINK_BACKEND)
    note_passed(request)
    return HttpResponseRedirect(reverse("sessions"))


def _waiting(request: HttpRequest) -> tuple[User | None, WaitingLogin | None]:
    """Return the user whose password this browser has just entered, and the waiting login; else None and None."""
    kept = request.session.get(_WAITING)
    waiting = WaitingLogin(**kept) if kept else None
    if waiting is None or waiting.until < time.time():
        return None, None
    user = active_users().filter(pk=waiting.user).first()
    if user is None or not constant_time_compare(waiting.proof, user.get_session_auth_hash()):
        return None, None
    return user, waiting


def _begin_again(request: HttpRequest) -> HttpResponse:
    request.session.pop(_WAITING, None)
    tell(request, "Log in with your password first.")
    return HttpResponseRedirect(reverse("login"))


def _log_in(request: HttpRequest, user: User) -> None:
    del request.session[_WAITING]
    login(request, user, backend=_LINK_BACKEND)
    note_passed(request)


def _too_often(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    wait = seconds_to_wait()
    response = render(request, template, {**context, "wait_seconds": wait}, status=429)
    response["Retry-After"] = str(wait)
    return response
