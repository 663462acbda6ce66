"""Recovery of turns whose process went away, or that ended without being able to store it; each is closed once."""

import time

from mrpvm.errors import ErrorRecord
from sessions_app.models import Session
from sessions_app.queries.turns.running import abandoned_turns, running_turns, turns_of_ended_processes
from sessions_app.turns.close import TurnEnd, close_turn, unclosed

INTERRUPTED: ErrorRecord = {
    "code": "TURN_INTERRUPTED",
    "message": "The server process ended while this turn was running; nothing of it was kept.",
    "details": {},
}


RETAKEN_SECONDS = 5.0
"""A living process takes its lock again within a second after PostgreSQL was away or has cut its connection."""


def recover_abandoned(session: Session | None = None) -> int:
    """Close running turns whose lease has run out or that this process could not close; return how many.

    Args:
        session: only its turns. Else all, and those whose process has ended, which may take some seconds to see: a
            request does not wait for that.
    """
    ends = unclosed.ends()
    count = 0
    abandoned = list(abandoned_turns(session, ends.keys()).values_list("pk", "request_id"))
    for turn_pk, request_id in [*abandoned, *(() if session else _of_ended_processes())]:
        end = ends.get(request_id, TurnEnd(INTERRUPTED))
        count += close_turn(turn_pk, end.error, end.command)
        unclosed.forget([request_id])
    if session is None:
        unclosed.forget(ends.keys())
    return count


def _of_ended_processes() -> set[tuple[int, str]]:
    """Return the running turns of processes that held no lock now and some seconds ago."""
    turns = turns_of_ended_processes().values_list("pk", "request_id")
    found = set(turns)
    if found:
        time.sleep(RETAKEN_SECONDS)
        found &= set(turns.all())
    return found


def recover_all_running() -> int:
    """Close every running turn, leased or not: for the start of a server that is alone on its database."""
    return sum(close_turn(turn_pk, INTERRUPTED) for turn_pk in list(running_turns().values_list("pk", flat=True)))
