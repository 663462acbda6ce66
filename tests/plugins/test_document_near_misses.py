"""Statements that are close to a question but do not answer it: the reply is no-context."""

import pytest

from tests.plugins.document import answer


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("Tickets are sold out.", "Can I get a ticket?"),
        ("Your ticket is sold.", "Can I buy a ticket?"),
        ("The house is sold.", "Can I buy the house?"),
        ("Wine is sold to adults only.", "Where can I buy wine?"),
        ("Stamps were sold at the kiosk.", "Where can I buy stamps?"),
        ("Books are returned to the desk.", "Where can I get my book back?"),
        ("The application is accepted in writing.", "Can I pay in writing?"),
        ("We do not accept foreign cheques.", "Do you accept cheques?"),
        ("We do not accept foreign cheques.", "Can I pay by cheque?"),
        ("Rooms are not available in May.", "Are there rooms?"),
        ("Help is not available at night.", "Can I get help?"),
    ],
)
def test_what_is_sold_or_taken_is_not_always_for_whoever_asks(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("Parking in the yard is free.", "How much does parking in the street cost?"),
        ("Shipping to Germany is free.", "How much does shipping to France cost?"),
        ("Breakfast for children is free.", "How much does breakfast for adults cost?"),
        ("Admission is free for children under six.", "How much does admission cost for adults?"),
        ("Returns are free within 30 days.", "How much do returns cost after 30 days?"),
        ("The museum costs 10 euros. The museum is free for children.", "How much does the museum cost for adults?"),
        ("The doctor is free at nine.", "How much does the doctor cost?"),
        ("The bread is gluten free.", "How much is the bread?"),
        ("Room 5 is free.", "How much does room 5 cost?"),
        ("A coffee never costs 2 euros, a tea 1 euro.", "How much is a tea?"),
    ],
)
def test_free_is_a_price_only_of_what_costs_nothing(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("Our neighbour has a sauna.", "Do you have a sauna?"),
        ("The house next door has a pool.", "Is there a pool?"),
        ("The hotel opposite has a bar.", "Do you have a bar?"),
        ("Our sister hotel in Bern has a spa.", "Do you have a spa?"),
        ("The competitor has a hotline.", "Do you have a hotline?"),
        ("The annex has no kitchen.", "Is there a kitchen?"),
        ("Room 12 has no window.", "Is there a window?"),
        ("Rooms on the top floor have no shower.", "Do you have a shower?"),
        ("The house had mice.", "Are there mice?"),
        ("The hotel had a pool until 2019.", "Is there a pool?"),
        ("The house should have a pool.", "Is there a pool?"),
        ("Employees have a car.", "Do you have a car?"),
        ("Nobody has a key.", "Is there a key?"),
        ("Max has three sisters.", "How many sisters do you have?"),
        ("The hotel had 40 rooms in 1920.", "How many rooms do you have?"),
    ],
)
def test_what_others_have_or_had_is_not_here(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("Late applications are rejected.", "Is my application rejected?"),
        ("Accounts are locked after a year.", "Is my account locked?"),
        ("Cars without a permit will be towed.", "Will my car be towed?"),
        ("Visitors who are over 65 may enter free.", "Can I enter free?"),
        ("Users with admin rights can delete users.", "Can I delete users?"),
        ("Visitors with a badge may enter the lab.", "May I enter the lab?"),
        ("Guests of the hotel opposite can use our pool.", "Can I use your pool?"),
        ("Customers from abroad cannot pay by cheque.", "Can I pay by cheque?"),
        ("Passengers without a ticket may not board.", "Can I board?"),
        ("A member of staff can return books at night.", "Can I return my book at night?"),
        ("We do not ship glass.", "Do you ship?"),
        ("A guard can open the gate.", "May I open the gate?"),
        ("Doctors can park behind the clinic.", "Where can I park?"),
        ("A spider has eight legs.", "How many legs do you have?"),
    ],
)
def test_a_rule_for_some_is_none_for_whoever_asks(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("The luggage of the crew can be stored in the van.", "Where can I store my luggage?"),
        ("Hand luggage can be stored under the seat.", "Where can I store my luggage?"),
        ("Toy cars can be repaired at the shop.", "Where can I repair my car?"),
        ("Rental cars can be returned at night.", "Can I return my car?"),
        ("Tom's dogs are welcome.", "Can I bring my dog?"),
        ("Small dogs are allowed.", "Can I bring my dog?"),
        ("The boots in the hall can be used for free.", "Can I use my boots?"),
        ("Passwords of guests must never be changed.", "Must I change my password?"),
        ("Employees may park their cars in the yard. Visitors must park on the street.", "Where can I park my car?"),
        ("You must feed your dog twice a day.", "When do you feed my dog?"),
        ("You can cancel your booking until June.", "Until when can you cancel my booking?"),
        ("You cannot delete your account.", "Can you delete my account?"),
        ('Max told Lea: "You can park your car in the yard."', "Where can I park my car?"),
        ('"You are fired," said Tom to Max.', "Am I fired?"),
        ("Tom wrote to Lea that your car is in the yard.", "Where is my car?"),
    ],
)
def test_what_is_mine_is_not_what_somebody_else_has(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("Stolen bikes are never found.", "What happens if I steal a bike?"),
        ("Married couples can share a room.", "What happens if I marry a couple?"),
        ("Lost children can wait at the desk.", "What happens if I lose my child?"),
        ("For Tom's room, call Anna on 555 123 4567.", "What is Tom's phone number?"),
        (
            "In case of fire, call the fire brigade, then the caretaker on 555 123 4567.",
            "What is the phone number of the fire brigade?",
        ),
        ("To not lose data, save often.", "How do I lose data?"),
    ],
)
def test_what_happens_and_whom_to_call_is_what_is_said_of_it(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("The last train leaves at ten.", "When does the first train leave?", False),
        ("The last train leaves at ten.", "When does the last train leave?", True),
        ("Tom wrote the second report.", "Who wrote the first report?", False),
        ("Tom wrote the second report.", "Who wrote the report?", True),
        ("The front door is red.", "What colour is the back door?", False),
        ("The back door is red.", "What colour is the back door?", True),
        ("The captain of the red team is Max.", "Who is the captain of the blue team?", False),
        ("The captain of the red team is Max.", "Who is the captain of the red team?", True),
        ("The editor of the first edition was Max.", "Who edited the second edition?", False),
        ("Max painted the boat house.", "Who painted the boat?", False),
        ("Max painted the boat house.", "Who painted the boat house?", True),
        ("Max is the owner of the boat house.", "Who owns the boat?", False),
    ],
)
def test_one_of_a_kind_is_not_the_other(document: str, question: str, *, said: bool) -> None:
    assert answer(document, question) == (document if said else None)


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("The shop is closed.", "Is the shop open?", "No"),
        ("The shop is closed on Sundays.", "Is the shop open on Sundays?", "No"),
        ("The shop is closed on Sundays.", "Is the shop open?", None),
        ("The path is closed to dogs.", "Is the path open?", None),
        ("The car is old.", "Is the car new?", "No"),
        ("The form is not correct.", "Is the form wrong?", "Yes"),
        ("The soup is not hot.", "Is the soup cold?", None),
        ("The tower is not high.", "Is the tower low?", None),
    ],
)
def test_a_contrary_denies_in_one_direction(document: str, question: str, said: str | None) -> None:
    assert answer(document, question) == (said and f"{said}. {document}")


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        ("Room 4 has a balcony.", "Do the rooms have a balcony?", None),
        ("Room 4 has a balcony.", "Does room 4 have a balcony?", "Yes"),
        ("The 12 rooms have a balcony.", "Do the rooms have a balcony?", "Yes"),
        ("Tom's dogs are welcome.", "Are dogs welcome?", None),
        ("Tom's dogs are welcome.", "Are Tom's dogs welcome?", "Yes"),
    ],
)
def test_one_of_them_is_not_all_of_them(document: str, question: str, said: str | None) -> None:
    assert answer(document, question) == (said and f"{said}. {document}")


