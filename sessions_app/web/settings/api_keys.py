"""The API keys page, for admins of the project: make, see, revoke."""

import logging
import secrets
from typing import Any

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import MRPError
from sessions_app.actions.settings.api_keys import create_key, revoke_key
from sessions_app.models import Role
from sessions_app.queries.settings.projects import api_keys
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.form_addresses import form_of, keep, take
from sessions_app.web.shell.pages import page, tell

logger = logging.getLogger(__name__)

_KEPT_SECONDS = 300


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the keys; a POST makes one, which the page that follows shows once."""
    server_url = request.build_absolute_uri("/").rstrip("/")
    context: dict[str, object] = {"roles": Role.choices, "name": "", "chosen_role": "editor", "server_url": server_url}
    status = 200
    if request.method == "POST":
        name, role = (request.POST.get(field, "") for field in ("name", "role"))
        try:
            key, plain = create_key(member.project, name, role, member.user)
        except MRPError as refused:
            context |= {"error": refused.message, "name": name, "chosen_role": role}
            status = 400
        else:
            if _is_kept(request, key.pk, plain):
                return HttpResponseRedirect(reverse("api-keys"))
            context |= {"made": key, "plain": plain}
    elif request.method == "GET":
        context |= _taken(request, member)
    context["keys"] = api_keys(member.project)
    return page(request, "settings/api_keys.html", member, context, section="api-keys", status=status)


def _is_kept(request: HttpRequest, key_pk: int, plain: str) -> bool:
    """Keep a new key for the page that follows: for a short time, and never in a row; False if the cache is away."""
    ticket = secrets.token_urlsafe()
    try:
        cache.set(_made(ticket), (key_pk, plain), _KEPT_SECONDS)
    except Exception as error:
        logger.warning("a new key is shown by the answer that made it, the cache is away: %s", error)
        return False
    keep(request, "made-key", {"ticket": ticket})
    return True


def _taken(request: HttpRequest, member: Member) -> dict[str, Any]:
    """Return the key that was just made, once."""
    ticket = take(request, "made-key").get("ticket")
    if ticket is None:
        return {}
    try:
        key_pk, plain = cache.get(_made(ticket)) or (None, "")
        cache.delete(_made(ticket))
    except Exception as error:
        logger.warning("a new key could not be shown, the cache is away: %s", error)
        return {}
    return {"made": api_keys(member.project).filter(pk=key_pk).first(), "plain": plain} if key_pk else {}


def _made(ticket: str) -> str:
    return f"made-key:{ticket}"


@form_of("api-keys")
@member_view("admin")
def revoke(request: HttpRequest, member: Member, key_pk: int) -> HttpResponse:
    """End a key for good."""
    key = api_keys(member.project).filter(pk=key_pk).first()
    if key is None:
        raise Http404("There is no such key.")
    revoke_key(key)
    tell(request, f"Revoked “{key.name}”.")
    return HttpResponseRedirect(reverse("api-keys"))
