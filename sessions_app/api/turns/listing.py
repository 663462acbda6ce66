"""The turns of all sessions of the project, a page at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import InvalidInput
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import SEVERAL_TURNS_MAX, TurnExportQuery, TurnListQuery
from sessions_app.api.shell.views import ApiView
from sessions_app.interchange.turn_files import turn_record, turns_response
from sessions_app.models import ExplainabilityTurn, Project
from sessions_app.queries.search.filter_language import Filter, parse
from sessions_app.queries.turns.lists import newest_turns, turn_page, turns_named


class Turns(ApiView):
    @schemas.turn_list
    def get(self, request: Request) -> Response:
        """List turns, the newest first."""
        query = self.parameters(TurnListQuery)
        wanted = filter_given(query.get("q", ""))
        listed = turn_page(self.project, wanted, _place(query.get("cursor")), query["limit"])
        next_cursor = str(listed.next_before) if listed.next_before else None
        return self.linked(
            {"turns": [turn_record(turn) for turn in listed.turns], "next_cursor": next_cursor}, next=next_cursor
        )


class TurnExport(ApiView):
    """The project's turns as a file."""

    @schemas.turns_export
    def get(self, request: Request) -> StreamingHttpResponse:
        """Send the turns that fit, the newest first."""
        query = self.parameters(TurnExportQuery)
        return turns_response(self.project, filter_given(query.get("q", "")), query["format"])


def turns_meant(project: Project, body: Mapping[str, Any]) -> Sequence[ExplainabilityTurn]:
    """Return the turns that a body of `SeveralTurns` means, the newest first.

    Raises:
        InvalidInput: it names no turns, or says two ways which; a part of the filter is not understood.
        NotFound: TURN_NOT_FOUND.
    """
    request_ids, text = body.get("request_ids"), body.get("q")
    if (request_ids is None) == (text is None):
        raise InvalidInput("Name turns by request_ids, or say with q which are found.")
    if request_ids is not None:
        return turns_named(project, request_ids)
    return newest_turns(project, filter_given(text or ""), SEVERAL_TURNS_MAX).turns


def filter_given(text: str) -> Filter:
    """Return what a client asks for in the filter language.

    Raises:
        InvalidInput: a part of it is not understood.
    """
    wanted = parse(text)
    if wanted.problems:
        raise InvalidInput(" ".join(f"q: “{problem.text}”: {problem.reason}" for problem in wanted.problems))
    return wanted


def _place(cursor: str | None) -> int | None:
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdecimal() and 0 < int(cursor) < 2**63):
        raise InvalidInput("The cursor is not one that this list gave.")
    return int(cursor)
