"""The page on which people set or change their own password."""

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.passwords import change_own_password
from sessions_app.call_rates import is_allowed, seconds_to_wait
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.pages import page, tell
from sessions_app.web.shell.second_factor import is_by_proxy


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the form, or change the password."""
    if request.method != "POST":
        return _show(request, member)
    if is_by_proxy(request.session):
        raise PermissionDenied("You log in by the proxy in front of this server, which knows your password.")
    if not is_allowed(f"password:{member.user.pk}", settings.MRPVM_LOGINS_PER_MINUTE):
        return _show(request, member, f"Too many attempts. Try again in {seconds_to_wait()} seconds.", status=429)
    try:
        change_own_password(member.user, request.POST.get("present", ""), request.POST.get("password", ""))
    except InvalidInput as refused:
        return _show(request, member, refused.message, status=400)
    update_session_auth_hash(request, member.user)
    tell(request, "Your password is changed. Other browsers must log in again.")
    return HttpResponseRedirect(reverse("password"))


def _show(request: HttpRequest, member: Member, error: str = "", status: int = 200) -> HttpResponse:
    context = {
        "error": error,
        "has_password": member.user.has_usable_password(),
        "is_by_proxy": is_by_proxy(request.session),
    }
    return page(request, "settings/password.html", member, context, status=status)
