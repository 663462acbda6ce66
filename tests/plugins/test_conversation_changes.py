"""Corrections, changes and pronouns across messages."""

import pytest

from bench.evaluation.session import EvaluatedSession
from mrpvm.conversation.answers import UNDONE_TEXT
from mrpvm.english.messages.small_talk import FORGOTTEN_OPENING, REPLIES


def asked(*messages: str) -> str | None:
    """Return the answer to the last message without its citation, or None if there is none."""
    with EvaluatedSession() as session:
        for message in messages:
            outcome = session.say(message)
    assert outcome.answer is not None
    [group] = outcome.answer.groups
    return group.answer_markdown.removesuffix(" [1]") if group.status == "answered" else None


@pytest.mark.parametrize(
    ("told", "correction", "question"),
    [
        ("Standup is at 9:30.", "No, it is at 9:45.", "When is standup?"),
        ("The lesson is on Monday at ten.", "No, it is on Tuesday.", "When is the lesson?"),
        ("Our anniversary is on 12 June.", "No wait, 13 June.", "When is our anniversary?"),
        ("Peter is 34.", "I mean 43.", "How old is Peter?"),
        ("The shop opens at 9.", "Not 9, 10.", "When does the shop open?"),
        ("My interview is at 3.", "Oh sorry, at 4.", "When is my interview?"),
        (
            "I have a dentist appointment on Thursday.",
            "It was moved to Friday at 4.",
            "When is my dentist appointment?",
        ),
        ("Our next meeting is on 5 March.", "The meeting has been moved to 12 March.", "When is our next meeting?"),
    ],
)
def test_a_correction_is_told_with_what_it_sets_right(told: str, correction: str, question: str) -> None:
    assert asked(told, correction, question) == f"{told} {correction}"


@pytest.mark.parametrize(
    ("told", "correction", "question"),
    [
        ("My favourite colour is green.", "Actually my favourite colour is blue.", "What is my favourite colour?"),
        ("The dinner is at Mario's.", "Change of plan: the dinner is at Gino's.", "Where is the dinner?"),
        ("My cat is called Tom.", "That's wrong, my cat is called Tim.", "What is my cat called?"),
        ("The keys are in the drawer.", "Correction, the keys are on the shelf.", "Where are the keys?"),
        ("I live in Vienna.", "I now live in Rome.", "Where do I live?"),
        ("I live in Vienna.", "We moved to Rome.", "Where do I live?"),
        ("I weigh 82 kilos.", "I now weigh 79 kilos.", "How much do I weigh?"),
        ("Nora works in Hamburg.", "Since March Nora works in Kiel.", "Where does Nora work?"),
        ("I have two cats.", "I now have three cats.", "How many cats do I have?"),
        ("The train leaves at 9.", "The train now leaves at 10.", "When does the train leave?"),
        ("Our budget is 1,200.", "Actually, the budget is 1,500 now.", "What's our budget?"),
    ],
)
def test_the_newer_of_two_answers_is_given(told: str, correction: str, question: str) -> None:
    assert asked(told, correction, question) == correction


@pytest.mark.rule("BUILTIN-36")
@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        ("The choir sings at 7 pm.", "They moved the choir to 8 pm.", "When does the choir sing?"),
        ("I need 14 tiles.", "It turns out that 18 tiles are missing.", "How many tiles do I need?"),
        ("My boat is called Swan.", "I did not like Swan, so Heron is on it.", "What is my boat called?"),
        ("Vera is the captain of the team.", "Vera left and Ines was chosen.", "Who is the captain of the team?"),
        ("The fence is painted grey.", "Tom gave the fence a coat of green.", "What colour is the fence?"),
    ],
)
def test_a_later_message_that_may_change_a_fact_is_told_with_it(told: str, later: str, question: str) -> None:
    assert asked(told, "I like tea.", later, question) == f"{told} [1] Later: {later} [2]"


