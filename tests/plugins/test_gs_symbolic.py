"""Extractive answers: only what was asked, with citations, or no-context."""

import json

import pytest

from bench.evaluation.session import EvaluatedSession
from mrpvm.conversation.answers import NO_CONTEXT_TEXT, QUOTED_OPENING, UNKNOWN_TEXT, answer_text
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.testing import call_context, unit
from mrpvm.testing.conformance import solve_input
from tests.plugins.conversation import Conversation

TABLE = "| Subject | Statement |\n| --- | --- |\n| Rex | My dog is called Rex. [1] |"
PETS = ("My dog is called Rex.", "My cat is called Tom.", "My car is red.")


def test_facts_of_earlier_turns_are_found_again() -> None:
    talk = Conversation(*PETS)
    answer = talk.say("What is my dog called?")
    assert answer_text(answer) == "My dog is called Rex. [1]"
    assert answer.groups[0].cited_unit_ids == ("session::req-1::unit-000",)


def test_what_is_told_is_said_back_from_its_own_unit() -> None:
    answer = Conversation().say("My dog is called Rex.")
    assert answer_text(answer) == "Noted: My dog is called Rex. [1]"
    assert answer.groups[0].cited_unit_ids == ("session::req-1::unit-000",)


def test_a_long_text_is_acknowledged_in_two_sentences() -> None:
    answer = Conversation().say("Rex barks. Tom naps. Birds fly south. Bees make honey.")
    assert answer_text(answer) == "Noted: Rex barks. [1] Tom naps. [2] And the rest."


@pytest.mark.rule("BUILTIN-34")
def test_nothing_known_is_no_context() -> None:
    talk = Conversation(*PETS)
    answer = talk.say("Where do penguins nest?")
    assert answer.status == "no-context"
    assert answer.groups[0].answer_markdown == NO_CONTEXT_TEXT
    assert answer_text(answer) == UNKNOWN_TEXT


STORY = (
    "The keeper Ines lives on the island of Vell. A storm destroyed the old pier in 1962. "
    "Ines rescued three fishermen. "
    "The mayor gave Ines a medal. Tomas built a new pier because the old one was gone. The new pier is made of oak. "
    "The pier has twelve lamps. A red boat lies beside the pier. Tomas is 41 years old. Ines does not sail at night. "
    "Tomas thinks that the mayor is ill. The ferry leaves at 9:30. Mara, the captain of the ferry, comes from Oslo. "
    "The man who sold the boat lives in Rome. Rafts are slower than boats."
)


@pytest.mark.rule("BUILTIN-36")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where does Ines live?", "Vell"),
        ("When did a storm destroy the old pier?", "1962"),
        ("How many fishermen did Ines rescue?", "three"),
        ("Who rescued three fishermen?", "Ines"),
        ("Who gave Ines a medal?", "mayor"),
        ("What did the mayor give Ines?", "medal"),
        ("Why did Tomas build a new pier?", "because"),
        ("What is the new pier made of?", "oak"),
        ("How many lamps does the pier have?", "twelve"),
        ("What colour is the boat?", "red"),
        ("Where does the boat lie?", "beside the pier"),
        ("How old is Tomas?", "41"),
        ("What time does the ferry leave?", "9:30"),
        ("Who is the captain of the ferry?", "Mara"),
        ("Who sold the boat?", "man"),
        ("Did Ines rescue three fishermen?", "Yes."),
        ("Does Ines sail at night?", "No."),
        ("Did Ines rescue five fishermen?", "No."),
        ("Was the old pier destroyed by a storm?", "Yes."),
        ("Are rafts slower than boats?", "Yes."),
    ],
)
def test_what_the_text_says(question: str, said: str) -> None:
    answer = Conversation(STORY).ask(question)
    assert answer is not None
    assert said in answer
    assert answer.count(".") <= 4, "at most two sentences"


