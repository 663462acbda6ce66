"""Which versions of the server have used the database."""

from django.contrib import admin

from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import DatabaseVersion


@admin.register(DatabaseVersion)
class DatabaseVersionAdmin(ReadOnlyAdmin):
    """Versions that prepared the database, the newest first."""

    list_display = ("version", "latest_migration", "prepared_at")
    fields = ("version", "latest_migration", "prepared_at")