@pytest.mark.rule("BUILTIN-28")
def test_later_statements_on_the_same_are_evidence_to_a_limit() -> None:
    with EvaluatedSession() as session:
        for message in ("Swan lies in Oslo.", "I like tea.", *(f"Oslo has hotel {number}." for number in range(9))):
            session.say(message)
        answer = session.say("Where does Swan lie?").answer
    assert answer is not None
    said = [(entry.unit.text, entry.notes) for entry in answer.groups[0].evidence]
    later = [text for text, notes in said if notes == ("was told later than what was found",)]
    assert later == [f"Oslo has hotel {number}." for number in range(5, 9)]


def test_a_message_that_goes_on_is_told_with_the_later_one() -> None:
    told, later, on = "Vera is the captain of the team.", "Vera left.", "Ines took over from her."
    assert asked(told, later, on, "Who is the captain of the team?") == f"{told} [1] Later: {later} [2] {on} [3]"


def test_what_may_have_changed_gets_no_yes() -> None:
    told, later = "The choir sings at 7 pm.", "They moved the choir to 8 pm."
    assert asked(told, "Does the choir sing at 7 pm?") == f"Yes. {told}"
    assert asked(told, later, "Does the choir sing at 7 pm?") is None


def test_what_was_told_later_is_quoted_too() -> None:
    with EvaluatedSession() as session:
        for message in ("Anna has the blue bike for 40 days.", "It was cut to 25.", "Until when may Anna ride?"):
            outcome = session.say(message)
    assert outcome.answer is not None
    [group] = outcome.answer.groups
    assert group.basis == "quoted"
    assert group.answer_markdown.endswith("Anna has the blue bike for 40 days. [1] It was cut to 25. [2]")


def test_past_facts_answer_only_questions_of_the_past() -> None:
    assert asked("I live in Vienna.", "I now live in Rome.", "Do I live in Vienna?") is None
    assert asked("I live in Vienna.", "I now live in Rome.", "Where did I live before?") == "I live in Vienna."
    assert asked("We lived in Graz for six years.", "We moved to Rome.", "How long did we live in Graz?") is not None


@pytest.mark.parametrize(
    ("told", "other", "question"),
    [
        ("My cat is called Tom.", "Actually, my dog is called Max.", "What is my cat called?"),
        ("Tom works in Bern.", "Since March Nora works in Kiel.", "Where does Tom work?"),
        ("I live in Vienna.", "My sister now lives in Rome.", "Where do I live?"),
        ("The shop opens at 9.", "The bank was moved to Friday.", "When does the shop open?"),
        ("The party is at Tom's house.", "Actually the party is at 8.", "Where is the party?"),
        (
            "The shop opens at 9 on weekdays.",
            "The shop now opens at 10 on Sundays.",
            "When does the shop open on weekdays?",
        ),
    ],
)
def test_a_change_of_one_thing_leaves_the_other(told: str, other: str, question: str) -> None:
    assert asked(told, other, question) == told


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (("My sister Cleo lives in Bern.", "She has two kids.", "How many kids does Cleo have?"), "two kids"),
        (("The project is called Heron.", "Priya leads it.", "Who leads the project?"), "Priya leads it."),
        (("Tom fixed the login bug.", "Sara reviewed it.", "Who reviewed the login bug?"), "Sara reviewed it."),
        (("My boss is Ms Tan.", "She wants the slides by Monday.", "When does she want the slides?"), "by Monday"),
        (("My brother Jonas is a nurse.", "His wife teaches maths.", "What does Jonas's wife teach?"), "maths"),
        (("Ella is 34.", "How old is she?"), "Ella is 34."),
        (("Carlos is a chef.", "Is he a chef?"), "Yes. Carlos is a chef."),
        (("I bought a car.", "It is red.", "What colour is the car?"), "It is red."),
        (("She has a brother, Max.", "What is his name?"), "She has a brother, Max."),
        (("My daughter's name is Ines and she is six.", "How old is Ines?"), "she is six"),
        (("I am afraid of spiders.", "What am I afraid of?"), "spiders"),
        (("The hotel is called Miramar.", "It has a pool.", "Does it have a pool?"), "It has a pool."),
    ],
)
def test_a_pronoun_means_what_was_named_in_the_message_before(messages: tuple[str, ...], said: str) -> None:
    assert said in (asked(*messages) or "")


