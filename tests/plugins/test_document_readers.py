"""What readers ask of a document that speaks to nobody in particular: "my key", "do you have" [BP-36 b]."""

import pytest

from bench.evaluation.session import EvaluatedSession
from tests.plugins.document import answer

INN = (
    "The inn\n\n"
    "We are a small house with 36 beds in eleven rooms. The house has a sauna on the roof. "
    "Check-in starts at 14:00 and ends at 21:00. Check-out is until 11:00. "
    "Luggage can be stored in the attic. You can park your car behind the barn. "
    "Guests can bake their bread in the oven. "
    "Anna's boat can be moored at the pier. "
    "Your deposit is returned within a week. If you lose your key, you pay 25 euros. "
    "Whoever breaks a glass has to sweep the floor. Guests who smoke in bed are asked to leave. "
    "Tokens are sold at the bar. Blankets are available on request. The map hangs beside the stairs. "
    "We rent canoes for 18 euros. Renting a sledge costs 7 euros. We do not accept cash. "
    "Our phone number is 555 7100. In a storm at night, call Ida Holm, the night porter, on 555 7222. "
    "The owner of the mill is Max Roth. The lake warden is Lea Furrer. The author of the guest book is Tom Hay. "
    "A towel costs 2 euros, a robe 5 euros and a bathrobe 8 euros. "
    "Tents must not be pitched indoors. Postcards are available at the desk. To dispense tea, push the lever. "
    "To light the stove, open the flap and turn the wheel. Rooms are booked by phone. "
    "The path is limited to 20 walkers per hour. The porter answers within three minutes. "
    "Swimming is not allowed. You may camp in the yard. Dogs are not admitted, except guide dogs. Scanning is free. "
    "Lost lamps have to be paid for. Anyone who lives in the valley can become a friend of the inn. "
    "You can reach us by email at inn@lake.example. On Sundays a choir sings in the hall. "
    "The neighbours have a tennis court.\n"
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where can I store my luggage?", "Luggage can be stored in the attic."),
        ("Can we store our luggage?", "Yes. Luggage can be stored in the attic."),
        ("Where can I park my car?", "You can park your car behind the barn."),
        ("Can I bake my bread in the oven?", "Yes. Guests can bake their bread in the oven."),
        ("When is my deposit returned?", "Your deposit is returned within a week."),
        ("When do I get my deposit back?", "Your deposit is returned within a week."),
        ("What happens if I lose my key?", "If you lose your key, you pay 25 euros."),
        ("What is your phone number?", "Our phone number is 555 7100."),
        ("Do you rent canoes?", "Yes. We rent canoes for 18 euros."),
        ("How many beds do you have?", "We are a small house with 36 beds in eleven rooms."),
        ("Where can I park my boat?", None),
        ("Where can I moor my boat?", None),
        ("Where did I park my car?", None),
        ("Where is my car?", None),
        ("When is my key returned?", None),
        ("What happens if I lose my hat?", None),
        ("What is my phone number?", None),
        ("Do you rent tents?", None),
        ("Did you rent canoes?", None),
    ],
)
def test_who_asks_is_you_in_a_document_and_who_is_asked_is_we(question: str, said: str | None) -> None:
    assert answer(INN, question) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When can I check in?", "Check-in starts at 14:00 and ends at 21:00."),
        ("Until when can I check in?", "Check-in starts at 14:00 and ends at 21:00."),
        ("When do I have to check out?", "Check-out is until 11:00."),
        ("Where can I buy tokens?", "Tokens are sold at the bar."),
        ("Can I get a blanket?", "Yes. Blankets are available on request."),
        ("Where do I find the map?", "The map hangs beside the stairs."),
        ("How much does it cost to rent a canoe?", "We rent canoes for 18 euros."),
        ("How much does it cost to rent a sledge?", "Renting a sledge costs 7 euros."),
        ("Can I pay in cash?", "No. We do not accept cash."),
        ("Who owns the mill?", "The owner of the mill is Max Roth."),
        ("Who wrote the guest book?", "The author of the guest book is Tom Hay."),
        ("Is there a sauna?", "Yes. The house has a sauna on the roof."),
        ("Do you have a sauna?", "Yes. The house has a sauna on the roof."),
        ("How many rooms are there?", "We are a small house with 36 beds in eleven rooms."),
        ("What is the limit of the path?", "The path is limited to 20 walkers per hour."),
        ("How quickly does the porter answer?", "The porter answers within three minutes."),
        ("Is it allowed to swim?", "No. Swimming is not allowed."),
        ("Where can I buy a postcard?", "Postcards are available at the desk."),
        ("Can I pitch my tent indoors?", "No. Tents must not be pitched indoors."),
        ("Can I pitch my tent outdoors?", None),
        ("Is it allowed to camp?", "Yes. You may camp in the yard."),
        ("Is it allowed to sing?", None),
        ("Are dogs allowed?", "No. Dogs are not admitted, except guide dogs."),
        ("Can I bring my dog?", "No. Dogs are not admitted, except guide dogs."),
        ("How much does scanning cost?", "Scanning is free."),
        ("What is your email address?", "You can reach us by email at inn@lake.example."),
        ("Are cats allowed?", None),
        ("Can I bring my guide dog?", None),
        ("How much does copying cost?", None),
        ("What is my email address?", None),
        ("When can I sign in?", None),
        ("Where can I buy blankets?", None),
        ("Can I get a pillow?", None),
        ("How much does it cost to buy a canoe?", None),
        ("How much does it cost to rent a tent?", None),
        ("Can I pay in euros?", None),
        ("Who owns the inn?", None),
        ("Who manages the village?", None),
        ("Is there a tennis court?", None),
        ("Is there a sauna in the cellar?", None),
        ("How many floors are there?", None),
        ("How quickly does the warden answer?", None),
    ],
)
def test_services_are_asked_for_in_the_words_of_guests(question: str, said: str | None) -> None:
    assert answer(INN, question) == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What happens if I break a glass?", "Whoever breaks a glass has to sweep the floor."),
        ("What happens if I smoke in bed?", "Guests who smoke in bed are asked to leave."),
        ("What is the phone number for a storm?", "In a storm at night, call Ida Holm, the night porter, on 555 7222."),
        ("What is Ida Holm's phone number?", "In a storm at night, call Ida Holm, the night porter, on 555 7222."),
        ("How much is a robe?", "A towel costs 2 euros, a robe 5 euros and a bathrobe 8 euros."),
        ("What does a bathrobe cost?", "A towel costs 2 euros, a robe 5 euros and a bathrobe 8 euros."),
        ("How do I light the stove?", "To light the stove, open the flap and turn the wheel."),
        ("How do I dispense tea?", "To dispense tea, push the lever."),
        ("How do I book a room?", "Rooms are booked by phone."),
        ("Who is the lake warden?", "The lake warden is Lea Furrer."),
        ("What happens if I lose a lamp?", "Lost lamps have to be paid for."),
        ("What happens on Sundays?", "On Sundays a choir sings in the hall."),
        (
            "Who can become a friend of the inn?",
            "Anyone who lives in the valley can become a friend of the inn.",
        ),
        ("What happens if I find a lamp?", None),
        ("What happens on Mondays?", None),
        ("Who can become a porter?", None),
        ("What happens if I break a window?", None),
        ("What happens if I smoke on the roof?", None),
        ("What is the phone number for a fire?", None),
        ("What is the phone number of the porter?", None),
        ("What does a shirt cost?", None),
        ("How do I open the stove?", None),
        ("Who booked the rooms?", None),
        ("Who is the warden of the mill?", None),
    ],
)
def test_whom_a_rule_holds_for_and_what_a_list_leaves_out(question: str, said: str | None) -> None:
    assert answer(INN, question) == said


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Your dog is called Rex.", "What is my dog called?"),
        ("I can sing.", "Can you sing?"),
        ("I can sing.", "Is it allowed to sing?"),
        ("I have two cats.", "How many cats do you have?"),
        ("We have a pool.", "Do you have a pool?"),
    ],
)
def test_a_conversation_is_no_document(told: str, question: str) -> None:
    """Who talks says "you" to the assistant: its dog is not the dog of whoever asks."""
    with EvaluatedSession() as session:
        session.say(told)
        outcome = session.say(question)
    assert outcome.answer is not None
    assert outcome.answer.groups[0].status == "no-context"


def test_the_time_of_one_sentence_does_not_hold_in_the_next() -> None:
    text = "On Fridays the mill is open until four. The mill is closed at weekends and in the first two weeks of May."
    assert answer(text, "When is the mill closed on Fridays?") is None
    assert answer(text, "Where is the mill?") is None
