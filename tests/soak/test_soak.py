"""The short form of `make soak`: a minute on SQLite."""

import pytest

from tests.soak.run import soak
from tests.soak.sites import sqlite_site

SECONDS, SESSIONS = 60, 12


@pytest.mark.soak
def test_nothing_is_lost_while_things_go_wrong() -> None:
    outcome = soak(sqlite_site, SECONDS, SESSIONS)
    assert not outcome.broken, "\n".join(outcome.broken)
    # The run has tried something.
    assert any(outcome.noted.messages.values())
    assert outcome.faults
