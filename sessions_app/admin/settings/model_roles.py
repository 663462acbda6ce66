"""The projects' tables of model roles, to look at: they are set through the API."""

from django.contrib import admin
from django.utils.safestring import SafeString

from sessions_app.admin.shell.cells import shown_json
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import ModelRoles


@admin.register(ModelRoles)
class ModelRolesAdmin(ReadOnlyAdmin):
    """Which model answers in which role, a project a row."""

    list_display = ("project", "updated_at")
    list_select_related = ("project",)
    search_fields = ("project__name",)
    deferred = ("config",)
    ordering = ("project__name", "id")
    fields = ("project", "updated_at", "table")

    @admin.display(description="table")
    def table(self, roles: ModelRoles) -> SafeString:
        return shown_json(roles.config)
