"""The users of single sign-on."""

from typing import Any

from django.contrib.auth.backends import RemoteUserBackend
from django.http import HttpRequest


class ProxyUserBackend(RemoteUserBackend):
    """Makes a user without a password for a new name."""

    def configure_user(self, request: HttpRequest | None, user: Any, created: bool = True) -> Any:
        """Return the user; an empty password would count as one."""
        if created:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        return user
