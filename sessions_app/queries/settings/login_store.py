"""Django's engine for browsers' logins in the database, which every page asks for one."""

from typing import Any

from django.contrib.sessions.backends import db

from sessions_app.models.named_sql import select_login


class SessionStore(db.SessionStore):
    """Reads a login by a named statement."""

    def load(self) -> dict[str, Any]:
        """Return what a login that has not expired holds; without one the browser gets a new key."""
        data = select_login(self.session_key) if self.session_key else None
        if data is None:
            self._session_key = None
            return {}
        values: dict[str, Any] = self.decode(data)
        return values
