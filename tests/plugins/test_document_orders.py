"""Instructions in documents answer questions of those who must follow them."""

import pytest

from tests.plugins.document import answer

MANUAL = (
    "Generator manual\n\nCheck the oil every week. Replace the air filter after 200 hours of operation."
    " The generator has to be serviced once a year by a certified technician.\n\n"
    "Store the unit in a dry place. Use only SAE 10W-30 oil. Call Nordwind Service for repairs."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How often should I check the oil?", "Check the oil every week."),
        ("How often do I have to check the oil?", "Check the oil every week."),
        ("When do I replace the air filter?", "Replace the air filter after 200 hours of operation."),
        ("Where should the unit be stored?", "Store the unit in a dry place."),
        ("Which oil must be used?", "Use only SAE 10W-30 oil."),
        ("Who should I call for repairs?", "Call Nordwind Service for repairs."),
        ("Who checks the oil?", None),
        ("How often do I have to check the air filter?", None),
    ],
)
def test_orders_in_a_document_answer_who_has_to_follow_them(question: str, said: str | None) -> None:
    assert answer(MANUAL, question) == said
