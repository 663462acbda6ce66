"""What each role may do: viewers read, editors write, admins manage; keys with the role chat talk."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from sessions_app.api.shell.authentication import Access
from sessions_app.models import Role
from sessions_app.queries.settings.projects import is_at_least


class RolePermission(BasePermission):
    """Lets a caller in whose role is at least the view's: its `read_role` to read, its `write_role` to write.

    A key with the role chat gets into views with `takes_chat_keys` alone.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request may continue; False gives 401 to anonymous callers, 403 to others."""
        access = request.auth
        if not isinstance(access, Access):
            return False
        if access.role == Role.CHAT and getattr(view, "takes_chat_keys", False):
            return True
        needed = self.needed_role(request, view)
        self.message = f"Your role here is {access.role}; this needs the role {needed}."
        return is_at_least(access.role, needed)

    def needed_role(self, request: Request, view: APIView) -> str:
        """Return the least role that may do this."""
        name, usual = ("read_role", "viewer") if request.method in SAFE_METHODS else ("write_role", "editor")
        return str(getattr(view, name, usual))
