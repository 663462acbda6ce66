"""Questions about measures, times, frequencies and colours in documents."""

import pytest

from tests.plugins.document import answer

HARBOUR = (
    "The harbour\n\n"
    "The crane is 18 metres high and painted yellow and black. The quay is 240 metres long. The chapel stands "
    "near the village of Orst, 6 kilometres from the town of Kall. The customs house is next to a green gate "
    "and covers 3 hectares.\n\n"
    "A boat goes to Lund three times a week. All records are kept in the tower and copied nightly to Kiel. The "
    "pilot answers within two hours. Berths have to be booked at least four days in advance. Cargo is reported "
    "to the master by 7:30 on the day of arrival. The gates are closed from November until April. The hall was "
    "painted by the night watchman.\n\n"
    "Every sailor has 30 days of shore leave a year. The shed costs 70 pounds. The store has 20 litres of oil. "
    "The pier is 300 metres from the station. The harbour lies by a lake 7 kilometres long."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How high is the crane?", "The crane is 18 metres high and painted yellow and black."),
        ("What colour is the crane?", "The crane is 18 metres high and painted yellow and black."),
        ("What colours is the crane painted in?", "The crane is 18 metres high and painted yellow and black."),
        ("How long is the crane?", None),
        ("How wide is the quay?", None),
        ("What is the width of the quay?", None),
        ("How large is the shed?", None),
        ("How long is the pier?", None),
        ("How long is the harbour?", None),
        ("What colour is the customs house?", None),
    ],
)
def test_a_value_is_told_only_to_who_asks_for_what_it_measures(question: str, said: str | None) -> None:
    assert answer(HARBOUR, question) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How far is the chapel from Orst?", None),
        ("How far is the crane from the station?", None),
        ("How large is the customs house?", "The customs house is next to a green gate and covers 3 hectares."),
        ("How much oil does the store get?", None),
    ],
)
def test_distances_sizes_and_amounts(question: str, said: str | None) -> None:
    assert answer(HARBOUR, question) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How often does the boat go to Lund?", "A boat goes to Lund three times a week."),
        ("How often does the boat go to Kiel?", None),
        ("When are the records copied?", "All records are kept in the tower and copied nightly to Kiel."),
        ("How long does the master take to answer?", None),
        ("By when must I report cargo?", "Cargo is reported to the master by 7:30 on the day of arrival."),
        ("Until when must I report cargo?", None),
        ("Until when are the gates closed?", "The gates are closed from November until April."),
        ("By when are the gates closed?", None),
        ("Who painted the hall?", "The hall was painted by the night watchman."),
    ],
)
def test_times_frequencies_and_limits(question: str, said: str | None) -> None:
    assert answer(HARBOUR, question) == said


WORKSHOP = (
    "The workshop\n\nThe kiln is kept at 900 degrees. The glaze melts at 700 degrees. The cart weighs 80 kilos. The"
    " hoist carries up to 600 kilos. Tighten the bolts to 25 Nm.\n\nThe Basic plan includes 20 GB of storage and e-mail"
    " support. The Large plan includes 200 GB. Attachments may be up to 25 MB. Orders can be changed up to two days"
    " before delivery. Visitors sit on three green benches. The pass is valid for six months."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How hot is the glaze?", None),
        ("What is the weight of the cart?", "The cart weighs 80 kilos."),
        ("How heavy is the hoist?", None),
        ("To what torque are the bolts tightened?", "Tighten the bolts to 25 Nm."),
        ("How large may an attachment be?", "Attachments may be up to 25 MB."),
        ("How much support does the Large plan include?", None),
        ("What colour are the benches?", "Visitors sit on three green benches."),
        ("What colour are the visitors?", None),
        ("How long is the pass valid?", "The pass is valid for six months."),
        ("How long is the plan valid?", None),
    ],
)
def test_values_of_other_units(question: str, said: str | None) -> None:
    assert answer(WORKSHOP, question) == said


