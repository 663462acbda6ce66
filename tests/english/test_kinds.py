"""What sentences of messages do: they ask, order, state something or are only talk."""

import pytest

from mrpvm.english.messages.kinds import direct_question, is_task_request, is_yes_no, kind_of
from mrpvm.english.messages.small_talk import is_phatic


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("I wonder where Maria works.", "where Maria works?"),
        ("I'd like to know when the bakery opens", "when the bakery opens?"),
        ("I was wondering whether the keys are here.", "whether the keys are here?"),
        ("I wonder who wrote the letter.", "who wrote the letter?"),
        ("I want to know why she left.", "why she left?"),
        ("Do you know how many cats she has?", "how many cats she has?"),
        ("You know who owns the Kestrel", "who owns the Kestrel?"),
        ("guess who owns it", "who owns it?"),
        ("Maria lives where", "where Maria lives?"),
        ("the bridge was built when", "when the bridge was built?"),
        ("the red one costs how much", "how much the red one costs?"),
        ("I wonder at the stars.", None),
        ("I know where Maria works.", None),
        ("Nobody knows when", None),
        ("They met who knows where.", None),
    ],
)
def test_indirect_questions_are_found(sentence: str, question: str | None) -> None:
    assert direct_question(sentence) == question


@pytest.mark.rule("BUILTIN-7")
@pytest.mark.parametrize(
    "sentence",
    ["Where is X?", "where is x", "Explain rust.", "Please list the crew", "is the sky blue", "You did what?",
     "Tell me about rust", "Did she go", "how many legs", "Check the valves.", "Write me a poem about the sea",
     "Please write a short story.", "Teach us Latin.", "The queen would eventually gain what throne",
     "Besides the lamp, did Otto sell anything", "In spring, where are the boats kept",
     "The vaults are an example of what kind of building that nobody lives in", "List everything that Beth did.",
     "Sum up the voyage.", "Take us through the voyage.", "Follow the parcel from the depot to the door.",
     "tl;dr of the voyage", "short summary of what they decided", "differences between the rafts and the tents",
     "in short, why did it sink"],
)  # fmt: skip
def test_requests(sentence: str) -> None:
    assert is_task_request(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["Nobody knows what kind of lamp it was", "Otto saw what became of it", "In spring, the boats are kept outside",
     "Birds fly south.", "When it stalls, drain it.", "Where there is smoke, there is fire.", "Do not open the valve.",
     "Don't touch it.", "May 5 was wet.", "Will Smith is an actor.", "Check valves are closed.",
     "List prices have risen.", "The sums add up.", "Name: Rex", "Separate the parts.", "Open the valve.",
     "Write the number on the label.", "Call me Sam.", "Draft letters are kept.", "I know what.",
     "We ate what we had, which was little.", "In what became a tradition, they met in May.",
     "A summary of the meeting was sent to all.", "In short, we lost.", "The difference between us is my age.",
     "Follow the path to the mill.", "Anna, who did the work, was paid.", "The war, in which many died, was long."],
)  # fmt: skip
def test_statements(sentence: str) -> None:
    assert not is_task_request(sentence)


@pytest.mark.parametrize(
    "message",
    ["Translate 'guten Tag' into English", "Could you shorten this?", "Draft an apology", "Sort these by date.",
     "Convert 14 stone to kilograms", "I need you to rewrite the last part", "Let's make a packing list for Oslo",
     "Make it shorter", "pretend you're my boss", "I want a slogan for my shop"],
)  # fmt: skip
def test_orders_for_work(message: str) -> None:
    assert kind_of(message) == "order"


@pytest.mark.parametrize(
    "message",
    ["Draft horses are strong.", "Polish people live next door.", "Solve is a company in Oslo.",
     "Turn the lever into position.", "I need a new name.", "Make an appointment with the dentist.",
     "Plan B is the train"],
)  # fmt: skip
def test_statements_order_no_work(message: str) -> None:
    assert kind_of(message) == "statement"


@pytest.mark.parametrize(
    "sentence", ["lol no way", "hmmmm", "Thanks, that saved me an hour.", "haha fair enough", "wow did not expect that"]
)
def test_reactions_state_nothing(sentence: str) -> None:
    assert is_phatic(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Thanks, the meeting moved.",
        "ugh my laptop died",
        "oops room 12",
        "Thanks, it is Tom's.",
        "cheers: a pub in Oslo",
    ],
)
def test_reactions_before_a_fact_state_it(sentence: str) -> None:
    assert not is_phatic(sentence)


@pytest.mark.parametrize(
    "message",
    ["opening hours museum", "capital of Norway", "notice period", "minutes from end to end", "and the price",
     "any vegetarian options on the menu", "the wifi password", "my sister's birthday", "the name of Tom's wife"],
)  # fmt: skip
def test_searches(message: str) -> None:
    assert kind_of(message, is_alone=True) == "question"
    assert kind_of(message) == "statement"


@pytest.mark.parametrize("message", ["a haiku about slugs", "again but shorter", "three names for a cat"])
def test_a_message_may_only_name_the_text_to_write(message: str) -> None:
    assert kind_of(message, is_alone=True) == "order"
    assert kind_of(message) == "statement"


