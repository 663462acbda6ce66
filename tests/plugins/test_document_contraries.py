"""Questions about the contrary of a document's statement, or about another person."""

import pytest

from tests.plugins.document import answer

HOUSE = (
    "The heating is switched off by default. The lamp is turned on at night. The shutters are rolled down at noon."
    " Log out before you leave."
)
OFFICE = "The key is kept by Ravi. His phone number is 0341 88 21. He is away until 12 June; Elif stands in for him."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is the heating switched on by default?", None),
        ("Is the heating switched off by default?", "Yes. The heating is switched off by default."),
        ("Is the lamp turned off at night?", None),
        ("When are the shutters rolled down?", "The shutters are rolled down at noon."),
        ("When are the shutters rolled up?", None),
        ("Are the shutters rolled up at noon?", None),
        ("What is switched on by default?", None),
        ("What is turned off at night?", None),
    ],
)
def test_a_verb_with_another_particle_is_another_verb(question: str, said: str | None) -> None:
    assert answer(HOUSE, question) == said


def test_who_is_named_beside_a_thing_does_not_own_it() -> None:
    assert answer(OFFICE, "What is Ravi's phone number?") == "The key is kept by Ravi. His phone number is 0341 88 21."
    assert answer(OFFICE, "What is Elif's phone number?") is None


SHOP = "The clinic treats dogs, cats and rabbits, but no birds. The shop sells milk but not cheese."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Does the clinic treat rabbits?", "Yes. The clinic treats dogs, cats and rabbits, but no birds."),
        ("Does the clinic treat birds?", None),
        ("Does the clinic treat horses?", None),
        ("Does the shop sell milk?", "Yes. The shop sells milk but not cheese."),
        ("Does the shop sell cheese?", None),
    ],
)
def test_what_is_left_out_behind_but_denies_nothing_before_it(question: str, said: str | None) -> None:
    assert answer(SHOP, question) == said
