"""Documents that ask questions and answer them: whatever marks the questions, each has its answer."""

import pytest

from mrpvm.plugins.seed_detectors.symbolic.source_text import statements_of
from tests.plugins.document import answer

PARKING, SHIPPING, RETURNS = "Where can I park?", "Do you ship abroad?", "Can I return opened goods?"
ANSWERS = {
    PARKING: "Behind the house, in the yard. The gate closes at 22:00.",
    SHIPPING: "Yes, to all countries of the EU. It takes 5 to 8 days.",
    RETURNS: "No.",
}


def written(question: str, between: str = "\n", label: str = "") -> str:
    """Return a list of the questions, each written by a template, with its answer behind or below it."""
    pairs = enumerate(ANSWERS.items(), 1)
    return "\n\n".join(f"{question.format(number, asked)}{between}{label}{text}" for number, (asked, text) in pairs)


FORMS = {
    "headings": written("## {1}", "\n\n"),
    "headings below a title": "# Help centre\n\n" + written("### {1}"),
    "bold": written("**{1}**", "\n\n"),
    "bold in one line": written("**{1}** ", ""),
    "bold items": written("- **{1}** ", ""),
    "numbered in bold": written("**{0}. {1}**", "\n\n"),
    "numbered with bold questions": written("{0}. **{1}**", "\n\n   "),
    "labels": written("Q: {1}", label="A: "),
    "labels in bold": written("**Q: {1}**", label="A: "),
    "numbered labels": written("Q{0}. {1}", label="A. ").replace("A. ", "A1. "),
    "written labels": written("Question: {1}", label="Answer: "),
    "labels in lines of their own": written("Q: {1}", label="A:\n"),
    "lines": written("{1}"),
    "lines without empty ones": written("{1}").replace("\n\n", "\n"),
    "paragraphs": written("{1}", "\n\n"),
    "numbered lines": written("1.{0} {1}"),
    "quotation marks of mail": written("> {1}"),
    "below a title in capitals": "HELP CENTRE\n\n" + written("{1}"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("asked", ANSWERS)
def test_a_document_answers_its_own_question(form: str, asked: str) -> None:
    assert (
        answer(FORMS[form], asked, "faq.md" if "#" in FORMS[form] or "**" in FORMS[form] else "faq.txt")
        == (ANSWERS[asked])
    )


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which payment methods are accepted?", "Visa and Mastercard."),
        ("How can I reset the password", "Click on Forgot. Write us a letter if that fails."),
        ("how do I reset my password with a letter?", "Click on Forgot. Write us a letter if that fails."),
        ("can opened goods be returned", "No."),
        ("Can I return opened goods without a receipt?", None),
        ("Can I return goods?", None),
        ("Can't I return opened goods?", None),
        ("When can I return opened goods?", None),
        ("Who accepts payment methods?", None),
    ],
)
def test_the_same_question_has_the_same_words_and_kind(question: str, said: str | None) -> None:
    document = (
        "## What payment methods do you accept?\n\nVisa and Mastercard.\n\n"
        "## How do I reset my password?\n\nClick on Forgot. Write us a letter if that fails.\n\n"
        "## Can I return opened goods?\n\nNo.\n"
    )
    assert answer(document, question, "faq.md") == said


def test_the_steps_of_an_answer_stay_steps() -> None:
    document = "## How do I clean the filter?\n\n1. Switch it off.\n2. Take out the filter.\n3. Rinse it.\n"
    assert answer(document, "How do I clean the filter?", "faq.md") == (
        "1. Switch it off.\n2. Take out the filter.\n3. Rinse it."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Please answer:\n1. Where is the key?\n2. Who has it?\n3. When was it lost?",
        "Is it far? The hut stands on a hill.",
        "The guide asked: where is the key?\nNobody knew.",
        "Anna: Where is the key?\nBob: I have the key.\nAnna: Where is the map?\nBob: I lost the map.",
    ],
)
def test_a_question_that_is_not_answered_is_no_heading(text: str) -> None:
    assert all(statement.heading is None for statement in statements_of(text))


@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_an_answer_is_lost(form: str) -> None:
    stated = " ".join(statement.text for statement in statements_of(FORMS[form]))
    for text in ANSWERS.values():
        for sentence in text.split(". "):
            assert sentence.rstrip(".") in stated
