"""The rolling summary: when it is made, of which messages, its length, and the facts that it keeps."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.conversation.facts import details_in
from mrpvm.conversation.flags import Flags
from mrpvm.conversation.summary import (
    BATCH_MESSAGES,
    PlacedMessage,
    Summary,
    due_through,
    extend_by_model,
    extend_by_rules,
    request_for_model,
    summary_of,
    through_within,
)
from mrpvm.conversation.window import NEWEST_MESSAGES, beside_summary, counted_chars
from mrpvm.values import CHARS_PER_TOKEN, HistoryMessage

MAX_CHARS = Flags().summary_max_tokens * CHARS_PER_TOKEN
VERBATIM_MESSAGES = 2 * Flags().verbatim_max_turns
FACTS = (
    "$500,000,000",
    "Deutsche Bank National Trust Company",
    "3 May 2021",
    "12.5%",
    "Anna Karlsson",
    "Form 8-K",
    "2.01",
)
TALK = [
    "The initial principal is $500,000,000.",
    "Noted. Is there anything else that I should know?",
    "Trustee: Deutsche Bank National Trust Company. The closing is on 3 May 2021, says Anna Karlsson.",
    "I see. So the closing is on 3 May 2021.",
    "The rate is 12.5% of what is outstanding, see Section 2.01.",
    "That is a good rate, is it not?",
    "They file Form 8-K every quarter, and nobody ever reads it.",
    "Hello again! What would you like to talk about next?",
]


def said(texts: list[str], first: int = 1) -> list[PlacedMessage]:
    """Return messages with alternating roles."""
    return [
        PlacedMessage(sequence=place, role="user" if place % 2 else "assistant", content=text)
        for place, text in enumerate(texts, start=first)
    ]


@pytest.mark.rule("CONTEXT-73", "POLICY-42")
@pytest.mark.parametrize(
    ("exchanges", "through"), [(1, 0), (4, 0), (5, 4), (6, 4), (7, 8), (8, 8), (9, 12), (500, 992)]
)
def test_k42_it_covers_whole_batches_of_exchanges(exchanges: int, through: int) -> None:
    steps = 0
    for count in range(1, exchanges + 1):
        steps = due_through(2 * count, steps, VERBATIM_MESSAGES)
    assert steps == through == due_through(2 * exchanges, 0, VERBATIM_MESSAGES)


@pytest.mark.rule("POLICY-41")
@given(st.integers(0, 2_000))
def test_what_stays_verbatim_is_never_more_than_eight_messages(count: int) -> None:
    waiting = count - due_through(count, 0, VERBATIM_MESSAGES)
    assert waiting <= VERBATIM_MESSAGES
    assert count <= VERBATIM_MESSAGES or waiting > VERBATIM_MESSAGES - BATCH_MESSAGES


@pytest.mark.rule("FOLLOWUP-36")
def test_kv36_ten_messages_leave_six() -> None:
    assert 10 - due_through(10, 0, VERBATIM_MESSAGES) == 6


@given(st.lists(st.integers(0, 6_000), min_size=1, max_size=8), st.integers(400, 4_000))
def test_what_stays_verbatim_fits_its_tokens(sizes: list[int], max_chars: int) -> None:
    """The other messages are summarised, no message is in neither, and the newest exchange stays."""
    messages = said(["x" * size for size in sizes])
    through = through_within(messages, 0, max_chars)
    kept = [HistoryMessage(role=item.role, content=item.content) for item in messages[through:]]
    assert len(kept) >= min(len(messages), NEWEST_MESSAGES)
    window = beside_summary(kept[::-1], len(kept), VERBATIM_MESSAGES, max_chars)
    assert (len(window.messages), window.omitted_count) == (len(kept), 0)
    assert sum(map(counted_chars, window.messages)) <= max_chars
    for message, shown in zip(kept, window.messages, strict=True):
        marked = shown.content.endswith(f"[... cut: the message has {len(message.content):,} characters]")
        assert marked == (shown != message)
    assert window.cut_count == sum(one != other for one, other in zip(kept, window.messages, strict=True))
    assert ("shown in part" in window.note) == bool(window.cut_count)


def test_an_answer_is_cut_at_2000_characters() -> None:
    said = [HistoryMessage(role=role, content="x" * 2_400) for role in ("assistant", "user", "tool")]
    window = beside_summary(said, 3, 8, 100_000)
    assert [len(item.content) for item in window.messages] == [2_000, 2_400, 2_000]


@pytest.mark.rule("POLICY-45", "FOLLOWUP-40")
def test_kv40_amounts_are_kept_without_a_model() -> None:
    summary = extend_by_rules(Summary(), said(["The initial principal is $500,000,000."]), MAX_CHARS)
    assert "$500,000,000" in summary.text
    assert summary.origin == "rules"


def missing_facts(summary: Summary, texts: Iterable[str]) -> list[str]:
    """Return the numbers, dates and names of these texts that are missing from the summary."""
    told = details_in(" ".join(texts))
    assert told, "the texts have facts to lose"
    return [fact for fact in told if fact not in summary.text]


@pytest.mark.rule("POLICY-44")
def test_every_fact_of_what_was_compressed_is_in_the_summary() -> None:
    """Facts are numbers, dates and names, in the same form."""
    summary = Summary()
    for start in range(0, len(TALK), BATCH_MESSAGES):
        summary = extend_by_rules(summary, said(TALK[start : start + BATCH_MESSAGES], start + 1), MAX_CHARS)
    assert missing_facts(summary, TALK) == []
    assert all(fact in summary.text for fact in FACTS)
    assert summary.through == len(TALK)


def test_a_sentence_says_which_message_it_comes_from() -> None:
    summary = extend_by_rules(Summary(), said(TALK), MAX_CHARS)
    assert all(sentence in TALK[place - 1] for place, sentence in summary.sentences)
    assert [place for place, _ in summary.sentences] == sorted(place for place, _ in summary.sentences)


@pytest.mark.rule("CONTEXT-75", "POLICY-46")
def test_new_facts_are_not_lost_when_the_summary_is_full() -> None:
    """The predecessor kept the old summary whole and cut off the newest facts."""
    summary = Summary()
    for place in range(0, 400, 4):
        summary = extend_by_rules(
            summary,
            said([f"The value of item {place + step} is {1_000 + place + step}." for step in range(4)], place + 1),
            MAX_CHARS,
        )
    assert len(summary.text) <= MAX_CHARS
    assert "1399" in summary.text


@pytest.mark.rule("POLICY-45")
def test_nothing_worth_telling_gives_the_beginnings() -> None:
    summary = extend_by_rules(Summary(), said(["and so on and so it is " * 20, "it is so"]), MAX_CHARS)
    assert summary.text.startswith("and so on")
    assert len(summary.text) <= 400


@pytest.mark.rule("POLICY-44", "FOLLOWUP-37")
def test_kv37_a_long_model_text_is_cut_with_its_facts_kept() -> None:
    reply = "The parties talked about many things. " * 60
    summary = extend_by_model(Summary(), said(TALK[:4]), reply, MAX_CHARS)
    assert len(summary.text) <= MAX_CHARS
    assert (summary.origin, summary.through) == ("model", 4)
    assert missing_facts(summary, TALK[:4]) == []
    assert summary.note


def test_many_facts_take_half_a_summary_and_are_counted() -> None:
    reply = "The parties talked about many things. " * 60
    told = said([f"Item {place} costs ${1_000 + place}.50 now." for place in range(300)])
    summary = extend_by_model(Summary(), told, reply, MAX_CHARS)
    words, _, tail = summary.text.partition(" Also: ")
    assert len(summary.text) <= MAX_CHARS
    assert len(words) > MAX_CHARS // 2 - 20, "it ends with a word"
    kept = tail.removesuffix(".").split(", ")
    assert len(kept) > 10
    assert "$1299.50" in kept
    facts = details_in(" ".join(item.content for item in told))
    assert kept == facts[-len(kept) :], "the newest, and none is cut"
    left_out = len(facts) - len(kept)
    assert summary.note == f"{len(kept)} facts were put behind the model's words, {left_out} more did not fit"


def test_an_empty_model_summary_is_replaced() -> None:
    told = "The principal is $500,000,000; trustee is Deutsche Bank National Trust Company."
    reply = f"{told} Closing on 3 May 2021, says Anna Karlsson. Trustee and Noted."
    assert extend_by_model(Summary(), said(TALK[:4]), reply, MAX_CHARS).text == reply
    assert extend_by_model(Summary(), said(TALK[:4]), " \n", MAX_CHARS) == extend_by_rules(
        Summary(), said(TALK[:4]), MAX_CHARS
    )


@pytest.mark.rule("POLICY-41")
def test_a_model_sees_the_summary_and_300_characters_a_message() -> None:
    first = request_for_model(Summary(), said(["x" * 400]))
    assert "(none yet)" in first
    assert "User: " + "x" * 300 + "\n" in first + "\n"
    assert "x" * 301 not in first
    later = request_for_model(Summary(through=4, sentences=((1, "It was Anna."),)), said(["y"], 5))
    assert "It was Anna." in later


@given(st.lists(st.text(max_size=120), min_size=1, max_size=8))
def test_it_stays_within_its_length_and_survives_storage(texts: list[str]) -> None:
    summary = extend_by_rules(Summary(), said(texts), MAX_CHARS)
    assert len(summary.text) <= MAX_CHARS
    assert summary_of(summary.as_record()) == summary


def test_names_numbers_and_dates_are_facts() -> None:
    found = details_in(
        "What did Anna pay on May 4, 2022? The price was €12.50. Because it rained, Rex slept. But Rex woke."
    )
    assert found == ["Anna", "May 4, 2022", "€12.50", "Rex"]


def test_a_fact_stands_once_without_marks() -> None:
    talk = [
        PlacedMessage(sequence=1, role="user", content="The initial principal of the loan is $500,000,000."),
        PlacedMessage(
            sequence=2, role="assistant", content="Noted: The initial principal of the loan is $500,000,000. [1]"
        ),
        PlacedMessage(sequence=3, role="user", content="So the principal of the loan is $500,000,000."),
        PlacedMessage(sequence=4, role="assistant", content="The loan ends on 3 May 2030 [2]."),
    ]
    text = extend_by_rules(Summary(), talk, MAX_CHARS).text
    assert text.count("$500,000,000") == 1
    assert "3 May 2030" in text
    assert not any(part in text for part in ("Noted", "[1]", "[2]"))
