"""Probes: whether the process lives, and whether it can work."""

import time
from threading import Lock

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import StorageUnavailable
from mrpvm.text_cache import ALL_CACHES
from sessions_app.api.shell import schemas
from sessions_app.api.shell.authentication import Access
from sessions_app.api.shell.views import ApiView
from sessions_app.background.readiness import checks
from sessions_app.database import outages_told

KEPT_SECONDS = 1.0
"""Anybody may ask, and each check writes a row and asks Redis: requests within this time get the same answer."""


class _LatestResults:
    """The latest results of the checks; only one thread at a time runs these."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._results: dict[str, bool] = {}
        self._until = 0.0

    def __call__(self) -> dict[str, bool]:
        with self._lock:
            if time.monotonic() >= self._until:
                self._results = checks()
                self._until = time.monotonic() + KEPT_SECONDS
            return self._results


_latest = _LatestResults()


class Health(ApiView):
    """Whether the process answers."""

    authentication_classes = ()
    permission_classes = ()

    @schemas.health
    def get(self, request: Request) -> Response:
        """Return that the process runs, without reading anything."""
        return Response({"status": "ok"})


class Ready(ApiView):
    """Whether turns can be answered."""

    permission_classes = ()

    def perform_authentication(self, request: Request) -> None:
        """Do nothing: `get` authenticates, as callers cannot be looked up while the database is away."""

    @schemas.ready
    def get(self, request: Request) -> Response:
        """Try everything that a turn needs; callers with access are told what failed, others only whether."""
        results = _latest()
        is_ready = all(results.values())
        answer: dict[str, object] = {"ready": is_ready}
        if _has_access(request):
            answer["checks"] = results
            answer["text_caches"] = {"bytes": ALL_CACHES.held_bytes, "max_bytes": ALL_CACHES.max_bytes}
        return Response(answer, status=200 if is_ready else 503)


def _has_access(request: Request) -> bool:
    try:
        with outages_told():
            return isinstance(request.auth, Access)
    except StorageUnavailable:
        return False


health = Health.as_view()
ready = Ready.as_view()
