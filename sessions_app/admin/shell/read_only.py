"""Pages that show rows and let nobody change them."""

from typing import Any, ClassVar, cast

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

ROWS_LISTED = 10_000
"""How many rows the pages of a list go through; the others are found by filters and searches."""


class BoundedPaginator(Paginator):
    """Counts no table to its end."""

    @cached_property
    def count(self) -> int:
        """Return how many rows the pages have."""
        rows = cast(QuerySet[Model], self.object_list)
        return rows.order_by().values("pk")[:ROWS_LISTED].count()

    @property
    def is_cut(self) -> bool:
        """Return whether there may be more rows."""
        return self.count == ROWS_LISTED


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

    def get_paginator(self, request: HttpRequest, *arguments: Any, **options: Any) -> Paginator:
        """Return the pages of a list; where all rows of a list can be deleted at once, all are counted."""
        kind = Paginator if "delete" in self.permitted else BoundedPaginator
        return kind(*arguments, **options)

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