MANUAL = (
    "# Manual\n\n## Installing the app on Linux\n\n1. Open the terminal.\n2. Run the script.\n\n"
    "## Reset the router\n\n1. Press the button.\n2. Wait ten seconds.\n\n"
    "## Printing\n\nTo print a label on Linux, open the queue.\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How do I install the app on Linux?", "Open the terminal. Run the script."),
        ("How do I install the app?", "Open the terminal. Run the script."),
        ("How do I install the app on Windows?", None),
        ("How do I print a label on Linux?", "To print a label on Linux, open the queue."),
        ("How do I print a label on Windows?", None),
    ],
)
def test_steps_for_one_case_are_not_those_for_another(question: str, said: str | None) -> None:
    assert answer(MANUAL, question, "manual.md") == said


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("The monthly fee will rise by 4 percent.", "What is the monthly fee?"),
        ("The monthly fee will rise by 4 percent.", "How much is the monthly fee?"),
        ("The price rose by 3 euros.", "How high is the price?"),
        ("The population fell by 12 percent.", "What is the population?"),
        ("The blue model costs 20 euros more than the red one.", "How much does the blue model cost?"),
        ("The new bridge is 20 metres longer than the old one.", "How long is the new bridge?"),
        ("Ben is two years older than Tom.", "How old is Ben?"),
        ("The architect proposed a tower of 90 metres.", "How high is the tower?"),
        ("Karl was director of the theatre from 1990 to 2001.", "Who is the director of the theatre?"),
        ("Tickets will cost 15 euros from next year.", "How much do tickets cost?"),
    ],
)
def test_differences_plans_and_past_values_are_not_current(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    ("document", "question"),
    [
        ("The roof of the church was renewed in 1990.", "When was the church renewed?"),
        ("The door of the garage is made of wood.", "What is the garage made of?"),
        ("The tyres of the car are made in Japan.", "Where is the car made?"),
        ("The court rejected the appeal.", "Who appealed?"),
        ("The board rejected the proposal to build a fence.", "Who proposed to build a fence?"),
        ("The members discussed whether the shop should be closed.", "Is the shop closed?"),
        ("Most employees have a phone.", "Does every employee have a phone?"),
        ("Not all students passed the exam.", "Did any students pass the exam?"),
    ],
)
def test_a_part_a_debate_and_some_are_not_the_whole(document: str, question: str) -> None:
    assert answer(document, question) is None


@pytest.mark.parametrize(
    "question", ["Did the audit cost more than 30,000 dollars?", "Did the audit cost at least 30,000 dollars?"]
)
def test_another_number_does_not_deny_a_limit(question: str) -> None:
    assert answer("The audit cost 40,000 dollars.", question) is None
