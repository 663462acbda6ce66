"""Pages that show rows and let nobody change them."""

from typing import ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest


class ReadOnlyAdmin(admin.ModelAdmin):
    """Lists and shows rows.

    `deferred` names large columns that lists do not read, including those of joined rows; the page of one row reads
    them when it shows them. `permitted` names what a permission allows here; nobody may do anything else.
    """

    permitted: ClassVar[tuple[str, ...]] = ("view",)
    deferred: ClassVar[tuple[str, ...]] = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # facets would count the whole table once for every choice

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """Return the rows without their large columns."""
        return super().get_queryset(request).defer(*self.deferred)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow what the user may, where rows are deleted at all."""
        return "delete" in self.permitted and super().has_delete_permission(request, obj)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse to filter by a digest: an address could guess it letter by letter."""
        return "digest" not in lookup.split("__") and super().lookup_allowed(lookup, value, request)