@pytest.mark.rule("BUILTIN-34", "BUILTIN-37", "BUILTIN-40")
@pytest.mark.parametrize(
    "question",
    [
        "Who destroyed the storm?",
        "Where does the boat live?",
        "Did the mayor rescue three fishermen?",
        "Did Ines give the mayor a medal?",
        "Who gave the mayor a medal?",
        "Is the mayor ill?",
        "Who is ill?",
        "Who is the captain of the pier?",
        "How old is Ines?",
        "Are boats slower than rafts?",
        "What breed is the boat?",
        "When did a storm destroy the new pier?",
        "How many lamps does the boat have?",
        "Why did Ines rescue three fishermen?",
        "Would the pier survive a flood?",
        "Where does he live?",
    ],
)
def test_what_the_text_does_not_say(question: str) -> None:
    assert Conversation(STORY).ask(question) is None


def test_the_sentence_a_pronoun_needs_is_told_with_it() -> None:
    talk = Conversation("Anna lives in Bern. She likes tea.")
    assert talk.ask("What does Anna like?") == "Anna lives in Bern. She likes tea. [1]"


def test_a_pronoun_is_resolved_within_the_message() -> None:
    assert Conversation().ask("My dog is called Rex. What is he called?") == "My dog is called Rex. [1]"


@pytest.mark.rule("BUILTIN-36")
def test_rival_answers_decide_nothing() -> None:
    talk = Conversation("The key is in the kitchen.", "The key is in the garage.")
    answer = talk.say("Where is the key?")
    assert answer.status == "no-context"
    assert len(answer.groups[0].cited_unit_ids) == 2
    assert "The key is in the kitchen. [1] The key is in the garage. [2]" in answer.groups[0].answer_markdown
    assert answer.groups[0].reason == "refused: the cited sentences give different answers"


def test_my_and_your_are_different_owners() -> None:
    assert Conversation(*PETS).ask("What is your dog called?") is None
    assert Conversation("My sister's dog is called Bello.").ask("What is my dog called?") is None


@pytest.mark.rule("BUILTIN-35")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is my dog called? Answer in one word.", "Rex"),
        ("Is my dog called Rex? Answer yes or no.", "Yes"),
        ("Is my dog called Tom? Answer yes or no.", "No"),
        ("What is my dog called? Use bullet points.", "- My dog is called Rex. [1]"),
        ("What is my dog called? Answer as a table.", TABLE),
        ("Is my dog called Rex?", "Yes. My dog is called Rex. [1]"),
    ],
)
def test_forms(question: str, text: str) -> None:
    assert Conversation(*PETS).ask(question) == text


def test_json_is_valid_and_names_its_sources() -> None:
    found = json.loads(Conversation(*PETS).ask("What is my dog called? Answer in JSON.") or "")
    assert found == {
        "status": "answered",
        "answer": "My dog is called Rex.",
        "sources": ["session::req-1::unit-000"],
    }
    refusal = Conversation().say("Who is Zed? Answer in JSON.").groups[0].answer_markdown
    assert json.loads(refusal) == {"status": "no-context", "answer": NO_CONTEXT_TEXT}


@pytest.mark.rule("BUILTIN-36")
def test_steps_keep_the_order_of_the_source() -> None:
    talk = Conversation("To reset the pump:\n1. Open the valve.\n2. Drain it.\n3. Press start.")
    assert talk.ask("How do I reset the pump?") == "1. Open the valve. [1]\n2. Drain it. [1]\n3. Press start. [1]"


@pytest.mark.rule("BUILTIN-36")
def test_reasons_follow_the_chain_of_facts() -> None:
    talk = Conversation("A clogged filter causes high pressure.", "High pressure triggers the relief valve.")
    answer = talk.ask("Why does a clogged filter trigger the relief valve?")
    assert answer == "A clogged filter causes high pressure. [1] High pressure triggers the relief valve. [2]"


