"""The window: both limits, the note that names the one that applied, and the text of the context."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.conversation.context import Context, build_context
from mrpvm.conversation.summary import Summary
from mrpvm.conversation.system_prompt import Instruction
from mrpvm.conversation.window import Window, counted_chars, cut_window, without_current
from mrpvm.values import HistoryMessage

ROLES = ("user", "assistant")


def talk(count: int, text: str = "message {}") -> list[HistoryMessage]:
    """Return this number of messages with alternating roles, oldest first."""
    return [HistoryMessage(role=ROLES[place % 2], content=text.format(place)) for place in range(count)]


def cut(messages: list[HistoryMessage], max_messages: int = 20, max_chars: int = 12_000) -> Window:
    """Return a window with HAL's limits."""
    return cut_window(reversed(messages), len(messages), max_messages, max_chars)


def context_of(window: Window, message: str = "X") -> Context:
    """Return the context of a message with this window."""
    return build_context(message=message, instructions=(), window=window, summary=Summary(), source="stored")


@pytest.mark.rule("CONTEXT-22", "WINDOW-1")
def test_hv1_a_first_message_has_no_conversation() -> None:
    context = context_of(cut([]))
    assert context.history == ()
    assert [section.name for section in context.report.sections] == ["message"]


@pytest.mark.rule("CONTEXT-5", "CONTEXT-20", "CONTEXT-22", "CONTEXT-75", "WINDOW-3")
def test_the_current_message_is_never_in_the_history() -> None:
    said = (*talk(2), HistoryMessage(role="user", content=" X\n"))
    assert without_current(said, "X") == tuple(talk(2))
    assert without_current(tuple(talk(2)), "X") == tuple(talk(2))
    context = context_of(cut(list(without_current(said, "X"))))
    assert context.history == tuple(talk(2))
    assert [section.name for section in context.report.sections] == ["conversation", "message"]
    assert context.report.sections[0].text == "**user**: message 0\n\n**assistant**: message 1"


def test_a_repeated_message_is_not_the_current_one() -> None:
    said = (HistoryMessage(role="user", content="X"), HistoryMessage(role="assistant", content="Y"))
    assert without_current(said, "X") == said


@pytest.mark.rule("WINDOW-4")
def test_hv4_twenty_messages_have_no_note() -> None:
    window = cut(talk(20))
    assert (len(window.messages), window.note, window.omitted_count) == (20, "", 0)


@pytest.mark.rule("CONTEXT-4", "WINDOW-6")
def test_hv6_of_45_the_last_20_are_kept_in_order_with_one_note() -> None:
    window = cut(talk(45))
    assert [item.content for item in window.messages] == [f"message {place}" for place in range(25, 45)]
    assert window.note == "(older messages omitted; showing last 20 messages)"
    assert (window.rule, window.omitted_count) == ("messages", 25)
    assert [item.content for item in context_of(window).history].count(window.note) == 1


@pytest.mark.rule("WINDOW-7")
def test_hv7_nothing_said_gives_nothing() -> None:
    assert cut([], max_messages=1_000) == Window()


@pytest.mark.rule("WINDOW-9")
def test_hv9_a_message_that_costs_the_whole_budget_stands_alone() -> None:
    messages = [HistoryMessage(role="user", content="a"), HistoryMessage(role="assistant", content="b" * 11_979)]
    window = cut(messages)
    assert window.messages == (messages[1],)
    assert counted_chars(messages[1]) == 12_000
    assert (window.omitted_count, window.rule) == (1, "characters")
    assert window.note == "(older messages omitted; showing recent conversation within 12,000 characters)"


@pytest.mark.rule("DECISION-17", "SESSION-29", "CONTEXT-10", "WINDOW-10")
def test_hv10_the_newest_message_is_kept_over_any_cap() -> None:
    window = cut([HistoryMessage(role="user", content="a" * 20_000)])
    assert (len(window.messages), window.omitted_count, window.note) == (1, 0, "")


