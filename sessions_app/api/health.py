"""Probes: whether the process lives, and whether it can work [API-9, O-25, D-66]."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.api import schemas
from sessions_app.api.authentication import Access
from sessions_app.api.views import ApiView
from sessions_app.turns.readiness import checks


class Health(ApiView):
    """Whether the process answers."""

    authentication_classes = ()
    permission_classes = ()

    @schemas.health
    def get(self, request: Request) -> Response:
        """Say so, without touching anything else."""
        return Response({"status": "ok"})


class Ready(ApiView):
    """Whether turns can be answered."""

    permission_classes = ()

    @schemas.ready
    def get(self, request: Request) -> Response:
        """Try everything that a turn needs; callers with access are told what failed, others only whether."""
        results = checks()
        is_ready = all(results.values())
        answer: dict[str, object] = {"ready": is_ready}
        if isinstance(request.auth, Access):
            answer["checks"] = results
        return Response(answer, status=200 if is_ready else 503)


health = Health.as_view()
ready = Ready.as_view()
