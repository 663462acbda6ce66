"""How large the database was; read only."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import StorageSample


@admin.register(StorageSample)
class StorageSampleAdmin(ReadOnlyAdmin):
    """The bytes of each kind on each day."""

    list_display = ("day", "kind", "byte_count", "is_estimate")
    search_fields = ("kind",)
    ordering = ("-day", "kind", "id")
    fields = ("day", "kind", "byte_count", "is_estimate")
