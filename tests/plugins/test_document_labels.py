"""What headings, labels and tables of documents say of what stands below or beside them [BP-36 b]."""

import pytest

from tests.plugins.document import answer

CAMP = (
    "Brook Camp\n\nPhone: +31 20 555 01 77\nWarden: Saskia de Boer\nWidth: 80 m\nFounded in: Utrecht\n"
    "Date of foundation: 3 June 1988\n\n## Rates\n- Tent: 14 euros per night\n- Electricity: 4 euros a day\n"
    "- Showers: free\n\n## Opening hours\nKiosk: 8:00 to 20:00\nLake: 6:00 to 22:00, closed on Sundays\n\n"
    "## Restrictions\n- Guests: 6 per tent\n- Dogs: 2 on leads, 1 in the lake\n- Vehicles: 3.5 t\n\n"
    "## Requirements\nDeposit: 50 euros\nPegs: 12 per tent\n\n## Ports\nOffice printer: 9100\n\n"
    "## Quay house\nWarden: Joris Blom\nHeight: 7 m\n\n## Rental periods\nBoats: 3 hours\nBikes: 2 days\n\n"
    "## Distances\nSea: at least 3 KM\nTown: 12 KM\n"
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
        ("How long is the rental period for boats?", "Boats: 3 hours."),
        ("What is the distance of the town?", "Town: 12 KM."),
        ("How long is the rental period for tents?", None),
        ("How long are the boats?", None),
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


GYM = (
    "# Northside Gym\n\n## How do I freeze my membership?\nWrite to the desk. The request is free of charge."
    " The form is two pages long.\n\n## Can I bring a guest?\nYes. Register the guest at the desk. Pay the day rate."
    " Guests under 16 are sent home.\n\n## Can I pay in cash?\nYes, but only at the desk. Smoking is forbidden in the"
    " hall.\n\n## Can I rent a locker?\nNo. All lockers are free.\n\n"
    "## Can I park at the gym on Sundays?\nYes. The garage is always open.\n\n## Locker key\n"
    "The key is replaced within three days. Keys left in the shower are collected every evening."
    " The old door was painted in 2019.\n\n## Pumps\nThe valve was installed in 1990.\n\n"
    "## Red or blue card\nThe card is valid for two years.\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Can I bring a guest?", "Yes. Register the guest at the desk."),
        ("Am I allowed to bring a guest?", "Yes. Register the guest at the desk."),
        ("Can I rent a locker?", "No. All lockers are free."),
        ("Can I pay in cash?", "Yes, but only at the desk."),
        ("May I smoke?", None),
        ("How do I bring a guest?", "Register the guest at the desk. Pay the day rate."),
        ("When is the locker key replaced?", "The key is replaced within three days."),
        ("How long is the freeze form?", "The form is two pages long."),
        ("What happens to keys left in the shower?", "Keys left in the shower are collected every evening."),
        ("What happens to guests under 16?", "Guests under 16 are sent home."),
        ("What happens to keys left in the garage?", None),
        ("What happens to guests?", None),
        ("What happened to keys left in the shower?", None),
        ("What happens to lockers?", None),
        ("Can I bring a dog?", None),
        ("Can a guest bring me?", None),
        ("Can I park at the gym?", None),
        ("How do I rent a locker?", None),
        ("How do I park at the gym on Sundays?", None),
        ("When is the membership key replaced?", None),
        ("When was the pump installed?", None),
        ("When was the locker door painted?", None),
        ("How long is the red card valid?", None),
    ],
)
def test_a_heading_is_the_question_that_the_text_below_it_answers(question: str, said: str | None) -> None:
    assert answer(GYM, question) == said


