"""How many turns one caller may start in a minute."""

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from sessions_app.api.shell.authentication import Access
from sessions_app.call_rates import is_allowed, seconds_to_wait


class ChatThrottle(BaseThrottle):
    """Counts a caller's chats in the running minute."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return whether the call is within `MRPVM_CHATS_PER_MINUTE`."""
        if not isinstance(request.auth, Access):
            return True
        return is_allowed(f"chats:{request.auth.caller}", settings.MRPVM_CHATS_PER_MINUTE)

    def wait(self) -> float:
        """Return the seconds until the next minute."""
        return seconds_to_wait()
