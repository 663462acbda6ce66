"""What conversations taught their sessions, and the ledger of what happened to every unit."""

from typing import get_args

from django.contrib import admin
from django.utils.safestring import SafeString

from mrpvm.values import KU_TYPES, ROLES, Store
from sessions_app.admin.shell.cells import row_link, shortened
from sessions_app.admin.shell.filters import known_values
from sessions_app.admin.shell.read_only import ReadOnlyAdmin
from sessions_app.admin.shell.unit_fields import UNIT_FIELDS
from sessions_app.models import ContextUnit, UnitEvent

_JOINED_LARGE = (
    "session__system_prompt", "turn__user_message", "turn__response_document", "turn__command_result",
        "turn__unit_changes", "turn__error",
)  # fmt: skip


class _OfSession(ReadOnlyAdmin):
    """Rows of a session that a turn may have caused."""

    list_select_related = ("session", "turn")
    ordering = ("-id",)

    @admin.display(description="session")
    def session_link(self, row: ContextUnit | UnitEvent) -> SafeString:
        return row_link(row.session)

    @admin.display(description="turn")
    def turn_link(self, row: ContextUnit | UnitEvent) -> SafeString:
        """Return the turn it came from."""
        return row_link(row.turn)


@admin.register(ContextUnit)
class ContextUnitAdmin(_OfSession):
    """Units of sessions, pending and committed."""

    list_display = ("unit_id", "says", "role", "state", "session_link", "turn_link", "created_at")
    list_filter = ("state", known_values("role", ROLES), known_values("ku_type", KU_TYPES))
    deferred = _JOINED_LARGE
    search_fields = ("=unit_id", "=hash", "=session__session_id", "topic", "claim")
    fieldsets = (
        (None, {"fields": (("unit_id", "state"), ("session", "turn"), ("created_at", "committed_at"))}),
        ("Unit", {"fields": UNIT_FIELDS}),
        ("Origin", {"fields": (("source_id", "chunk_id"), "hash", "provenance")}),
    )  # fmt: skip

    @admin.display(description="text")
    def says(self, unit: ContextUnit) -> str:
        """Return what the unit says."""
        return shortened(unit.text)


@admin.register(UnitEvent)
class UnitEventAdmin(_OfSession):
    """The ledger."""

    list_display = ("id", "unit_id", "step", "store", "rank", "score", "session_link", "turn_link", "created_at")
    list_filter = ("step", known_values("store", get_args(Store)))
    deferred = ("text", *_JOINED_LARGE)
    search_fields = ("=unit_id", "=session__session_id", "=execution_id")
    fields = (
        "session", "turn", "unit_id", "step", "store", "execution_id", "rank", "score", "reason", "text", "created_at",
    )  # fmt: skip
