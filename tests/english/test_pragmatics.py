"""Acts, requests, roles, instructions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.english.messages.instructions import (
    guidance_scopes,
    is_instruction,
    is_session_wide,
    output_forms,
    without_form_phrases,
    without_reminder,
)
from mrpvm.english.messages.pragmatics import (
    act_of,
    direct_question,
    is_search,
    is_task_request,
    is_yes_no,
    orders_work,
    role_of,
)
from mrpvm.english.messages.small_talk import is_phatic
from mrpvm.values import ACTS, PHASE_SCOPES, ROLES


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("I wonder where Maria works.", "where Maria works?"),
        ("I'd like to know when the bakery opens", "when the bakery opens?"),
        ("I was wondering whether the keys are here.", "whether the keys are here?"),
        ("I wonder who wrote the letter.", "who wrote the letter?"),
        ("I want to know why she left.", "why she left?"),
        ("Do you know how many cats she has?", "how many cats she has?"),
        ("I wonder at the stars.", None),
        ("I know where Maria works.", None),
    ],
)
def test_indirect_questions_are_found(sentence: str, question: str | None) -> None:
    assert direct_question(sentence) == question


@pytest.mark.rule("INTENT-1", "BUILTIN-5")
@pytest.mark.parametrize(
    ("sentence", "act"),
    [
        ("Please compare rafts and tents.", "compare"),
        ("Can you explain rust?", "explain"),
        ("Set up the router.", "implement"),
        ("Verify the seal.", "verify"),
        ("Separate the parts.", "explain"),
        ("Show me the list", "explain"),
        ("Name the captain.", "identify"),
        ("Why does it fail?", "explain"),
        ("How do I reset it?", "explain"),
        ("How many legs has it?", "identify"),
        ("What is the difference between rafts and tents?", "compare"),
        ("Which pump is best?", "recommend"),
        ("What's wrong with the pump?", "diagnose"),
        ("What does quorum mean?", "define"),
        ("What is quorum?", "define"),
        ("Who owns the boat?", "identify"),
        ("Is the tissue dry?", "evaluate"),
        ("Birds fly south.", "explain"),
    ],
)
def test_acts(sentence: str, act: str) -> None:
    assert act_of(sentence) == act


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
    assert orders_work(message)


@pytest.mark.parametrize(
    "message",
    ["Draft horses are strong.", "Polish people live next door.", "Solve is a company in Oslo.",
     "Turn the lever into position.", "I need a new name.", "Make an appointment with the dentist.",
     "Plan B is the train"],
)  # fmt: skip
def test_statements_order_no_work(message: str) -> None:
    assert not orders_work(message)


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
    ["opening hours museum", "capital of Norway", "a haiku about slugs", "again but shorter", "three names for a cat"],
)
def test_searches(message: str) -> None:
    assert is_search(message)


@pytest.mark.parametrize(
    "message",
    ["gate code 4471", "Aunt Rosa: no nuts", "my blue bike", "left a drill at the mill", "Bacteria live on the roots",
     "The cat sleeps.", "Letter to Ada: sent", "mum's blue bike", "Recipe for bread\nflour 500 g\nwater 300 g"],
)  # fmt: skip
def test_statements_search_nothing(message: str) -> None:
    assert not is_search(message)


@pytest.mark.rule("BUILTIN-5")
def test_yes_no_questions_begin_with_an_auxiliary() -> None:
    assert is_yes_no("Is my dog called Rex?")
    assert not is_yes_no("Who is Rex?")


@pytest.mark.rule("BUILTIN-10")
@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("Step 1: open the valve.", "Procedure"),
        ("A valve is a device.", "Definition"),
        ("Rafts are cheaper than boats.", "Comparison"),
        ("A payload never exceeds 40 kg.", "Constraint"),
        ("Rust forms because iron meets water.", "Explanation"),
        ("The pump fails at night.", "Diagnostic"),
        ("Steel is preferred.", "Evaluation"),
        ("Anna travelled to Bern.", "Narrative"),
        ("The table has four legs.", "Description"),
    ],
)
def test_roles(text: str, role: str) -> None:
    assert role_of(text) == role


@pytest.mark.rule("BUILTIN-9")
@pytest.mark.parametrize(
    ("sentence", "scopes"),
    [
        ("Answer in JSON.", ("gs-plugin",)),
        ("Use bullet points.", ("gs-plugin",)),
        ("Keep it brief.", ("gs-plugin",)),
        ("Use a cheap plugin.", ("mrp-plan-plugin",)),
        ("Split the question into subtasks.", ("frame",)),
        ("Use evidence only.", ("val-plugin",)),
        ("Your answer must not mention Tom.", ("gs-plugin", "val-plugin")),
    ],
)
def test_instructions(sentence: str, scopes: tuple[str, ...]) -> None:
    assert is_instruction(sentence)
    assert guidance_scopes(sentence) == scopes


@pytest.mark.rule("BUILTIN-9")
@pytest.mark.parametrize(
    "sentence",
    ["The table has four legs.", "The list is in the drawer.", "Use the red valve.", "Split the wood.",
     "The plan is simple.", "Birds fly south.", "Who is on the list?"],
)  # fmt: skip
def test_plain_statements_are_no_instructions(sentence: str) -> None:
    assert not is_instruction(sentence)


@pytest.mark.rule("INTENT-12")
@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("one_word", ("one_word",)),
        ("yes_no", ("yes_no",)),
        ("json brief", ("json", "brief")),
        ("Who is Rex? Answer in one word.", ("one_word",)),
        ("List the crew as a table", ("table",)),
        ("Tell me step by step", ("step_by_step",)),
        ("Reply only with yes or no.", ("yes_no",)),
        ("The key is in the table by the list.", ()),
        (None, ()),
    ],
)
def test_output_forms(text: str | None, forms: tuple[str, ...]) -> None:
    assert output_forms(text) == forms


@pytest.mark.rule("BUILTIN-8")
def test_form_phrases_leave_the_target() -> None:
    assert without_form_phrases("What is Rex in one word?") == "What is Rex?"


@pytest.mark.rule("TURN-23")
@pytest.mark.parametrize(
    "text",
    ["For the rest of this session, be brief.", "From now on use metres.", "Remember that I live in Bern.",
     "Keep this throughout the session.", "This rule is session-wide.", "Persist this preference.",
     "Make this the default.", "make this default"],
)  # fmt: skip
def test_session_wide_wording(text: str) -> None:
    assert is_session_wide(text)
    assert is_session_wide(text.upper())


@pytest.mark.rule("TURN-23")
def test_ordinary_wording_is_not_session_wide() -> None:
    assert not is_session_wide("I remember the session well.")
    assert not is_session_wide(None)


def test_reminders_leave_what_they_remind_of() -> None:
    assert without_reminder("Remember that my dog is called Rex.") == "My dog is called Rex."
    assert without_reminder("Note: the pump is old.") == "The pump is old."
    assert without_reminder("Remembering is hard.") == "Remembering is hard."


@pytest.mark.rule("INTENT-1")
@given(st.text())
def test_every_text_has_an_act_a_role_and_scopes(text: str) -> None:
    assert act_of(text) in ACTS
    assert role_of(text) in ROLES
    assert set(guidance_scopes(text)) <= set(PHASE_SCOPES)
    assert isinstance(is_task_request(text), bool)
    assert isinstance(is_instruction(text), bool)