LIBRARY = (
    "The library\n\nThe reading room is closed on Mondays. The airfield lies 35 kilometres north of the town. The annex"
    " is 300 metres from the river. Sheets are changed every third day. The roof was painted in 1990 and is grey."
    " Readers who lose more than three books pay a fine. Talks are given on Thursdays."
    " Guards search the hall for two hours. The shelf is 90 centimetres long and 40 centimetres wide."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When is the reading room closed?", "The reading room is closed on Mondays."),
        ("When was the reading room closed?", None),
        ("How far is the river from the town?", None),
        ("How far in advance are sheets changed?", None),
        ("How often are talks given?", "Talks are given on Thursdays."),
        ("How many books may readers lose?", None),
        ("How long is the hall?", None),
        ("What is the width of the shelf?", "The shelf is 90 centimetres long and 40 centimetres wide."),
        ("What is the depth of the shelf?", None),
    ],
)
def test_weekdays_repeat_and_extents_are_not_exchanged(question: str, said: str | None) -> None:
    assert answer(LIBRARY, question) == said


KENNEL = (
    "The kennel\n\nRex was in the yard for three days. The gecko is five hours old. The sledge goes 60 kilometres."
    " The van drives at 60 kilometres an hour. The logbook has 200 pages. The collar weighs 2 oz. The bell weighs 5g."
    " The muzzle weighs 12 lbs. The gate cost $5. Give the dog a tag and a name of at most nine letters."
    " A visitor may bring two bags of up to 9 kg each."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How old is the gecko?", "The gecko is five hours old."),
        ("How old was Rex?", None),
        ("How old is the gate?", None),
        ("How fast does the sledge go?", None),
        ("How long is the logbook?", "The logbook has 200 pages."),
        ("How thick is the logbook?", None),
        ("How long must the tag be?", None),
        ("How heavy is the collar?", "The collar weighs 2 oz."),
        ("How much does the muzzle weigh?", "The muzzle weighs 12 lbs."),
        ("How heavy is the bell?", "The bell weighs 5g."),
        ("How heavy may a bag be?", "A visitor may bring two bags of up to 9 kg each."),
    ],
)
def test_one_unit_tells_the_same_however_it_is_asked_for(question: str, said: str | None) -> None:
    assert answer(KENNEL, question) == said


TABLE = (
    "# Buildings\n\n"
    "| Tower | Height | Built in | Architect |\n|---|---|---|---|\n"
    "| Elm Tower | 30 m | 1817 | Mara Quist |\n| Oak Tower | 50 m | 1902 | Bo Li |\n\n"
    "# Holmby\n\nHolmby is a town.\n\n- Mayor: Ida Holm\n- Founded: 1410\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the height of Elm Tower?", "Elm Tower: Height: 30 m."),
        ("When was Oak Tower built?", "Oak Tower: Built in: 1902."),
        ("Which tower was built in 1902?", "Oak Tower: Built in: 1902."),
        ("Who is the architect of Oak Tower?", "Oak Tower: Architect: Bo Li."),
        ("Who is the mayor?", "Mayor: Ida Holm."),
        ("What is the height of Ash Tower?", None),
        ("When was Ash Tower built?", None),
        ("Who is in 1902?", None),
    ],
)
def test_a_labelled_value_answers_as_a_sentence(question: str, said: str | None) -> None:
    assert answer(TABLE, question, "table.md") == said


