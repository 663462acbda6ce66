"""The API keys page, for admins of the project: make, see, revoke [O-25]."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from mrpvm.errors import MRPError
from sessions_app.actions.api_keys import create_key, revoke_key
from sessions_app.queries.projects import ROLES, api_keys
from sessions_app.web.access import Member, member_view
from sessions_app.web.form_addresses import form_of
from sessions_app.web.pages import page, tell


@require_http_methods(["GET", "HEAD", "POST"])
@member_view("admin")
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the keys; a POST makes one, which this answer alone shows."""
    server_url = request.build_absolute_uri("/").rstrip("/")
    context: dict[str, object] = {"roles": ROLES, "name": "", "chosen_role": "editor", "server_url": server_url}
    status = 200
    if request.method == "POST":
        name, role = (request.POST.get(field, "").replace("\0", "") for field in ("name", "role"))
        try:
            made, plain = create_key(member.project, name, role, member.user)
            context |= {"made": made, "plain": plain}
        except MRPError as refused:
            context |= {"error": refused.message, "name": name, "chosen_role": role}
            status = 400
    context["keys"] = api_keys(member.project)
    return page(request, "api_keys/index.html", member, context, section="api-keys", status=status)


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