@pytest.mark.parametrize(
    "message",
    ["gate code 4471", "Aunt Rosa: no nuts", "my blue bike", "left a drill at the mill", "Bacteria live on the roots",
     "The cat sleeps.", "Letter to Ada: sent", "mum's blue bike",
     "is moved to Monday", "is closed this week", "is told twice now.", "my sister, Ada, is a nurse in Oslo",
     "Recipe for bread\nflour 500 g\nwater 300 g"],
)  # fmt: skip
def test_statements_search_nothing(message: str) -> None:
    assert kind_of(message, is_alone="\n" not in message) == "statement"


@pytest.mark.rule("BUILTIN-5")
def test_yes_no_questions_begin_with_an_auxiliary() -> None:
    assert is_yes_no("Is my dog called Rex?")
    assert not is_yes_no("Who is Rex?")


@pytest.mark.parametrize(
    "message",
    ["its owner is who", "she was married to who before", "isn't it blue", "haven't we met",
     "isnt it closed on mondays", "Anna bought a lamp didn't she", "he resigned, did he",
     "the pressure is low, is that normal", "you take cards, right", "whats the price", "What time is it",
     "Will the shop that is closed open again",
     "Can anyone tell if it is late", "what my sister does", "What people live there", "I have no clue how it works",
     "can't remember where I put the keys", "anyone know the code", "is it open or not", "Should I call, or wait",
     "Will Grant come to the party", "was Anna born in Leeds", "I need to know the price", "have you seen the film",
     "is used oil taken back", "is dried fish on the menu today", "is 7z supported",
     "I'm not a member, are guests allowed"],
)  # fmt: skip
def test_questions_need_no_mark(message: str) -> None:
    assert kind_of(message) == "question"


@pytest.mark.parametrize(
    "message",
    ["Will is tall", "May is a month", "May works at the bank",
     "Will can't have penicillin", "What I like is tea",
     "What nobody knew was that the firm had closed.", "How we met is a long story", "Can opener is in the drawer",
     "did my exam in june, got a B", "Draw results: Leeds 3, Hull 1.", "Check 2041 bounced, Ida owes us 310",
     "Schedule for the ward changed: nights are from nine", "I know who broke the window, it was Tom",
     "Don't open the valve.", "Haven't seen Tom today", "They left and so did he", "Guess what, I got the job",
     "I'm 29.", "Note that Ida is away", "School sent a text, the play is off",
     "Nobody knows who he was married to", "May and June are busy",
     "Should arrive on Friday", "was born in Leeds", "have been to Rome", "am moving to York", "Call me Sam.",
     "What to bring: towels", "my birthday is tomorrow"],
)  # fmt: skip
def test_statements_may_look_like_questions_or_orders(message: str) -> None:
    assert kind_of(message, is_alone=True) == "statement"


@pytest.mark.parametrize(
    "message",
    ["Write something about ships.", "Draw a cat", "Count to ten", "count down from ten", "Stop", "Be more polite.",
     "send me the list again",
     "Would you mind checking this?", "Why don't you write me a toast", "I'd love a haiku about rain.",
     "It'd be great if you walked me through it.", "In English, please.", "No more emojis in your answers, thanks.",
     "now do the same in German", "wedding toast, two minutes, funny", "if possible, a translation of this",
     "say that again", "Move that paragraph up", "Stop sending me reminders", "same for Tom",
     "a bit shorter, please", "could you help me", "Set an alarm for 7", "don't ask me again"],
)  # fmt: skip
def test_orders_of_a_message(message: str) -> None:
    assert kind_of(message, is_alone=True) == "order"


@pytest.mark.parametrize("message", ["Draw the blinds", "Rinse it", "Press the red button"])
def test_an_imperative_in_a_longer_message_is_a_step(message: str) -> None:
    assert kind_of(message, is_alone=True) == "order"
    assert kind_of(message) == ("order" if message.startswith("Draw") else "statement")


@pytest.mark.parametrize(
    "message",
    ["Rinse the rice three times or it is bitter", "Park behind the bakery on Mondays", "Call the vet before Thursday",
     "Pick up the suit, ticket 2207", "work as a nurse"],
)  # fmt: skip
def test_notes_of_what_is_to_be_done_are_kept(message: str) -> None:
    assert kind_of(message, is_alone=True) == "statement"


@pytest.mark.parametrize(
    "message",
    ["Never mind", "never mind, found it", "That's not what I asked", "<3", "1", "asdf", "the red one", "number two",
     "2", "Not that one", "You're welcome.", "you are so funny", "I was just about to say that", "What a day!",
     "who cares", "ok that makes sense", "hold on", "let's see", "You already told me that twice.",
     "sorry wrong window", "no worries", "Forget it", "brb", "thank you kindly dear, you're a great help",
     "so funny", "wrong again", "of course not", "how nice", "I don't get it.", "aaaa", "no idea", "take your time"],
)  # fmt: skip
def test_talk(message: str) -> None:
    assert kind_of(message, is_alone=True) == "talk"


@pytest.mark.parametrize(
    "message",
    ["you need the blue key for the shed", "You are speaking with Anna", "that is Tom's bike", "it is broken",
     "I am ill", "the red one is broken", "Sorry, I meant the ferry", "number two is broken", "no, 13 June"],
)  # fmt: skip
def test_what_names_something_is_no_talk(message: str) -> None:
    assert kind_of(message, is_alone=True) == "statement"
