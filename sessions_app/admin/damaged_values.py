"""Stored values that could not be read, and were replaced."""

from django.contrib import admin

from sessions_app.admin.shell.cells import shortened
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.models import DamagedValue


@admin.register(DamagedValue)
class DamagedValueAdmin(ReadOnlyAdmin):
    """What was found in the place of a value, the newest first."""

    list_display = ("__str__", "table", "column", "row_key", "found_at")
    list_filter = ("table",)
    deferred = ("raw",)
    fields = ("table", "column", "row_key", "byte_count", "beginning", "found_at")

    @admin.display(description="bytes")
    def byte_count(self, row: DamagedValue) -> int:
        """Return how long the value is."""
        return len(row.raw)

    @admin.display
    def beginning(self, row: DamagedValue) -> str:
        """Return how the value begins; what is no text in hexadecimal digits."""
        return shortened(bytes(row.raw).decode("utf-8", "backslashreplace"), 2_000)
