"""What a follow-up takes along from its conversation for a search by meaning [O-36]."""

from dataclasses import replace

from mrpvm.conversation.flags import Flags
from mrpvm.values import HistoryMessage, Recall
from sessions_app.models import ExplainabilityTurn
from sessions_app.turns.call import TurnCall
from sessions_app.turns.recall import recall_of

SAID = (
    HistoryMessage(role="system", content="Be brief."),
    HistoryMessage(role="user", content="Who built the Eiffel Tower?"),
    HistoryMessage(role="assistant", content="Gustave Eiffel built the Eiffel Tower."),
    HistoryMessage(role="user", content="Where does the Eiffel Tower stand?"),
    HistoryMessage(role="assistant", content="The Eiffel Tower stands in Paris."),
)
FLAGS = replace(Flags(), enable_session_memory=False)


def recalled(message: str, flags: Flags = FLAGS, said: tuple[HistoryMessage, ...] = SAID) -> Recall | None:
    return recall_of(ExplainabilityTurn(), TurnCall(message=message), flags, said)


def test_a_follow_up_takes_the_last_answer_the_first_message_and_what_it_means() -> None:
    found = recalled("How tall is it?")
    assert found is not None
    assert found.texts[:2] == ((0.3, "The Eiffel Tower stands in Paris."), (0.1, "Who built the Eiffel Tower?"))
    weight, meant = found.texts[2]
    assert weight == 0.5
    assert "eiffel" in meant.lower()


def test_without_rewriting_or_history_there_is_nothing() -> None:
    assert recalled("How tall is it?", replace(FLAGS, enable_query_rewriting=False)) is None
    assert recalled("How tall is it?", said=()) is None
