"""Logging in: by password, or by the link that the server prints at its start."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.projects import use_login_link
from sessions_app.call_rates import is_allowed, seconds_to_wait

TEMPLATE = "shell/login.html"
_LINK_BACKEND = "django.contrib.auth.backends.ModelBackend"


@method_decorator(login_not_required, name="dispatch")
class PasswordLogin(LoginView):
    """The login form; attempts are counted by address and user."""

    template_name = TEMPLATE
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Check the password, unless there were too many attempts in this minute."""
        address, name = request.META.get("REMOTE_ADDR", ""), request.POST.get("username", "").casefold()[:150]
        if is_allowed(f"login:{address}:{name}", settings.MRPVM_LOGINS_PER_MINUTE):
            return super().post(request, *args, **kwargs)
        wait = seconds_to_wait()
        response = self.render_to_response(self.get_context_data(form=self.get_form_class()(), wait_seconds=wait))
        response.status_code = 429
        response["Retry-After"] = str(wait)
        return response


@never_cache
@login_not_required
@require_GET
def login_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Log in the user of the link, which works once; its address is given to nobody else."""
    try:
        user = use_login_link(secret)
    except InvalidInput as error:
        response: HttpResponse = render(request, "shell/link_invalid.html", {"error": error}, status=400)
    else:
        login(request, user, backend=_LINK_BACKEND)
        response = HttpResponseRedirect(reverse("sessions"))
    response["Referrer-Policy"] = "no-referrer"
    return response
