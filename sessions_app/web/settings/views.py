"""The settings page: which model answers in which role; admins of the project change it."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from mrpvm.errors import InvalidInput
from sessions_app.actions.settings.model_roles import set_model_roles
from sessions_app.language_model import model_names
from sessions_app.queries.settings.model_roles import shared_config
from sessions_app.web.settings.model_roles import form_fields_of, model_table_of, roles_context
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.shell.changed_fields import changed_fields
from sessions_app.web.shell.pages import page, tell

TEMPLATE = "settings/index.html"


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def index(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the project's table; a POST sets changed fields, and a refused one is shown again with the reason."""
    config, updated_at = shared_config(member.project)
    stored = form_fields_of(config)
    error, status = "", 200
    if request.method == "POST":
        member.check("admin")
        config = model_table_of({**stored, **changed_fields(request.POST.dict(), request.POST)})
        try:
            set_model_roles(member.project, config)
        except InvalidInput as refused:
            error, status = refused.message, 400
        else:
            tell(request, "Saved. New conversations use it; those there are keep what they began with.")
            return HttpResponseRedirect(reverse("settings"))
    context = {**roles_context(config), "updated_at": updated_at, "stored": stored, "error": error}
    return page(request, TEMPLATE, member, context, section="settings", status=status)


@require_safe
@member_view()
def names(request: HttpRequest, member: Member) -> HttpResponse:
    """Return the models that fields suggest; asked for when needed, because the provider may be slow to list them."""
    return page(request, f"{TEMPLATE}#names", member, {"names": model_names()})
