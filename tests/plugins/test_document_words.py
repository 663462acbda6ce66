"""Similar words with different meanings: prepositions, verbs, adverbs, plurals, signs."""

import pytest

from tests.plugins.document import answer


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("The cat is in the box.", "Is the cat on the box?", None),
        ("The cat is in the box.", "Is the cat inside the box?", "Yes"),
        ("Ida walked from the bridge.", "Did Ida walk under the bridge?", None),
        ("Ida wrote a book about Tom.", "Did Ida write a book for Tom?", None),
        ("Ida wrote a book about Tom.", "Did Ida write a book about Tom?", "Yes"),
        ("Anna started the engine.", "Did Anna break the engine?", None),
        ("The pool is rarely closed.", "Is the pool closed?", None),
        ("The pool is usually closed.", "Is the pool closed?", None),
        ("The pool is closed.", "Is the pool closed?", "Yes"),
        ("The pool is rarely closed on Mondays.", "Is the pool closed on Mondays?", None),
        ("The Linnet may sail in June.", "Will the Linnet sail in June?", None),
        ("Ines is thinking of moving to Kiel.", "Did Ines move to Kiel?", None),
        ("Ben dreams of buying a boat.", "Did Ben buy a boat?", None),
        ("The headphones are not waterproof.", "Are the headphones waterproof?", "No"),
        ("The pump is suitable for salt water.", "Is the pump suitable for salt water?", "Yes"),
        ("The garden pump is suitable.", "Is the garden pump suitable?", "Yes"),
    ],
)
def test_what_only_looks_alike_says_no_yes(document: str, question: str, said: str | None) -> None:
    assert answer(document, question) == (said and f"{said}. {document}")


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("The pump contains oil in the lower tank.", "Where is the pump?", None),
        ("Ida and Tom run hotels. They provide towels.", "Do Ida and Tom provide towels?", "They provide towels."),
        ("The children live in Bern. Every winter they sell apples.", "What do the children sell?", "they sell apples"),
        ("The ticket costs \u00a5500.", "How much does the ticket cost?", "\u00a5500"),
        ("The warden, Ida Roe, is ill.", "Was Ida Roe the warden?", None),
    ],
)
def test_what_is_read_for_what_it_is(document: str, question: str, said: str | None) -> None:
    found = answer(document, question)
    assert said in found if said and found else found == said, found


def test_equal_sentences_of_two_people_are_two_statements() -> None:
    text = (
        "Ida Roe is the cook. She works on Mondays.\n\nThe mill is old and stands by the river.\n\n"
        "Eva Moor is the nurse. She works on Mondays.\n"
    )
    both = answer(text, "Who works on Mondays?")
    assert both is None or "Eva Moor" in both  # the answer is not Ida Roe alone
    assert "Eva Moor" in (answer(text, "Does Eva Moor work on Mondays?") or "")
    assert "Ida Roe" in (answer(text, "Does Ida Roe work on Mondays?") or "")


def test_titles_in_a_row_cost_no_exponential_time() -> None:
    """Forty pairs took exponential time when a title could be read as a name too."""
    assert answer("Ida Roe is the warden.", f"Is {'Dr Abel ' * 40}the warden of Kall?") is None
