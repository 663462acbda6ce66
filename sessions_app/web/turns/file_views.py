"""A turn as downloadable files."""

import json

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from sessions_app.actions.settings.audit import record_export
from sessions_app.queries.turns import registry as turns
from sessions_app.web.shell.access import Member, member_view
from sessions_app.web.turns.export import turn_document
from sessions_app.web.turns.graph import render_shown, show_structure
from sessions_app.web.turns.graph.standalone import standalone
from sessions_app.web.turns.structure import structure_of


@require_safe
@member_view()
def export(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the turn as one JSON document."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    name = f'attachment; filename="turn-{turn.turn_index}.json"'
    record_export(turn.session, "turn", turn=request_id)
    text = json.dumps(turn_document(turn), ensure_ascii=False, indent=2, cls=DjangoJSONEncoder)
    content = text.encode("utf-8", "backslashreplace")  # half a surrogate pair, as JSON writes it
    return HttpResponse(content, content_type="application/json", headers={"Content-Disposition": name})


@require_safe
@member_view()
def picture(request: HttpRequest, member: Member, session_id: str, request_id: str) -> HttpResponse:
    """Return the graph as an SVG file; the address names the collapsed frames."""
    turn = turns.turn_or_trial(member.project, session_id, request_id)
    shown = show_structure(structure_of(turn), opened=request.GET.getlist("open"), shut=request.GET.getlist("shut"))
    file = standalone(render_shown(shown, uid="file"))
    name = f'attachment; filename="turn-{turn.turn_index}.svg"'
    return HttpResponse(file, content_type="image/svg+xml; charset=utf-8", headers={"Content-Disposition": name})
