"""A rule with a condition that the question does not name is told without yes or no."""

import pytest

from tests.plugins.document import answer

HOUSE = (
    "Helmets cannot be returned once the seal is broken. Theft is covered only if a door was forced. Chickens can be"
    " kept as long as no neighbour objects. Keys can be shared, provided that everybody has signed. A cat may be kept"
    " until the lease ends. Lamps are free. Bread is sold when the bell rings. Tom eats fish when nobody looks."
    " The engine was stopped when the alarm rang. Boots may be worn in the hall. Boots may be worn in the hall if they"
    " are dry. Sleds may be lent if it snows. Sleds may be lent unless the rope is torn."
    " Credit to the designer is not required, except in films. The museum is open every day except Monday."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Can helmets be returned?", "It depends. Helmets cannot be returned once the seal is broken."),
        ("Is theft covered?", "It depends. Theft is covered only if a door was forced."),
        ("Can I keep chickens?", "It depends. Chickens can be kept as long as no neighbour objects."),
        ("Can keys be shared?", "It depends. Keys can be shared, provided that everybody has signed."),
        ("May I keep a cat?", "It depends. A cat may be kept until the lease ends."),
        ("Is bread sold?", "It depends. Bread is sold when the bell rings."),
        (
            "Is credit to the designer required?",
            "It depends. Credit to the designer is not required, except in films.",
        ),
        (
            "Is credit to the designer required in films?",
            "Yes. Credit to the designer is not required, except in films.",
        ),
        ("Is the museum open?", "It depends. The museum is open every day except Monday."),
        ("Are lamps free?", "Yes. Lamps are free."),
        ("Does Tom eat fish?", "Yes. Tom eats fish when nobody looks."),
        ("Was the engine stopped?", "Yes. The engine was stopped when the alarm rang."),
        ("May boots be worn in the hall?", "Yes. Boots may be worn in the hall."),
        ("May sleds be lent?", "It depends. Sleds may be lent if it snows. Sleds may be lent unless the rope is torn."),
        ("May sleds be lent if it snows?", "Yes. Sleds may be lent if it snows."),
    ],
)
def test_a_condition_that_is_not_asked_about_is_told(question: str, said: str) -> None:
    assert answer(HOUSE, question) == said


def test_no_single_word_is_given_under_a_condition() -> None:
    assert answer(HOUSE, "Is theft covered? Answer with yes or no.") is None
