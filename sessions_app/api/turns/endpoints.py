"""Turns: the registry, one turn's structure, one node's payload, and stopping a running turn."""

import re

from django.http import HttpResponse, HttpResponseBase
from django.utils.decorators import method_decorator
from django.views.decorators.http import conditional_page
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.trace.record import execution_trace
from mrpvm.trace.verdict import verdict_of
from sessions_app.actions.turns.running import request_cancel
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import DetailQuery, RegistryQuery
from sessions_app.api.shell.views import ApiView
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.turns import registry as turns
from sessions_app.queries.turns.entries import details_of, entry, inline_detail
from sessions_app.queries.turns.registry import Detail
from sessions_app.queries.turns.verdicts import mounted_bases, recorded, verdict

REVALIDATED = "private, no-cache"
"""What may be kept by its reader, who asks before each use whether it has changed."""


class Explainability(ApiView):
    """The session's registry: every turn, failed ones included."""

    cursor_parameter = "before"

    @schemas.registry
    def get(self, request: Request, session_id: str) -> Response:
        """List entries with their traces, oldest first; `before` pages towards the beginning."""
        query = self.parameters(RegistryQuery)
        owner = sessions.session(self.project, session_id)
        listed, has_more = turns.registry_page(owner, query["limit"], query.get("before"))
        events = turns.all_events(listed)
        bases = mounted_bases(listed)
        details = details_of(listed) if query.get("details") == "full" else {}
        turn_count = turns.turns(owner).count()
        return self.linked(
            {
                "session_id": owner.session_id,
                "turn_count": turn_count,
                "turns": [
                    entry(
                        turn,
                        execution_trace(events[turn.pk], details.get(turn.pk)),
                        verdict_of(recorded(turn, events[turn.pk], bases[turn.pk])),
                    )
                    for turn in listed
                ],
                "has_more": has_more,
            },
            next=str(listed[0].turn_index) if has_more else None,
            total=turn_count,
        )


@method_decorator(conditional_page, name="dispatch")
class OneTurn(ApiView):
    """One turn; a client that has it already is answered 304."""

    cache_control = REVALIDATED

    @schemas.turn_read
    def get(self, request: Request, session_id: str, request_id: str) -> Response:
        """Read the entry with the structure of its graph, also while the turn runs."""
        turn = turns.turn_or_trial(self.project, session_id, request_id)
        events = turns.events(turn)
        return Response(entry(turn, execution_trace(events), verdict(turn, events)))


@method_decorator(conditional_page, name="dispatch")
class TurnDetail(ApiView):
    """What one node of the graph got and gave."""

    cache_control = REVALIDATED

    @schemas.detail_read
    def get(self, request: Request, session_id: str, request_id: str, ref: str) -> HttpResponseBase:
        """Read the payload as far as it goes inline, or download the whole."""
        query = self.parameters(DetailQuery)
        detail = turns.detail(turns.turn_or_trial(self.project, session_id, request_id), ref)
        return _file(detail) if query["download"] else Response(inline_detail(detail))


def _file(detail: Detail) -> HttpResponse:
    """Return the whole stored payload; one that storage had to cut is no JSON any more and says by how much."""
    name = re.sub(r"[^A-Za-z0-9._~-]", "_", detail.ref) + (".txt" if detail.cut_bytes else ".json")
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Cut-Bytes": str(detail.cut_bytes)}
    return HttpResponse(detail.text, content_type="application/octet-stream", headers=headers)


class CancelTurn(ApiView):
    @schemas.turn_cancel
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Ask the running turn to end; it ends as cancelled and leaves what a failed turn leaves."""
        turn = turns.turn(self.project, session_id, request_id)
        request_cancel(turn)
        return Response({"request_id": turn.request_id, "session_id": session_id, "status": "cancelling"}, status=202)
