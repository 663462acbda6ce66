"""The short form of `make soak`: three minutes of work on both kinds of site together."""

import pytest

from tests.soak.run import soak
from tests.soak.sites import SITES

SECONDS, SESSIONS = 90, 12


@pytest.mark.soak
@pytest.mark.parametrize("kind", SITES)
def test_nothing_is_lost_while_things_go_wrong(kind: str) -> None:
    outcome = soak(SITES[kind], SECONDS, SESSIONS)
    assert not outcome.broken, "\n".join(outcome.broken)
    # The run has tried something.
    assert any(outcome.noted.messages.values())
    assert outcome.faults["process killed"]
