"""Sentences that are easily parsed wrongly: participles before nouns, parentheses, "there is"."""

import pytest

from tests.plugins.document import answer


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("We sell used bikes.", "Do you sell used bikes?", "Yes"),
        ("We no longer buy used bikes.", "Do you buy used bikes?", "No"),
        ("We no longer buy used bikes.", "Do you buy bikes?", None),
        ("Students get a helmet free of charge.", "Do students get a helmet?", "Yes"),
        ("There is a car park behind the shop.", "Is there a car park?", "Yes"),
        ("There is a car park behind the shop.", "Is there a car park in the cellar?", None),
        ("There is no lesson next week.", "Is there a lesson next week?", "No"),
        ("Dogs are welcome in the shop, but not in the workshop.", "Are dogs welcome in the workshop?", None),
        ("Dogs are welcome in the shop, but not in the workshop.", "Are dogs welcome in the shop?", "Yes"),
        ("Dogs are welcome in the shop, but not in the workshop.", "Are dogs welcome in the yard?", None),
    ],
)
def test_whether_it_is_so(document: str, question: str, said: str | None) -> None:
    assert answer(document, question) == (said and f"{said}. {document}")


@pytest.mark.parametrize(
    ("document", "question", "is_answered"),
    [
        ("Work is expected to start in July.", "When will work start?", True),
        ("Work is expected to start in July.", "When did work start?", False),
        ("The mill, owned by the Kestner family, closed in 1974.", "Who owned the mill?", True),
        ("The mill, owned by the Kestner family, closed in 1974.", "When did the mill close?", True),
        ("The town hall, designed by Marta Linde, opened in 1911.", "Who designed the town hall?", True),
        ("The town hall, designed by Marta Linde, opened in 1911.", "Who opened the town hall?", False),
        ("You need a badge to enter the lab.", "What do I need to leave the lab?", False),
        ("A repair costs 15 euros including the tube.", "How much is a repair?", True),
        ("A repair costs 15 euros including the tube.", "How much is a tube?", False),
        ("The warranty period is two years.", "How long is the warranty?", True),
    ],
)
def test_asides_and_what_is_expected(document: str, question: str, *, is_answered: bool) -> None:
    assert answer(document, question) == (document if is_answered else None)


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("Is bread sold in the morning?", True),
        ("Is cake sold in the afternoon?", True),
        ("Is cake sold in the morning?", False),
        ("Is bread sold in the afternoon?", False),
        ("Is tea sold in Bern in summer?", True),
        ("When was the barn built?", True),
        ("Was the house built in 1920?", False),
        ("Where does Otto work?", True),
    ],
)
def test_a_time_or_place_is_not_lent_to_what_stands_beside(question: str, is_told: bool) -> None:
    told = (
        "Bread is sold in the morning and cake in the afternoon. The house was built in 1901 and the barn in 1920. "
        "Tea is sold in Lund and Bern in summer. Otto works in the old coal mine."
    )
    assert (answer(told, question) is not None) is is_told