@pytest.mark.parametrize(
    "messages",
    [
        ("The meeting is at ten.", "She will be late.", "Will the meeting be late?"),
        ("Tom has a boat.", "Ben lost his key.", "Did Tom lose a key?"),
        ("My sister Cleo lives in Bern.", "It is raining.", "Is Cleo raining?"),
        ("My sister Cleo met Ida in Bern.", "The car is red.", "What colour is Cleo?"),
    ],
)
def test_a_pronoun_means_nothing_that_it_cannot_stand_for(messages: tuple[str, ...]) -> None:
    assert asked(*messages) is None


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("I have a call with Kim on Tuesday and with Lee on Friday.", "Do I have a call with Lee on Tuesday?", None),
        ("I have a call with Kim on Tuesday and with Lee on Friday.", "Do I have a call with Lee on Friday?", "Yes"),
        ("My parents live in Ghent and my brother lives in Lille.", "Do my parents live in Lille?", None),
        ("We had pizza on Monday and soup on Friday.", "Did we have soup on Monday?", None),
        ("We had pizza on Monday and soup on Friday.", "Did we have soup on Friday?", "Yes"),
        ("I gave Anna a book and Bert a game.", "Did I give Bert a book?", None),
        ("We eat at 7, but on Sundays at 6.", "Do we eat at 7 on Sundays?", None),
        ("I bought apples, pears and milk.", "Did I buy apples and milk?", "Yes"),
        ("I bought a red car and a blue bike for Anna.", "Did I buy a blue bike?", "Yes"),
    ],
)
def test_halves_of_two_parts_make_no_yes(told: str, question: str, said: str | None) -> None:
    assert asked(told, question) == (said and f"{said}. {told}")


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("I am thinking of selling the house.", "Did I sell the house?", None),
        ("I dreamed of winning the lottery.", "Did I win the lottery?", None),
        ("I have fewer than ten books.", "Do I have ten books?", None),
        ("The ticket costs at least 50 euros.", "Does the ticket cost 50 euros?", None),
        ("I prefer tea to coffee.", "Do I prefer coffee?", None),
        ("I prefer tea to coffee.", "Do I prefer tea?", "Yes"),
        ("I would rather have fish than meat.", "Would I rather have meat?", None),
        ("Maybe we will go to Crete in June.", "Are we going to Crete?", None),
        ("They say the bridge is closed.", "Is the bridge closed?", None),
        ("According to legend, a dragon built the castle.", "Did a dragon build the castle?", None),
        ("Rob is away this week.", "Is Rob here this week?", None),
        ("The light is off.", "Is the light off?", "Yes"),
        ("The light is off.", "Is the light on?", "No"),
    ],
)
def test_less_than_a_yes_is_none(told: str, question: str, said: str | None) -> None:
    assert asked(told, question) == (said and f"{said}. {told}")


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Lea refused to sign the contract.", "Did Lea sign the contract?"),
        ("Lea refused to sign the contract.", "Did Ben sign the contract?"),
        ("I forgot to call the bank.", "Did I call the bank?"),
        ("I almost missed the bus.", "Did I miss the bus?"),
        ("Tom managed to fix the pump.", "Did Tom fix the pump?"),
        ("Tom did not manage to fix the pump.", "Did Tom fix the pump?"),
        ("Tom wants to fix the pump.", "Did Tom fix the pump?"),
        ("Only Lisa has a key to the shed.", "Does Bob have a key to the shed?"),
        ("Only Lisa has a key to the shed.", "Does Bob have a key to the house?"),
        ("All my plants need water except the cactus.", "Does the cactus need water?"),
        ("All my plants need water except the cactus.", "Do all my plants need water?"),
        ("I bought apples but no pears.", "Did I buy pears?"),
    ],
)
def test_a_deed_left_undone_or_left_out_is_no_yes(told: str, question: str) -> None:
    assert asked(told, question) is None


