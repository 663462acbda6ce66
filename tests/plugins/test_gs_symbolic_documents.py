"""What documents are asked as people ask them, and answered without a model [BP-34, BP-36]."""

import pytest

from bench.evaluation.session import EvaluatedSession

MANUAL = (
    "Generator manual\n\nCheck the oil every week. Replace the air filter after 200 hours of operation. The generator has"
    " to be serviced once a year by a certified technician.\n\nStore the unit in a dry place. Use only SAE 10W-30 oil."
    " Call Nordwind Service for repairs."
)


def answer(document: str, question: str) -> str | None:
    with EvaluatedSession() as session:
        session.load(document, "document.txt")
        outcome = session.say(question)
    assert outcome.answer is not None
    [group] = outcome.answer.groups
    return group.answer_markdown.removesuffix(" [1]") if group.status == "answered" else None


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


CAMP = (
    "Brook Camp\n\nPhone: +31 20 555 01 77\nWarden: Saskia de Boer\nWidth: 80 m\nFounded in: Utrecht\n"
    "Date of foundation: 3 June 1988\n\n## Rates\n- Tent: 14 euros per night\n- Electricity: 4 euros a day\n"
    "- Showers: free\n\n## Opening hours\nKiosk: 8:00 to 20:00\nLake: 6:00 to 22:00, closed on Sundays\n\n"
    "## Restrictions\n- Guests: 6 per tent\n- Dogs: 2 on leads, 1 in the lake\n- Vehicles: 3.5 t\n\n"
    "## Requirements\nDeposit: 50 euros\nPegs: 12 per tent\n\n## Ports\nOffice printer: 9100\n\n"
    "## Quay house\nWarden: Joris Blom\nHeight: 7 m\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the phone number of the camp?", "Phone: +31 20 555 01 77."),
        ("How much does a tent cost per night?", "Tent: 14 euros per night."),
        ("How much is electricity a day?", "Electricity: 4 euros a day."),
        ("How much do the showers cost?", "Showers: free."),
        ("When is the kiosk open?", "Kiosk: 8:00 to 20:00."),
        ("When does the lake open?", "Lake: 6:00 to 22:00, closed on Sundays."),
        ("How many guests may I have per tent?", "Guests: 6 per tent."),
        ("How many dogs are allowed in the lake?", "Dogs: 2 on leads, 1 in the lake."),
        ("How many pegs are required per tent?", "Pegs: 12 per tent."),
        ("What port does the office printer use?", "Office printer: 9100."),
        ("Who is the warden of the quay house?", "Warden: Joris Blom."),
        ("How high is the quay house?", "Height: 7 m."),
        ("How much does a tent cost per week?", None),
        ("How much does a caravan cost?", None),
        ("How much does a large tent cost?", None),
        ("When is the quay house open?", None),
        ("When does the kiosk open on Mondays?", None),
        ("How many guests may I have per caravan?", None),
        ("How many guests did I have per tent?", None),
        ("How many vehicles may I have?", None),
        ("What port does the lake use?", None),
        ("Who is Joris Blom's warden?", None),
        ("Who is the owner of the quay house?", None),
        ("How high is the camp?", None),
        ("How wide is the quay house?", None),
        ("What is the fax number of the camp?", None),
    ],
)
def test_a_label_and_the_heading_above_it_say_what_their_value_is(question: str, said: str | None) -> None:
    assert answer(CAMP, question) == said
