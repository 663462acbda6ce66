"""Query rewriting: the gate, the sentence of the rules and of a model, reasons, and the search terms."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mrpvm.conversation.answers import NO_CONTEXT_TEXT
from mrpvm.conversation.rewriting import (
    FOLLOWS_UP,
    need_of,
    needs_rewrite,
    refers_back,
    rewrite,
    subject_of,
    term_of,
)
from mrpvm.conversation.rewriting.by_model import request_for_model
from mrpvm.conversation.rewriting.said import exchanges_of
from mrpvm.conversation.rewriting.signals import signs
from mrpvm.conversation.rewriting.terms import addable_stems
from mrpvm.english.words.text import collapse
from mrpvm.values import HistoryMessage


def said(*texts: str) -> list[HistoryMessage]:
    """Return a conversation that starts with the user."""
    roles = ("user", "assistant")
    return [HistoryMessage(role=roles[place % 2], content=text) for place, text in enumerate(texts)]


DATE = said("What is the Determination Date?", "It is the 15th day of each month.")


@pytest.mark.rule("POLICY-20", "FOLLOWUP-1")
def test_a_first_turn_is_not_rewritten() -> None:
    asked: list[str] = []
    found = rewrite("What is it?", [], enabled=False, ask=lambda message, history: asked.append(message) or "x" * 9)
    assert (found.rewritten_query, found.was_rewritten) == ("What is it?", False)
    assert (found.skip_reason, found.skip_code) == ("No history (first turn)", "no_history")
    assert not asked
    assert rewrite("What is it?", DATE, enabled=False).skip_reason == "Rewriting disabled"


@pytest.mark.rule("POLICY-25", "POLICY-27", "FOLLOWUP-3", "FOLLOWUP-4")
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("What happens if it falls on a weekend?", "What happens if the Determination Date falls on a weekend?"),
        ("When does this apply?", "When does the Determination Date apply?"),
        ("Is that it?", "Is the Determination Date it?"),
        ("What is its rule?", "What is the Determination Date's rule?"),
        ("Does the same hold?", "Does the same Determination Date hold?"),
    ],
)
def test_rules_replace_references_by_the_subject(message: str, expected: str) -> None:
    found = rewrite(message, DATE)
    assert (found.rewritten_query, found.was_rewritten, found.skip_reason) == (expected, True, None)
    assert found.original_query == message


@pytest.mark.rule("POLICY-26", "POLICY-27", "FOLLOWUP-21")
@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("What is the Fee Schedule?", "What about this?", "What about the Fee Schedule?"),
        ("What is a Servicer Advance?", "Explain the above", "Explain the Servicer Advance"),
        ("Tell me about the Trustee", "What are its duties?", "What are the Trustee's duties?"),
        ('Say "gross margin" again', "Explain it", "Explain gross margin"),
        ("Who works at Acme Labs?", "Where is it?", "Where is Acme Labs?"),
        ("I bought a red car.", "How old is it?", "How old is the red car?"),
        ("I bought a red car. It was cheap.", "What is its colour?", "What is the red car's colour?"),
        ("My mother's bike is green", "How old is it?", "How old is my mother's bike?"),
        ("Please summarise the report", "How long is it?", "How long is the report?"),
        ("It rains.", "How long is it?", "How long is it?"),
    ],
)
def test_a_subject_is_found_without_its_article(question: str, message: str, expected: str) -> None:
    assert rewrite(message, said(question, "Well.")).rewritten_query == expected


def test_a_person_asked_for_is_not_what_it_means() -> None:
    history = said("Jonas runs the pump.", "Well.", "Who is Maria?", "Well.")
    assert rewrite("Who restarted it?", history).rewritten_query == "Who restarted the pump?"


@pytest.mark.rule(
    "DECISION-36", "POLICY-2", "POLICY-21", "POLICY-22", "FOLLOWUP-9", "FOLLOWUP-10", "FOLLOWUP-12", "FOLLOWUP-13"
)
@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("What is the interest rate on the Class A-1 certificates?", False),
        ("Explain the fee structure", False),
        ("IT IS the same", True),
        ("List parties with liability", False),
        ("Is it listed as well in Annex B of the agreement?", True),
        ("Why now?", True),
    ],
)
def test_the_gate_goes_by_whole_words_and_shortness(message: str, wanted: bool) -> None:
    assert needs_rewrite(message) is wanted
    if not wanted:
        found = rewrite(message, DATE, ask=lambda message, history: pytest.fail("no model is asked"))
        assert (found.rewritten_query, found.skip_code) == (message, "no_signals")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("My cat is old. Is it black?", "My cat is old. Is it black?"),
        ("Thanks! When is it?", "Thanks! When is the Determination Date?"),
        ("When is it? And is it public?", "When is the Determination Date? And is it public?"),
    ],
)
def test_what_the_message_names_itself_is_not_taken_from_before(message: str, expected: str) -> None:
    assert rewrite(message, DATE).rewritten_query == expected


def test_a_refusal_names_nothing_that_could_be_meant() -> None:
    history = said("Where is my key?", NO_CONTEXT_TEXT)
    assert not {"kb", "persist", "evid", "session"} & {
        item.term for item in rewrite("And what about it?", history).terms
    }


def test_a_sentence_that_stays_as_it_is_says_why() -> None:
    assert rewrite("So which comes first?", DATE).skip_reason == "Heuristic rewrite produced no change"
    nothing = said("is", "Yes.")
    assert rewrite("Explain it", nothing).skip_reason == "Could not extract subject from history"


@pytest.mark.rule("POLICY-24", "FOLLOWUP-15", "FOLLOWUP-16")
@pytest.mark.parametrize(
    ("reply", "reason", "code"),
    [
        ("", "LLM returned empty rewrite", "empty_rewrite"),
        ("ok", "LLM returned empty rewrite", "empty_rewrite"),
        ("what about it", "Rewrite identical to original", "identical_rewrite"),
    ],
)
def test_a_reply_that_is_no_rewrite_leaves_the_original(reply: str, reason: str, code: str) -> None:
    found = rewrite("What about it?", DATE, ask=lambda message, history: reply)
    assert (found.rewritten_query, found.was_rewritten) == ("What about it?", False)
    assert (found.skip_reason, found.skip_code) == (reason, code)


BOTH = said(
    "What is the Determination Date?", "It is the 15th day of each month.", "What if it is not a business day?",
    "Then the next business day counts.", "And the Closing Date?", "It is May 4.",
)  # fmt: skip


@pytest.mark.rule("FOLLOWUP-6", "FOLLOWUP-7")
@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("What about the Closing Date - same rule?",
         "Does the next business day count for the Closing Date if it is not a business day?"),
        ("So which comes first?", "Does the Determination Date or the Closing Date come first?"),
    ],
)  # fmt: skip
def test_what_a_model_makes_of_a_follow_up_is_searched_for(message: str, reply: str) -> None:
    """The gate passes both, the model gets their context, and its sentence is used."""
    prompts: list[str] = []

    def ask(asked: str, history: Sequence[HistoryMessage]) -> str:
        prompts.append(request_for_model(asked, history))
        return reply

    found = rewrite(message, BOTH, ask=ask)
    assert (found.rewritten_query, found.original_query, found.by) == (reply, message, "model")
    assert all(part in prompts[0] for part in ("Determination Date", "Closing Date", "business day", message))


@pytest.mark.rule("POLICY-24")
def test_a_model_that_fails_leaves_the_original_with_the_error() -> None:
    def fails(message: str, history: Sequence[HistoryMessage]) -> str:
        raise TimeoutError("too slow")

    found = rewrite("What about it?", DATE, ask=fails)
    assert (found.rewritten_query, found.skip_reason, found.skip_code) == (
        "What about it?", "LLM error: too slow", "llm_error",
    )  # fmt: skip
    assert found.terms


def test_a_models_rewriting_is_searched_for() -> None:
    found = rewrite("What about it?", DATE, ask=lambda message, history: "What about the Closing Date?")
    assert (found.rewritten_query, found.by) == ("What about the Closing Date?", "model")
    assert {"close": 1.0, "date": 1.0}.items() <= dict(found.weights).items()


@pytest.mark.rule("POLICY-23", "FOLLOWUP-18")
def test_a_model_gets_the_newest_six_messages_each_cut() -> None:
    history = [HistoryMessage(role="", content=f"<{place}>" + "x" * 600) for place in range(20)]
    lines = request_for_model("And it?", history).splitlines()[1:7]
    assert [line.split(">")[0] for line in lines] == [f"User: <{place}" for place in range(14, 20)]
    assert {len(line) for line in lines} == {len("User: ") + 500}
    assert not request_for_model("And it?", history).splitlines()[7]


@pytest.mark.rule("FOLLOWUP-19")
def test_a_turn_without_a_role_is_the_users() -> None:
    history = [HistoryMessage(role="", content="What is the Determination Date?")]
    assert rewrite("When does this apply?", history).was_rewritten


@pytest.mark.rule("DECISION-36")
def test_terms_are_weighted_by_their_probability_and_by_the_need() -> None:
    found = rewrite("When does this apply?", DATE)
    assert {item.term for item in found.terms[:2]} == {"determin", "date"}
    for item in found.terms:
        assert found.weights[item.term] == round(item.probability * found.need_probability**0.5, 3)


def test_the_marks_of_sources_are_no_words_that_were_said() -> None:
    told = "The shop closes at 20 today."
    [marked] = exchanges_of(said(told, f"Noted: {told} [1] The bakery is closed on Mondays. [12]"))
    [plain] = exchanges_of(said(told, f"{told} The bakery is closed on Mondays."))
    assert marked == plain


def test_a_follow_up_scores_above_a_standalone_question() -> None:
    alone = need_of("What is the interest rate on the Class A-1 certificates of Northern Trust in 2007?", DATE)
    assert need_of("What about it?", DATE) > FOLLOWS_UP > alone


def test_a_message_never_means_what_it_says_already() -> None:
    found = rewrite("Is the Determination Date there as well?", DATE)
    assert not {"determin", "date"} & {item.term for item in found.terms}


@given(st.text(max_size=300), st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", ""]), st.text())))
def test_anything_can_be_rewritten(message: str, lines: list[tuple[str, str]]) -> None:
    """It never raises; the original is kept, and probabilities and weights are in their ranges."""
    found = rewrite(message, [HistoryMessage(role=role, content=text) for role, text in lines])
    assert found.original_query == message
    assert found.was_rewritten or found.rewritten_query == message
    assert 0 <= found.need_probability <= 1
    assert all(0 <= weight <= 1 for weight in found.weights.values())
    assert found.weights.keys() == {item.term for item in found.terms}
    assert found.as_record()["skip_code"] == found.skip_code


@given(st.text(max_size=200))
@example("\U0002f800")  # normalizes to another character
def test_a_subject_is_part_of_its_text(text: str) -> None:
    subject = subject_of(text)
    assert subject is None or subject in collapse(text)


def test_a_word_stays_in_focus_as_far_as_questions_lean_on_it() -> None:
    exchanges = exchanges_of(
        said("What is lung cancer?", "An illness.", "Is it rare?", "No.", "What is rust?", "Iron.")
    )
    found = addable_stems("And how?", exchanges, [0.0, 0.9, 0.2])
    assert found["cancer"].focus_asked == pytest.approx(0.9 * 0.2)
    assert found["rust"].focus_asked == 1
    assert found["ill"].focus_answered == pytest.approx(0.9 * 0.2)
    assert found["iron"].focus_asked == 0


CRANES = "List the harbour cranes that were inspected in May."


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("Who is the Birch chair?", CRANES),
        ("Maria lives in Rome.", "What is the capital of France?"),
        ("Who is the Trustee?", "What is the interest rate on the Class A-1 certificates?"),
    ],
)
def test_a_question_that_stands_alone_gets_no_term(before: str, message: str) -> None:
    found = rewrite(message, said(before, "Well."), ask=lambda message, history: pytest.fail("no model is asked"))
    assert (found.rewritten_query, found.terms, found.weights, found.need_probability) == (message, (), {}, 0)
    assert found.stands_alone


def test_a_question_that_stands_alone_says_so() -> None:
    assert rewrite(CRANES, said("Who is the Birch chair?", "Well.")).skip_code == "stands_alone"


@pytest.mark.parametrize("message", ["What about it?", "When does this apply?", "And the valve?", "The second one"])
def test_a_follow_up_does_not_stand_alone(message: str) -> None:
    assert not rewrite(message, DATE).stands_alone


def test_a_follow_up_asked_again_means_the_same() -> None:
    once = rewrite("When does it end?", DATE)
    again = [*DATE, *said("when does it end", "On May 4, says the Trustee.", "When does it end?", "Well.")]
    assert rewrite("When does it end?", again) == once
    assert once.was_rewritten


@pytest.mark.parametrize("reply", ["Yes", "Yes, please.", "The second one", "The former", "How tall is it?"])
def test_a_reply_or_a_pronoun_is_no_subject(reply: str) -> None:
    assert (subject_of(reply), term_of(reply)) == (None, None)
    history = [*DATE, *said(reply, "Well.")]
    assert rewrite("And when does it end?", history).rewritten_query == "And when does the Determination Date end?"


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is my dog called?", "my dog"),
        ("What colour is my car?", "my car"),
        ("How much did I pay for the bike?", "bike"),
        ("Who appoints a trustee?", "trustee"),
        ("Who holds the Oak chair?", "Oak chair"),
        ("When was the Oak chair founded?", "Oak chair"),
        ("What is the rate on the Class A-1 notes?", "rate on the Class A-1 notes"),
    ],
)
def test_term_leaves_out_what_was_asked_of_the_subject(question: str, term: str) -> None:
    assert term_of(question) == term


def test_only_what_was_asked_makes_a_term_clear() -> None:
    assert term_of("Who is the Trustee?") == "Trustee"
    assert term_of("Maria lives in Rome.") is None


def test_what_is_learned_about_a_message_knows_its_rare_words() -> None:
    common = signs("Who sells it?", [], lambda term: 0.0)
    rare = signs("Who sells it?", [], lambda term: 1.0)
    assert (common["rarest"], rare["rarest"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("message", "refers"),
    [
        ("When did she leave it?", True),
        ("What does that mean?", True),
        ("And the valve?", True),
        ("What about the second one?", True),
        ("List the cranes that were inspected.", False),
        ("Why did Theo sell his desk?", False),
        ("When does the kettle switch itself off?", False),
        ("Who is vegetarian? Answer in one word.", False),
    ],
)
def test_what_refers_back_is_told_from_what_names_it(message: str, refers: bool) -> None:
    assert refers_back(message) is refers
