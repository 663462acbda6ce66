"""Filters of the list of turns that have a name."""

from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.turns.saved_filters import change_filter, delete_filter, save_filter
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import FilterPatchRequest, FilterRequest
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.responses import SavedFilterObject
from sessions_app.models import SavedFilter
from sessions_app.queries.turns.saved_filters import saved_filter, saved_filters


def filter_record(saved: SavedFilter) -> SavedFilterObject:
    return {
        "filter_id": saved.filter_id,
        "name": saved.name,
        "q": saved.text,
        "created_by": saved.created_by_name,
        "created_at": saved.created_at,
    }


class SavedFilters(ApiView):
    """The project's saved filters."""

    @schemas.filter_list
    def get(self, request: Request) -> Response:
        """List all of them by name."""
        return Response({"filters": [filter_record(saved) for saved in saved_filters(self.project)]})

    @schemas.filter_save
    def post(self, request: Request) -> Response:
        """Save a filter under a name."""
        body = self.body(FilterRequest)
        return Response(filter_record(save_filter(self.project, body["name"], body["q"], self.author)), status=201)


class OneSavedFilter(ApiView):
    @schemas.filter_change
    def patch(self, request: Request, filter_id: str) -> Response:
        """Change its name or what it looks for."""
        body = self.body(FilterPatchRequest)
        saved = change_filter(saved_filter(self.project, filter_id), name=body.get("name"), text=body.get("q"))
        return Response(filter_record(saved))

    @schemas.filter_delete
    def delete(self, request: Request, filter_id: str) -> Response:
        """Delete the filter; idempotent."""
        with suppress(NotFound):
            delete_filter(saved_filter(self.project, filter_id))
        return Response(status=204)