@pytest.mark.parametrize(
    ("told", "question", "is_answered"),
    [
        ("I'm Catholic.", "What is my name?", False),
        ("I'm 29.", "How old am I?", True),
        ("Carlos is a chef.", "What does Carlos do?", True),
        ("My sister Clara lives in Porto. She is a nurse.", "What does my sister do for a living?", True),
        ("My sister Clara lives in Porto.", "What does my sister do for a living?", False),
        ("I am allergic to peanuts.", "What am I allergic to?", True),
        ("I am not allergic to peanuts.", "What am I allergic to?", False),
        ("My sister is allergic to peanuts.", "What am I allergic to?", False),
        ("The pump is red.", "What does the pump do?", False),
        ("My favourite colour is green.", "What's my favorite color?", True),
    ],
)
def test_everyday_wordings(told: str, question: str, *, is_answered: bool) -> None:
    assert asked(told, question) == (told if is_answered else None)


def test_a_request_to_remember_is_kept() -> None:
    assert asked("Could you note that the code is 1234?", "What is the code?") == "The code is 1234."
    assert asked("Can you remember my name?") is None


@pytest.mark.parametrize(
    ("told", "other", "question"),
    [
        ("Tom has three sons.", "No, four.", "How many sons does Tom have?"),
        ("I have 3 sons.", "Sorry, 4.", "How many sons do I have?"),
    ],
)
def test_a_number_is_set_right(told: str, other: str, question: str) -> None:
    assert asked(told, other, question) == f"{told} {other}"


@pytest.mark.parametrize(
    ("told", "other", "question"),
    [
        ("The rent is 900 euros.", "The rent is now due on Mondays.", "How much is the rent?"),
        ("The shop is open.", "The shop is now bigger.", "What is open?"),
        ("The code is 1234.", "I mean the door code.", "What is the code?"),
        ("Nora works in Hamburg.", "Nora now works late with Tom.", "Where does Nora work?"),
        ("I live in Vienna.", "I want to move to Rome.", "Where do I live?"),
        ("I live in Rome.", "My parents moved to Berlin.", "Where do I live?"),
    ],
)
def test_what_is_of_something_else_sets_nothing_right(told: str, other: str, question: str) -> None:
    assert asked(told, other, question) == told


def test_what_a_correction_says_is_no_template() -> None:
    assert asked("Peter is 34.", r"Not 34, 4\g<9>3.", "How old is Peter?") is not None
    assert asked("The lesson is on Monday.", r"It was moved to \g<9> on Friday.", "When is the lesson?") is not None


def test_asking_what_comes_before_is_no_past_question() -> None:
    told = ("The meeting is on 5 March.", "No wait, 6 March.")
    assert asked(*told, "When is the meeting before Easter?") != told[0]
    assert asked(*told, "When was the meeting before?") != told[0]
    assert asked("The pump is now used daily.", "How often is the pump used?") == "The pump is now used daily."


@pytest.mark.parametrize(
    ("told", "order", "question"),
    [
        ("I am allergic to nuts.", "Forget that I am allergic to nuts.", "What am I allergic to?"),
        ("My sister lives in Bern.", "Please forget about my sister.", "Where does my sister live?"),
        ("My address is 12 Mill Lane.", "Forget my address.", "What is my address?"),
    ],
)
def test_what_shall_be_forgotten_is_neither_stated_nor_quoted(told: str, order: str, question: str) -> None:
    with EvaluatedSession() as session:
        session.say(told)
        session.say("The bus leaves at nine.")
        assert told in session.say(question).answer_text
        assert session.say(order).answer_text.startswith(FORGOTTEN_OPENING)
        forgotten = session.say(question)
        assert forgotten.answer_status == "no-context"
        assert told not in forgotten.answer_text
        assert "nine" in session.say("When does the bus leave?").answer_text


