"""The server's claim on its database: who may serve it beside this process."""

import logging
import threading
from contextlib import ExitStack, suppress
from typing import Self

from django.db import DatabaseError, connection

from sessions_app.database import give_up_dead_connections
from sessions_app.exclusive import Hold, alone_at, among_others_at, is_only_one_at, who_is_at
from sessions_app.management.server import CannotStart, named_database, unusable_database

LOOK_SECONDS = 1.0
_SERVING = "server"

logger = logging.getLogger(__name__)


class DatabaseIsServed(CannotStart):
    """A running server holds the database."""


class DatabaseClaim:
    """Holds the database until it is closed or the process ends.

    PostgreSQL forgets a claim when it restarts or the connection is cut: a thread sees that within `LOOK_SECONDS` and
    takes it again. While another process has it, this one serves on, is not ready, and tries again.

    Args:
        shared: held with others that hold it like this; else for this process alone, which closes turns that it finds
            running, and sees no live events of other processes.

    Raises:
        DatabaseIsServed: another process holds it in another way.
        CannotStart: it cannot be found out which process holds it.
        DatabaseError: PostgreSQL cannot be asked.
    """

    def __init__(self, *, shared: bool) -> None:
        self._is_shared = shared
        self._hold_database = among_others_at if shared else alone_at
        self._stack = ExitStack()
        self._stop_asked = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="database-claim", daemon=True)
        try:
            self._hold = self._take()
            if self._hold is None:
                self._let_go()
                raise DatabaseIsServed(f"{named_database()}: {who_is_at(_SERVING)} serves it already")
        except OSError as error:
            raise CannotStart(unusable_database(error)) from None
        if connection.vendor == "postgresql":  # nothing takes a locked file from its process
            self._keeper.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @property
    def holds(self) -> bool:
        """Return whether the database is held now."""
        hold = self._hold
        return hold is not None and hold.lasts()

    def is_alone(self) -> bool:
        """Return whether no other process holds the database, so that turns which run there were left over."""
        return not self._is_shared or is_only_one_at(_SERVING)

    def close(self) -> None:
        """Release the claim on the database."""
        self._stop_asked.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._let_go()

    def _take(self) -> Hold | None:
        hold = self._stack.enter_context(self._hold_database(_SERVING))
        if hold is not None and self._is_shared:
            hold.tell_others()
        return hold

    def _let_go(self) -> None:
        self._hold = None
        with suppress(DatabaseError):  # the connection may be dead
            self._stack.close()

    def _keep(self) -> None:
        is_refused = False
        while not self._stop_asked.wait(LOOK_SECONDS):
            if self.holds:
                continue
            self._let_go()
            give_up_dead_connections()
            with suppress(DatabaseError):  # it is away, and tried again soon
                self._hold = self._take()
                if self._hold is not None:
                    logger.warning("the database had let go of this server, which holds it again")
                elif not is_refused:
                    logger.error(
                        "the database had let go of this server, and %s serves it now; this one is not ready until"
                        " that one ends",
                        who_is_at(_SERVING),
                    )
                is_refused = self._hold is None