PRICES = (
    "| Model | Weight (kg) | Price (EUR) | Range (km) | Gears | Lamp | Heated | Colour | Bus |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
    "| Cargo Max | 38.5 | 4,299 | about 90 | 11 | yes | no | green | 9 |\n"
    "| Junior | 9.8 | 399 | | 0 | no | yes | red | 3 |\n\n"
    "| Course | Fee (%) | Level (A) |\n|---|---|---|\n| Pottery | 45 | none |\n\n"
    "| Hall | Price per hour | Length in m | ceiling_height_cm | built_in | rank_in_town |\n"
    "|---|---|---|---|---|---|\n| Elm Hall | 3 EUR | 25 | 410 | 1817 | 2 |\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the weight of the Cargo Max?", "Cargo Max: Weight (kg): 38.5."),
        ("How heavy is the Junior?", "Junior: Weight (kg): 9.8."),
        ("How much is the Cargo Max?", "Cargo Max: Price (EUR): 4,299."),
        ("What does the Junior cost?", "Junior: Price (EUR): 399."),
        ("How much does Elm Hall cost per hour?", "Elm Hall: Price per hour: 3 EUR."),
        ("What is the fee of Pottery?", "Pottery: Fee (%): 45."),
        ("How much is Pottery?", "Pottery: Fee (%): 45."),
        ("What colour is the Junior?", "Junior: Colour: red."),
        ("Which colour is the Cargo Max in?", "Cargo Max: Colour: green."),
        ("How many gears does the Cargo Max have?", "Cargo Max: Gears: 11."),
        ("What is the bus of the Junior?", "Junior: Bus: 3."),
        ("Does the Cargo Max have a lamp?", "Yes. Cargo Max: Lamp: yes."),
        ("Does the Junior have a lamp?", "No. Junior: Lamp: no."),
        ("Is the Junior heated?", "Yes. Junior: Heated: yes."),
        ("Is the Cargo Max heated?", "No. Cargo Max: Heated: no."),
        ("How long is Elm Hall?", "Elm Hall: Length in m: 25."),
        ("What is the ceiling height of Elm Hall?", "Elm Hall: ceiling_height_cm: 410."),
        ("What is the rank of Elm Hall in town?", None),
        ("When was Elm Hall built?", "Elm Hall: built_in: 1817."),
        ("How long is the Cargo Max?", None),
        ("How old is the Junior?", None),
        ("What is the range of the Junior?", None),
        ("How many lamps does the Junior have?", None),
        ("What colour is the Senior?", None),
        ("How funny is the Junior?", None),
    ],
)
def test_a_row_answers_however_its_column_is_asked_for(question: str, said: str | None) -> None:
    assert answer(PRICES, question, "table.md") == said


BRANCH = (
    "# Library\n\n## Opening hours\n\n- Monday to Thursday: 8 am to 6 pm\n- Sat: 9 am \u2013 1 pm\n- Sunday: closed\n\n"
    "## Telephone hours\n\n- Friday: 2 pm to 3 pm\n\n## Fees\n\n- Lost card: 5 €\n- **Printing fee:** 0.10 €\n\n"
    "| Name | Role | Phone |\n|---|---|---|\n| Ida Berg | Head librarian | 555-101 |\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When are you open on Saturdays?", "Sat: 9 am \u2013 1 pm."),
        ("when do you open on Tuesday", "Monday to Thursday: 8 am to 6 pm."),
        ("Are you open on Sunday?", "No. Sunday: closed."),
        ("When are you open on Friday?", None),  # the telephone is
        ("What are your opening hours on Monday?", "Monday to Thursday: 8 am to 6 pm."),
        ("What does a lost card cost?", "Lost card: 5 €."),
        ("What is the fee for a lost card?", "Lost card: 5 €."),
        ("How much is your printing fee?", "**Printing fee:** 0.10 €."),
        ("What is Ida Berg's phone number?", "Ida Berg: Phone: 555-101."),
        ("What is Tom Falk's phone number?", None),
        ("Who is the caretaker?", None),
    ],
)
def test_hours_fees_and_people_are_read_from_their_lists(question: str, said: str | None) -> None:
    assert answer(BRANCH, question, "library.md") == said


RULES = (
    "To clean the machine:\n\n1. Switch it off. The lamp goes out.\n2. Take out the grid. It is rinsed once a month.\n"
    "3. Fill the tank. A tank holds 2 litres.\n4. Close the lid.\n"
)


def test_each_sentence_of_a_step_answers() -> None:
    assert answer(RULES, "How often is the grid rinsed?", "rules.md") == "Take out the grid. It is rinsed once a month."
    assert answer(RULES, "How much does a tank hold?", "rules.md") == "A tank holds 2 litres."