@pytest.mark.parametrize("order", ["Forget that.", "please forget what I just said"])
def test_what_was_told_last_is_forgotten(order: str) -> None:
    with EvaluatedSession() as session:
        assert session.say(order).answer_text == REPLIES["forgets_unnamed"]
        session.say("The bus leaves at nine.")
        session.say("My code is 4711.")
        session.say("What is my code?")
        assert "4711" in session.say(order).answer_text
        assert session.say("What is my code?").answer_status == "no-context"
        assert "nine" in session.say("When does the bus leave?").answer_text


@pytest.mark.parametrize("order", ["Draw a cat", "Write a tale of the cat please."])
def test_an_order_gets_what_can_be_done_and_no_passage(order: str) -> None:
    with EvaluatedSession() as session:
        session.say("The cat is black and sleeps on the sofa.")
        assert session.say(order).answer_text == UNDONE_TEXT
        assert "black" in session.say("What colour is the cat?").answer_text


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("Anna lives in Bern.", "Anna lives where"),
        ("The bridge was built in 1990.", "the bridge was built when"),
        ("The red lamp costs 40 euros.", "the red lamp costs how much"),
        ("Anna owns the ferry.", "guess who owns the ferry"),
        ("Anna owns the ferry.", "You know who owns the ferry"),
        ("Can opener is in the drawer.", "where is the can opener"),
    ],
)
def test_a_question_without_a_mark_is_answered(told: str, question: str) -> None:
    assert asked(told, question) == told


@pytest.mark.parametrize("talk", ["2", "the red one", "Not that one", "<3", "That's not what I asked", "Never mind"])
def test_talk_is_not_kept(talk: str) -> None:
    with EvaluatedSession() as session:
        outcome = session.say(talk)
        assert (outcome.answer_text, outcome.staged_units) == (REPLIES["assent"], ())


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        (
            ("My grandmother was born in Krakow.", "She moved to Chicago.", "Where did she move?"),
            "My grandmother was born in Krakow. She moved to Chicago.",
        ),
        (
            (
                "My grandmother was born in Krakow.",
                "She worked as a teacher.",
                "Where was she born?",
                "What did she work as?",
                "Where was she born?",
            ),
            "My grandmother was born in Krakow.",
        ),
        (
            ("The server db-01 failed at 2:14.", "Maria restarted it at 2:40.", "Who restarted the server?"),
            "Maria restarted it at 2:40.",
        ),
        (
            ("Ada lives in Leeds.", "Bob lives in York.", "Where does Ada live?", "And Bob?", "Where does he live?"),
            "Bob lives in York.",
        ),
        (("Mimi is black and Loki is ginger.", "Is Loki ginger?"), "Yes. Mimi is black and Loki is ginger."),
        (("Mimi is black and Loki is ginger.", "Is Mimi ginger?"), None),
        (
            (
                "I have just moved from Bristol to a bright flat in Porto with my husband Nuno and two cats.",
                "What does my husband do?",
            ),
            None,
        ),
        (("Ada lives in Leeds.", "Bob lives in York.", "Who are Ada and Bob?", "Where does she live?"), None),
        (
            ("Ada lives in Leeds. Bob lives in York.", "Where does Ada live?", "Where does she live?"),
            "Ada lives in Leeds.",
        ),
        (
            ("Maria manages the station.", "Jonas restarted the pump.", "Who is Maria?", "Who restarted it?"),
            "Jonas restarted the pump.",
        ),
        (("My sister is called Ida.", "Who is my sister?"), "My sister is called Ida."),
        (("My sister is called Ida.", "Who is my brother?"), None),
        (("Our aunt Rosa worked as a nurse.", "What was her job?"), "Our aunt Rosa worked as a nurse."),
    ],
)
def test_one_that_was_named_is_known_again(told: tuple[str, ...], answer: str | None) -> None:
    assert asked(*told) == answer


@pytest.mark.parametrize("order", ["Please forget my address.", "Forget everything.", "forget it"])
def test_forgetting_an_unnamed_statement_is_declined(order: str) -> None:
    with EvaluatedSession() as session:
        session.say("I live in Hull.")
        declined = session.say(order)
        assert declined.answer_text.startswith("I forgot nothing.")
        assert not declined.staged_units
        assert session.say("Where do I live?").answer_text == "I live in Hull. [1]"
