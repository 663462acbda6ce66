"""What sentences leave out behind "and": each thing has the time or number that stands beside it."""

import pytest

from mrpvm.english.gaps import filled
from tests.plugins.document import answer

CANTEEN = (
    "The canteen\n\nThe kitchen serves soup every day and fish on Fridays. Ida waters the roses on Mondays and the"
    " lilies on Thursdays. Bread is sold in the morning and cake in the afternoon. The pool is open on Sundays and the"
    " sauna on Saturdays. Maps are sold for 7 euros and posters for 9 euros. Tom feeds the cat and the dog every day."
    " The band plays on Mondays and Fridays."
)
SERVED = "The kitchen serves soup every day and fish on Fridays."
WATERED = "Ida waters the roses on Mondays and the lilies on Thursdays."
SOLD = "Bread is sold in the morning and cake in the afternoon."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Does the kitchen serve soup every day?", f"Yes. {SERVED}"),
        ("Does the kitchen serve fish on Fridays?", f"Yes. {SERVED}"),
        ("Does the kitchen serve fish every day?", None),
        ("Does the kitchen serve soup on Fridays?", None),
        ("When does the kitchen serve fish?", SERVED),
        ("Does Ida water the lilies on Thursdays?", f"Yes. {WATERED}"),
        ("Does Ida water the lilies on Mondays?", None),
        ("Does Ida water the roses on Thursdays?", None),
        ("Is cake sold in the afternoon?", f"Yes. {SOLD}"),
        ("Is cake sold in the morning?", None),
        ("Is the sauna open on Saturdays?", "Yes. The pool is open on Sundays and the sauna on Saturdays."),
        ("Is the sauna open on Sundays?", None),
        ("Is the pool open on Saturdays?", None),
        ("Are posters sold for 9 euros?", "Yes. Maps are sold for 7 euros and posters for 9 euros."),
        ("Does Tom feed the cat every day?", "Yes. Tom feeds the cat and the dog every day."),
        ("Does the band play on Mondays?", "Yes. The band plays on Mondays and Fridays."),
        ("Does the band play on Fridays?", "Yes. The band plays on Mondays and Fridays."),
    ],
)
def test_a_thing_with_its_own_time_keeps_it(question: str, said: str | None) -> None:
    assert answer(CANTEEN, question) == said


@pytest.mark.parametrize(
    ("text", "full"),
    [
        (
            "There is a meal every day and fish on Fridays.",
            "There is a meal every day; There is fish on Fridays.",
        ),
        (
            "Ida teaches chess in the hall on Mondays and judo in the gym on Tuesdays.",
            "Ida teaches chess in the hall on Mondays; Ida teaches judo in the gym on Tuesdays.",
        ),
        ("Anna was born in May and Ben in June.", "Anna was born in May; Ben was born in June."),
        ("The shop opens at 9:00 and the bar at 17:00.", "The shop opens at 9:00; the bar opens at 17:00."),
    ],
)
def test_an_ellipsis_takes_verb_and_unreplaced_parts(text: str, full: str) -> None:
    assert filled(text) == full


@pytest.mark.parametrize(
    "text",
    [
        "The band plays in the morning and in the evening.",
        "The hall is open between May and June on Sundays.",
        "The shop opens at 9:00 and closes at 17:00.",
        "Ida goes to Kiel on Mondays and Lund on Fridays.",
        "The chef is Ida on Mondays and Tom on Fridays.",
        "Ida waters the roses and the lilies on Thursdays.",
    ],
)
def test_a_sentence_without_clear_ellipsis_is_unchanged(text: str) -> None:
    assert filled(text) == text