def test_steps_keep_their_sentences_together() -> None:
    steps = answer(RULES, "How do I clean the machine?", "rules.md")
    assert steps
    assert steps.splitlines()[1] == "2. Take out the grid. It is rinsed once a month."


HIRE = (
    "| Bike | Hour | Day | Week | Seats |\n|---|---|---|---|---|\n"
    "| Tandem | £8 | £36 | – | 2 |\n| E-bike | £9 | £42 | £190 | 1 |\n\n"
    "| Day | Opens | Closes |\n|---|---|---|\n| Saturday | 9 am | 5 pm |\n| Sunday | closed | closed |\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much is a tandem for a day?", "Tandem: Day: £36."),
        ("How much is an e-bike per hour?", "E-bike: Hour: £9."),
        ("How much is a tandem for a week?", None),  # an empty cell
        ("How much is the tandem?", None),  # an hour or a day
        ("How much is a scooter for a day?", None),
        ("When do you close on Saturday?", "Saturday: Closes: 5 pm."),
        ("Are you open on Sunday?", "No. Sunday: Opens: closed."),
    ],
)
def test_a_cell_answers_if_its_row_and_column_are_named(question: str, said: str | None) -> None:
    assert answer(HIRE, question, "table.md") == said


def test_the_price_of_one_thing_is_not_that_of_a_part() -> None:
    text = "School fees for Wanjiru are 48,000 shillings a term.\n\nFor her brother Kamau we pay 35,500."
    assert answer(text, "How much is Kamau's school transport?") is None


def test_things_of_one_kind_are_told_apart_by_their_names() -> None:
    text = (
        "The height of Elm Tower is 30 m.\n\nThe height of Oak Tower is 50 m.\n\nThe mayor of North Holm is Ida Berg."
    )
    assert answer(text, "What is the height of Elm Tower?") == "The height of Elm Tower is 30 m."
    assert answer(text, "What is the height of Ash Tower?") is None
    assert answer(text, "Who is the mayor of South Holm?") is None


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        (
            "The ship leaves Kiel at 8. It passes the lock at 9.",
            "When does the ship leave Kiel?",
            "The ship leaves Kiel at 8.",
        ),
        ("Bob is 6. Carl is 7. Dora is 8.", "How old is Carl?", "Carl is 7."),
        ("Bus A leaves at 1. Bus B leaves at 2. Bus C is late.", "When does bus B leave?", "Bus B leaves at 2."),
    ],
)
def test_a_number_that_ends_a_sentence_stays_with_it(document: str, question: str, said: str) -> None:
    assert answer(document, question) == said


LAMPS = (
    "| Product | Price (EUR) |\n|---|---|\n| Lamp Aurora | 49.90 |\n| Lamp Borealis | 89.00 |\n\n"
    "| Shade | Price |\n|---|---|\n| Nimbus shade | 19 |\n| Stratus shade | 24 |\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much is Lamp Borealis?", "Lamp Borealis: Price (EUR): 89.00."),
        ("What is the price of Lamp Borealis?", "Lamp Borealis: Price (EUR): 89.00."),
        ("How much is the Aurora lamp?", "Lamp Aurora: Price (EUR): 49.90."),
        ("What is the price of Shade Stratus?", "Stratus shade: Price: 24."),
    ],
)
def test_rows_that_share_a_word_are_told_apart(question: str, said: str) -> None:
    assert answer(LAMPS, question, "lamps.md") == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What does the vegan dish cost?", "The vegan dish costs 6.20 euros."),
        ("What does the pump weigh?", "The pump weighs 1950 kg."),
        ("When does the bus leave?", "The bus leaves at 7.30."),
    ],
)
def test_a_measure_is_neither_a_year_nor_a_clock_time(question: str, said: str) -> None:
    text = "The vegan dish costs 6.20 euros. The pump weighs 1950 kg. The bus leaves at 7.30."
    assert answer(text, question) == said
