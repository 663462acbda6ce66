"""The short form of `make soak`: 90 seconds of work on each kind of site."""

import pytest

from tests.soak.__main__ import table
from tests.soak.run import soak
from tests.soak.sites import SITES

SECONDS, SESSIONS = 90, 8


@pytest.mark.soak
@pytest.mark.parametrize("kind", SITES)
def test_nothing_is_lost_while_things_go_wrong(kind: str) -> None:
    outcome = soak(SITES[kind], SECONDS, SESSIONS)
    print(table({kind: outcome}))
    assert not outcome.broken, "\n".join(outcome.broken)
    # The run did some work.
    assert any(outcome.noted.messages.values())
    assert outcome.faults["process killed"]
