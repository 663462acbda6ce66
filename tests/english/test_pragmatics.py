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
from mrpvm.english.messages.kinds import is_task_request
from mrpvm.english.messages.pragmatics import act_of, role_of
from mrpvm.values import ACTS, PHASE_SCOPES, ROLES


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
