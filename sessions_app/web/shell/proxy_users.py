"""The users of single sign-on."""

from typing import Any

from django.conf import settings
from django.contrib.auth.backends import RemoteUserBackend
from django.http import HttpRequest


class ProxyUserBackend(RemoteUserBackend):
    """Makes a user without a password for a new name; superusers log in otherwise, unless a setting admits them."""

    def user_can_authenticate(self, user: Any) -> bool:
        """Return whether the user is active, and no superuser who is refused."""
        is_admitted = settings.MRPVM_PROXY_SUPERUSERS or not user.is_superuser
        return is_admitted and super().user_can_authenticate(user)

    def configure_user(self, request: HttpRequest | None, user: Any, created: bool = True) -> Any:
        """Return the user; an empty password would count as one."""
        if created:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        return user
