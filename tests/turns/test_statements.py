"""The number of SQL statements of a turn; each is a round trip."""

import re
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn

BOUNDS = {"sqlite": {"question": 14, "fact": 23}, "postgresql": {"question": 9, "fact": 14}}
"""The most statements of a turn, without those that begin and end a transaction."""
TOLD = ("Katja Ito lives in Utrecht.", "The fast pump costs 221 euros.", "Hugo Brandt works at Ironwood.")
COUNTED = {
    "fact": ("Grace Ito works at Juniper.", "My spare bicycle is called Pixel."),
    "question": ("Where does Katja Ito live?", "How much does the fast pump cost?"),
}


def test_a_plain_turn_keeps_to_its_number_of_statements(session: Session, settings: Any) -> None:
    settings.MRPVM_LEARN = False  # statistics of plugins are written and read once for several turns
    settings.MRPVM_LEARN_DELAY_MS = settings.MRPVM_TRACE_FLUSH_MS = 600_000
    for message in TOLD:
        run_turn(session, TurnCall(message=message))
    for kind, messages in COUNTED.items():
        for message in messages:
            with CaptureQueriesContext(connection) as queries:
                result = run_turn(session, TurnCall(message=message))
            assert result.outcome.answer_text
            sent = [
                query["sql"] for query in queries if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", query["sql"])
            ]
            assert 0 < len(sent) <= BOUNDS[connection.vendor][kind], "\n".join(statement[:200] for statement in sent)