@pytest.mark.rule("BUILTIN-36")
def test_comparisons_set_both_sides_next_to_each_other() -> None:
    talk = Conversation("Rafts are cheap.", "Tents are warm.")
    assert talk.ask("Compare rafts and tents.") == "- **rafts**: Rafts are cheap. [1]\n- **tents**: Tents are warm. [2]"
    assert talk.ask("Compare rafts and igloos.") is None


@pytest.mark.rule("BUILTIN-35", "ANSWER-11")
def test_lasting_instructions_shape_later_answers() -> None:
    talk = Conversation(*PETS, "From now on answer in one word.")
    assert talk.ask("What is my cat called?") == "Tom"


@pytest.mark.rule("ANSWER-8")
def test_several_questions_have_an_answer_each() -> None:
    answer = Conversation(*PETS).say("What is my dog called? What is my cat called? Where do penguins nest?")
    assert [group.status for group in answer.groups] == ["answered", "answered", "no-context"]
    assert answer_text(answer) == (
        "**What is my dog called?**\n\nMy dog is called Rex. [1]\n\n"
        "**What is my cat called?**\n\nMy cat is called Tom. [2]\n\n"
        f"**Where do penguins nest?**\n\n{UNKNOWN_TEXT}"
    )


@pytest.mark.rule("PLUGIN-14")
def test_no_answered_group_is_no_context() -> None:
    solver = SymbolicGoalSolver()
    found = solver.solve(solve_input("Where is the moon?", [unit("a", "The sun is hot.")]), call_context())
    assert found.status == "no-context"


def test_questions_among_the_evidence_state_nothing() -> None:
    solver = SymbolicGoalSolver()
    asked = solve_input("Who owns the boat?", [unit("a", "Does Anna own the boat?")])
    assert solver.solve(asked, call_context()).status == "no-context"


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        ("I have an exam on 5 May.", "When is my exam?", "I have an exam on 5 May. [1]"),
        ("Tom works as a cook.", "What does Tom do?", "Tom works as a cook. [1]"),
        ("You must file a claim within two weeks.", "How long do I have to file a claim?",
         "You must file a claim within two weeks. [1]"),
        ("You must file a claim at noon.", "How long do I have to file a claim?",
         f"{QUOTED_OPENING} You must file a claim at noon. [1]"),
        ("Tom has an exam on 5 May.", "When is my exam?", f"{QUOTED_OPENING} Tom has an exam on 5 May. [1]"),
    ],
)  # fmt: skip
def test_a_question_is_tried_in_other_words(told: str, question: str, answer: str) -> None:
    assert answer_text(Conversation(told).say(question)) == answer


STOCK = """| Article | Price | In stock | Colour |
|---|---|---|---|
| City bike Astrid | 4995 kr | 3 | green |
| City bike Olof | 5495 kr | 0 | black |
| Helmet Uvex | 599 kr | 12 | white |
"""


def test_a_quoted_part_of_a_row_names_its_row() -> None:
    with EvaluatedSession() as session:
        session.load(STOCK, "prices.md")
        outcome = session.say("Do you have the Olof in stock?")
    assert outcome.answer is not None
    assert answer_text(outcome.answer) == (
        f"{QUOTED_OPENING} City bike Astrid: - In stock: 3. - Colour: green. [1] "
        "City bike Olof: - Price: 5495 kr. [2] - In stock: 0. - Colour: black. [2] "
        "Helmet Uvex: - In stock: 12. - Colour: white. [3]"
    )


def test_what_was_corrected_is_not_quoted() -> None:
    talk = Conversation("Our launch party is on Friday.", "Correction: the launch party is on Saturday now.")
    answer = talk.say("On what day is our launch party held?")
    assert answer_text(answer) == f"{QUOTED_OPENING} Correction: the launch party is on Saturday now. [1]"
    explained = answer_text(talk.say("Explain how our launch party was financed by sponsors and banks."))
    assert explained == f"{QUOTED_OPENING} Correction: the launch party is on Saturday now. [1]"