@pytest.mark.rule("WINDOW-12")
def test_hv12_the_budget_counts_roles_and_overhead() -> None:
    messages = [
        HistoryMessage(role=role, content=text)
        for role, text in (("user", "First"), ("assistant", "Second"), ("user", "Third"))
    ]
    assert len(cut(messages, max_chars=69).messages) == 3
    assert len(cut(messages, max_chars=68).messages) == 2


@pytest.mark.rule("WINDOW-13")
def test_hv13_of_a_thousand_short_messages_585_fit() -> None:
    window = cut(talk(1_000, "ab"), max_messages=10_000)
    assert (len(window.messages), window.omitted_count) == (585, 415)


@pytest.mark.rule("SESSION-29", "CONTEXT-10", "CONTEXT-13")
@given(st.lists(st.text(max_size=40), max_size=30), st.integers(1, 25), st.integers(1, 600))
def test_a_window_is_a_tail_within_both_caps(texts: list[str], most: int, chars: int) -> None:
    """Only a window of the newest message alone may exceed the budget."""
    messages = [HistoryMessage(role=ROLES[place % 2], content=text) for place, text in enumerate(texts)]
    window = cut(messages, most, chars)
    kept = window.messages
    assert list(kept) == messages[len(messages) - len(kept) :]
    assert len(kept) + window.omitted_count == len(messages)
    assert len(kept) <= most
    assert len(kept) <= 1 or sum(map(counted_chars, kept)) <= chars
    assert bool(window.note) == bool(window.rule) == bool(window.omitted_count)


@pytest.mark.rule("FOLLOWUP-42")
def test_kv42_a_summary_stands_first_in_the_role_system() -> None:
    summary = Summary(through=4, sentences=((1, "The closing is on 3 May."),))
    context = build_context(message="X", instructions=(), window=cut(talk(8)), summary=summary, source="stored")
    assert context.history[0].role == "system"
    assert context.history[0].content == "Session summary: The closing is on 3 May.\n(4 older messages summarised)"
    assert context.history[1:] == tuple(talk(8))


INSTRUCTIONS = (
    Instruction(name="persona", source="persona lily", text="Be brief."),
    Instruction(name="remembered", source="this session", text="- The key.", kept_count=1, omitted_count=4),
)


@pytest.mark.rule("CONTEXT-24")
def test_the_report_names_every_section_with_its_source_and_size() -> None:
    window = cut(talk(45))
    context = build_context(message="X", instructions=INSTRUCTIONS, window=window, summary=Summary(), source="request")
    report = context.report.as_record()
    assert [section["name"] for section in report["sections"]] == [
        "persona", "remembered", "conversation", "message",
    ]  # fmt: skip
    assert [report["sections"][1][name] for name in ("source", "kept_count", "omitted_count", "rule")] == [
        "this session", 1, 4, "fitting",
    ]  # fmt: skip
    conversation = report["sections"][2]
    assert (conversation["rule"], conversation["omitted_count"], conversation["kept_count"]) == ("messages", 25, 20)
    assert conversation["note"] == window.note
    assert conversation["chars"] == len(conversation["text"])
    assert conversation["tokens"] == -(-conversation["chars"] // 4)
    assert report["chars"] == sum(section["chars"] for section in report["sections"])
    assert report["conversationSource"] == "request"
    first = build_context(message="X", instructions=(), window=cut([]), summary=Summary(), source="stored")
    assert first.report.conversation_source == "none"


def test_omitted_messages_are_noted_beside_the_summary() -> None:
    """Messages after the summary that exceed a limit are neither in the summary nor in the window."""
    said = [HistoryMessage(role="user", content="x" * 90)] * 4
    window = cut_window(said, 4, 20, 250)
    summary = Summary(through=4, sentences=((1, "The closing is on 3 May."),))
    context = build_context(message="And?", instructions=(), window=window, summary=summary, source="stored")
    note = "(4 older messages summarised)\n(older messages omitted; showing recent conversation within 250 characters)"
    assert context.history[0].content.endswith(note)
    conversation = next(item for item in context.report.sections if item.name == "conversation")
    assert (conversation.note, conversation.omitted_count) == (note, 2)
