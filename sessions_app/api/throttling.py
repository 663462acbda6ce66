"""How many turns one caller may start in a minute [O-25]."""

import time

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from sessions_app.api.authentication import Access

WINDOW_SECONDS = 60


class ChatThrottle(BaseThrottle):
    """Counts a caller's chats in the running minute, in the cache that all server processes share."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Tell whether the call is within `MRPVM_CHATS_PER_MINUTE`; 0 switches the limit off."""
        limit = settings.MRPVM_CHATS_PER_MINUTE
        if not limit or not isinstance(request.auth, Access):
            return True
        key = f"chats:{request.auth.caller}:{int(time.time()) // WINDOW_SECONDS}"
        cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
        try:
            return cache.incr(key) <= limit
        except ValueError:  # the cache lost the counter between the two calls
            return True

    def wait(self) -> float:
        """Give the seconds until the next minute."""
        return WINDOW_SECONDS - time.time() % WINDOW_SECONDS