SHOP = (
    "Bicycle workshop Talbach\n\nPrices\nChain: 35 euros\nBrake pads: 12 euros\n\nOpening hours\n\n"
    "Workshop: 9:00 to 17:00\nShop: 10:00 to 18:00\n\nStaff\nManager: Lena Roth\n\n"
    "Warehouse\nManager: Tim Ost\nPhone: 555 120\n\n"
    "Can I wait for my bicycle?\nYes. Take a seat in the corner and ring the bell. Coffee is free.\n\n"
    "How do I pay?\nPut the cash into the box.\n\nSupplier: Nordrad\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much does the chain cost?", "Chain: 35 euros."),
        ("When does the shop open?", "Shop: 10:00 to 18:00."),
        ("Who is the manager of the warehouse?", "Manager: Tim Ost."),
        ("Can I wait for my bicycle?", "Yes. Take a seat in the corner and ring the bell."),
        ("How do I pay?", "Put the cash into the box."),
        ("Who is the supplier?", "Supplier: Nordrad."),
        ("What is the price of the bell?", None),
        ("When does the warehouse open?", None),
        ("What is the phone number of the shop?", None),
        ("Can I wait for my coffee?", None),
        ("How do I pay for my bicycle?", None),
    ],
)
def test_a_plain_text_has_headings_without_marks(question: str, said: str | None) -> None:
    assert answer(SHOP, question) == said


PARTS = (
    "Spare parts\n\n| Part | Order number | Price | Colour |\n|---|---|---|---|\n| Lid | 4711 | 12 euros | white |\n"
    "| Filter basket | 4712 | 30 euros | grey |\n\nFor the lid there is a guarantee of a year.\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much does the lid cost?", "Lid: Price: 12 euros."),
        ("What is the order number of the filter basket?", "Filter basket: Order number: 4712."),
        ("What colour is the filter basket?", "Filter basket: Colour: grey."),
        ("How much does the basket cost?", None),
        ("How much does the filter cost?", None),
        ("How much does the pump cost?", None),
        ("What is the weight of the lid?", None),
        ("What colour is the filter?", None),
        ("How much does the lid weigh?", None),
    ],
)
def test_a_cell_of_a_table_is_what_its_row_and_column_name(question: str, said: str | None) -> None:
    assert answer(PARTS, question) == said


DESK = (
    "Harbour office\n\nLost property: 555 200 31, mornings only\nPress desk: Mia Holt\n\n"
    "Send invoices to bills@harbour.example."
    " Questions about berths go to berths@harbour.example. Complaints about berths go to chief@harbour.example."
    " Never send parcels to yard@harbour.example.\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the phone number of lost property?", "Lost property: 555 200 31, mornings only."),
        ("What is the e-mail address for invoices?", "Send invoices to bills@harbour.example."),
        ("What is the email address for berths?", "Questions about berths go to berths@harbour.example."),
        ("What is the phone number of the press desk?", None),
        ("What is the e-mail address of lost property?", None),
        ("What is the e-mail address for parcels?", None),
        ("What is the e-mail address for boats?", None),
        ("What is the e-mail address of the chief?", None),
        ("What is the phone number for invoices?", None),
    ],
)
def test_an_address_is_found_by_what_it_is_for(question: str, said: str | None) -> None:
    assert answer(DESK, question) == said


HANDBOOK = (
    "# Anna's handbook of devices\n\n## Router X100\n\n### Data\n\nWeight: 640 g\nWidth: 20 cm\n\n## Switch S5\n\n"
    "### Technical data\n\n- Weight: 900 g\n- Ports: 8\n\n## Hall\n\n### Doors\n\nHeight: 2 m\n\n## Notes\n\n"
    "Age: 3 years\n"
)


@pytest.mark.parametrize("name", ["handbook.md", "handbook.txt"])
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How heavy is the router?", "Weight: 640 g."),
        ("What does the router weigh?", "Weight: 640 g."),
        ("How much does the switch weigh?", "Weight: 900 g."),
        ("How wide is the X100?", "Width: 20 cm."),
        ("How many ports does the switch have?", "Ports: 8."),
        ("How high are the doors?", "Height: 2 m."),
        ("How many ports does the router have?", None),
        ("How wide is the switch?", None),
        ("How heavy is the X200?", None),
        ("How heavy is the handbook?", None),
        ("How heavy is the hall?", None),
        ("How high is the hall?", None),
        ("How old is Anna?", None),
        ("How old are the devices?", None),
    ],
)
def test_a_label_tells_of_what_the_headings_around_its_own_name(question: str, said: str | None, name: str) -> None:
    assert answer(HANDBOOK, question, name) == said
