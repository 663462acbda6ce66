"""Preparing a turn from a conversation's state, without a database, a clock or a model other than the given one."""

from copy import replace
from typing import Any

import pytest

from mrpvm.conversation.asking import Spent, UnaskedModel
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.preparation import (
    ConversationState,
    PreparedTurn,
    TurnInput,
    prepare_turn,
)
from mrpvm.conversation.summary import PlacedMessage
from mrpvm.errors import ModelTimeout, TurnCancelled
from mrpvm.values import HistoryMessage, Recall, SessionState

SAID = (
    HistoryMessage(role="system", content="Be brief."),
    HistoryMessage(role="user", content="Who built the Eiffel Tower?"),
    HistoryMessage(role="assistant", content="Gustave Eiffel built the Eiffel Tower."),
    HistoryMessage(role="user", content="Where does the Eiffel Tower stand?"),
    HistoryMessage(role="assistant", content="The Eiffel Tower stands in Paris."),
)
FLAGS = Flags(enable_session_memory=False)


class ScriptedModel:
    """A model with scripted answers, which records its requests."""

    available = True

    def __init__(self, reply: str | Exception, *, ended: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._reply, self._ended = reply, ended

    def ask(self, plugin_id: str, role: str, system: str, text: str, *, timeout_ms: int) -> str:
        self.asked.append(plugin_id)
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply

    def spent(self) -> Spent:
        if self._ended is not None:
            raise self._ended
        return Spent(7, 1, ({"body": "sent"},))


def state_of(turn: TurnInput, message_count: int = 0) -> ConversationState:
    """Return a conversation with this number of stored messages, and a turn with the message."""
    roles = ("assistant", "user")
    messages = tuple(
        PlacedMessage(sequence=place, role=roles[place % 2], content=f"Thing {place} costs ${place}00.")
        for place in range(message_count, 0, -1)
    )
    session = SessionState(
        session_id="s", mounted_kb_id="kb", mounted_kb_name="KB", message_count=message_count,
        session_context_unit_count=0, deliberation_level=0,
    )  # fmt: skip
    return ConversationState(asked=turn, session=session, messages=messages, last_place=message_count)


def asked(message: str, flags: Flags = FLAGS, **more: Any) -> TurnInput:
    return TurnInput(request_id="r", message=message, flags=flags, **more)


def recalled(message: str, flags: Flags = FLAGS, said: tuple[HistoryMessage, ...] = SAID) -> Recall | None:
    return prepare_turn(state_of(asked(message, flags, history=said)), UnaskedModel()).request.recall


def section(prepared: PreparedTurn, name: str) -> dict[str, Any]:
    return next(item for item in prepared.report.as_record()["sections"] if item["name"] == name)


def test_a_follow_up_takes_along_what_was_said() -> None:
    found = recalled("How tall is it?")
    assert found is not None
    assert found.texts[:2] == ((0.3, "The Eiffel Tower stands in Paris."), (0.1, "Who built the Eiffel Tower?"))
    weight, meant = found.texts[2]
    assert weight == 0.5
    assert "eiffel" in meant.lower()


def test_nothing_is_recalled_without_rewriting_or_history() -> None:
    assert recalled("How tall is it?", replace(FLAGS, enable_query_rewriting=False)) is None
    assert recalled("How tall is it?", said=()) is None


def test_equal_states_are_prepared_equally_and_stay_unchanged() -> None:
    state = state_of(asked("And then?"), 20)
    before = repr(state)
    assert prepare_turn(state, UnaskedModel()) == prepare_turn(state, UnaskedModel())
    assert repr(state) == before


def test_the_summary_grows_only_when_messages_wait_for_it() -> None:
    assert prepare_turn(state_of(asked("And?"), 2), UnaskedModel()).new_summary is None
    prepared = prepare_turn(state_of(asked("And?"), 40), UnaskedModel())
    assert prepared.new_summary is not None
    assert prepared.new_summary.through < 40
    assert section(prepared, "summary")["text"] == prepared.new_summary.text
    assert section(prepared, "conversation")["places"][0] == prepared.new_summary.through + 1


def test_summaries_are_off_when_the_policy_is() -> None:
    question = asked("And?", replace(FLAGS, enable_history_summarization=False))
    prepared = prepare_turn(state_of(question, 40), UnaskedModel())
    assert prepared.new_summary is None
    assert all(item.name != "summary" for item in prepared.report.sections)


def test_a_model_that_fails_leaves_the_summary_to_the_rules() -> None:
    model = ScriptedModel(ModelTimeout("late"))
    prepared = prepare_turn(state_of(asked("And what about it?"), 40), model)
    assert prepared.report.warnings == ("summary_failed",)
    assert prepared.new_summary is not None
    assert prepared.new_summary.origin == "rules"
    assert model.asked == ["conversation-summary", "conversation-rewriting"]


def test_what_the_model_took_counts_against_the_turn() -> None:
    prepared = prepare_turn(state_of(asked("And what about it?"), 40), ScriptedModel("Things cost money."))
    assert (prepared.request.spent_ms, prepared.request.spent_llm_calls) == (7, 1)
    assert prepared.report.requests == ({"body": "sent"},)
    assert prepared.new_summary is not None
    assert prepared.new_summary.origin == "model"


def test_a_turn_that_was_stopped_is_not_prepared() -> None:
    stopped = TurnCancelled("stopped")
    with pytest.raises(TurnCancelled):
        prepare_turn(state_of(asked("And?"), 40), ScriptedModel(stopped, ended=stopped))


def test_a_requests_own_history_replaces_the_stored_one() -> None:
    prepared = prepare_turn(state_of(asked("Why?", history=SAID), 20), UnaskedModel())
    assert prepared.new_summary is None
    assert prepared.report.conversation_source == "request"
    assert prepared.request.history == SAID
