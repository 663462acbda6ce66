"""Object actions of the admin: a URL, a permission, a form, a log entry and a message each."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.contrib.admin.helpers import AdminForm
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from mrpvm.errors import MRPError
from sessions_app.admin.shell.action_forms import ActionForm, Done
from sessions_app.admin.shell.cells import change_address, row_link, shortened
from sessions_app.admin.shell.denied import missing, permission_to
from sessions_app.admin.shell.read_only import ReadOnlyAdmin


def action_links(
    request: HttpRequest, row: Model, actions: Iterable[type[ActionForm]], *, in_list: bool = False
) -> list[tuple[str, str]]:
    """Return those of a row's actions that make sense for it and that the user may do, as `(label, address)`."""
    if not admin.site.get_model_admin(type(row)).has_view_permission(request, row):
        return []
    stem = f"admin:{row._meta.app_label}_{row._meta.model_name}"
    return [
        (action.short if in_list else action.label, reverse(f"{stem}_{action.slug}", args=[row.pk]))
        for action in actions
        if action.is_allowed(request) and action.is_offered(row)
    ]


class ActionAdmin(ReadOnlyAdmin):
    """Rows that only actions change: `add_action` makes one, `object_actions` change the one on the page.

    Those among `listed_actions` are offered beside each row of the list too.
    """

    add_action: ClassVar[type[ActionForm] | None] = None
    object_actions: ClassVar[tuple[type[ActionForm], ...]] = ()
    listed_actions: ClassVar[tuple[type[ActionForm], ...]] = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow what the adding action allows."""
        return self.add_action is not None and self.add_action.is_allowed(request)

    def page_links(self, request: HttpRequest, row: Any) -> list[tuple[str, str]]:
        """Return further links for the row's page, `(label, address)` each; an empty address is left out."""
        return []

    def listed_links(self, request: HttpRequest, row: Any) -> list[tuple[str, str]]:
        """Return what the list offers beside a row, as `page_links` does."""
        return action_links(request, row, self.listed_actions, in_list=True)

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Return the columns, the second one with links to the actions that are offered beside each row."""

        @admin.display(description="actions")
        def offered(row: Any) -> SafeString:
            return format_html_join(
                " · ", '<a href="{}">{}</a>', ((to, label) for label, to in self.listed_links(request, row))
            )

        first, *others = super().get_list_display(request)
        return [first, offered, *others] if self.listed_actions else [first, *others]

    def get_urls(self) -> list[URLPattern]:
        """Return an address to every object action."""
        own = [
            path(
                f"<path:object_id>/{action.slug}/",
                self.admin_site.admin_view(partial(self.object_action_view, action=action)),
                name=f"{self.opts.app_label}_{self.opts.model_name}_{action.slug}",
            )
            for action in self.object_actions
        ]
        return [*own, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *arguments: Any, **options: Any
    ) -> HttpResponse:
        """Show the row with its actions' buttons."""
        row = context.get("original")
        if row is not None:
            further = [item for item in self.page_links(request, row) if item[1]]
            context["row_links"] = further + action_links(request, row, self.object_actions)
        return super().render_change_form(request, context, *arguments, **options)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show or perform the adding action.

        Raises:
            PermissionDenied: there is none, or it is not for this user.
        """
        if self.add_action is None:
            raise PermissionDenied
        if not self.add_action.is_allowed(request):
            raise PermissionDenied(missing(request, self.add_action.permissions))
        return self._run(request, self.add_action, None)

    def object_action_view(self, request: HttpRequest, object_id: str, action: type[ActionForm]) -> HttpResponse:
        """Show or perform an object action.

        Raises:
            PermissionDenied: it, or seeing such rows, is not for this user.
            Http404: there is no such row.
        """
        view = () if self.has_view_permission(request) else (permission_to("view", self.model),)
        if view or not action.is_allowed(request):
            raise PermissionDenied(missing(request, (*view, *action.permissions)))
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        if not action.is_offered(row):
            self.message_user(request, "That is not possible any more.", messages.ERROR)
            return HttpResponseRedirect(change_address(row))
        return self._run(request, action, row)

    def _run(self, request: HttpRequest, action: type[ActionForm], row: Model | None) -> HttpResponse:
        form = action(request.POST if request.method == "POST" else None, row=row)
        if form.is_bound and form.is_valid():
            try:
                done = self._perform(request, form, row)
            except MRPError as error:
                form.add_error(None, f"{error.message} ({error.code})")
                form.renew_hidden_fields()
            else:
                return self._respond(request, action, row, done)
        return self._page(request, form, row)

    def _perform(self, request: HttpRequest, form: ActionForm, row: Model | None) -> Done:
        done = form.perform(cast(User, request.user)) if form.in_steps else None
        with transaction.atomic():
            done = done or form.perform(cast(User, request.user))
            self._log(request, row, done)
        return done

    def _log(self, request: HttpRequest, row: Model | None, done: Done) -> None:
        for changed in filter(None, (row, done.changed)):
            self.log_change(request, changed, done.log)
        if done.created is not None:
            self.log_addition(request, done.created, done.log)

    def _respond(self, request: HttpRequest, action: type[ActionForm], row: Model | None, done: Done) -> HttpResponse:
        shown = cast(Model, done.created or row)  # an action makes a row or changes one
        if done.secret:
            context = self._context(request, action, row) | {
                "title": done.message,
                "done": done,
                "shown": row_link(shown),
            }
            response = TemplateResponse(request, "admin/sessions_app/secret.html", context)
            add_never_cache_headers(response)
            return response
        self.message_user(request, format_html("{} {}", done.message, row_link(done.created)), messages.SUCCESS)
        return HttpResponseRedirect(change_address(shown))

    def _page(self, request: HttpRequest, form: ActionForm, row: Model | None) -> HttpResponse:
        fieldsets = [(None, {"fields": list(form.fields)})] if form.fields else []
        fields = AdminForm(form, fieldsets, {}, model_admin=self)  # type: ignore[arg-type]  # any form will do
        context = self._context(request, type(form), row) | {
            "form": form,
            "adminform": fields,
            "media": self.media + form.media,
        }
        return TemplateResponse(request, "admin/sessions_app/action_form.html", context)

    def _context(self, request: HttpRequest, action: type[ActionForm], row: Model | None) -> dict[str, Any]:
        request.current_app = self.admin_site.name
        return {
            **self.admin_site.each_context(request),
            "title": action.heading.format(shortened(str(row))),
            "opts": self.opts,
            "original": row,
            "is_popup": False,
        }
