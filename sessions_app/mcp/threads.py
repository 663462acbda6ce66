"""Where the protocol's work is done: on threads beside the event loop, which keep their database connections."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Protocol

from sessions_app.database import living_connection


class Threads(Hashable, Protocol):
    """Lends a thread to one piece of work, such as `WarmThreads`."""

    async def run[Result](self, work: Callable[[], Result]) -> Result:
        """Return what the work returns."""
        ...


async def with_database[Result](threads: Threads, work: Callable[[], Result]) -> Result:
    """Return what the work returns; a connection that has failed is given up before and after, as around a request."""
    return await threads.run(partial(_alive, work))


def _alive[Result](work: Callable[[], Result]) -> Result:
    with living_connection():
        return work()
