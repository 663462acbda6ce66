"""The view of a turn is stored without default values, and read back completely."""

import pytest

from sessions_app.turns.view import TurnView


@pytest.mark.parametrize(
    "view",
    [
        TurnView(layers=(3, 1)),
        TurnView(layers=(3, 1), evidence_count=2),
        TurnView(layers=(3,), draft_count=1, marks=(7, 0, 9), memory_turn_count=0, spent_ms=4),
        TurnView(layers=(3,), memory={"terms": [], "documents": [["ferry", "ferry.md", 2]], "sections": ["Section 4"]}),
    ],
)
def test_a_stored_view_is_read_back_as_it_was(view: TurnView) -> None:
    assert TurnView.of_record(view.as_record()) == view
