"""The floor's one view."""

import json
from functools import cache

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from bench.floor.rows import RecordedConversation


@cache
def recorded() -> RecordedConversation:
    """Return the newest conversation of the database, read once."""
    return RecordedConversation.newest()


@csrf_exempt
@login_not_required
def turn(request: HttpRequest) -> JsonResponse:
    """Write the rows of the conversation's next turn, and ignore the message."""
    json.loads(request.body)
    written = recorded().write_next_turn()
    return JsonResponse({"request_id": written.request_id, "response_document": written.response_document})


urlpatterns = [path("turn", turn)]
