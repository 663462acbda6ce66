"""The short form of `make soak`: on SQLite, or on PostgreSQL and Redis where their addresses are set."""

import os

import pytest

from tests.soak.run import soak
from tests.soak.sites import SITES

SECONDS, SESSIONS = 60, 12


@pytest.mark.soak
def test_nothing_is_lost_while_things_go_wrong() -> None:
    on_services = "DATABASE_URL" in os.environ
    name = next(name for name in SITES if name.startswith("PostgreSQL") == on_services)
    outcome = soak(SITES[name], SECONDS, SESSIONS)
    assert not outcome.broken, "\n".join(outcome.broken)
    # The run has tried something.
    assert any(outcome.noted.messages.values())
    assert outcome.faults
