"""The prompt that offers skills to a model, and the reading of its reply."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.assistants.skills import SkillSnapshot
from mrpvm.assistants.skills.choice import MOST_OFFERED, offered_skills, read_choice, request_for_choice
from mrpvm.wire import to_wire
from tests.commands.command_scene import text_skill, tool_skill

OFFERED = offered_skills(
    SkillSnapshot((
        tool_skill("add", "add", instructions="Adds."),
        text_skill("compare", summary="Side by side."),
        text_skill("summarise", summary="Shortens."),
    ))
)  # fmt: skip


def test_names_and_summaries_are_offered_and_no_instructions() -> None:
    assert [item.skill_name for item in OFFERED] == ["compare", "summarise"], "a tool's input is no free text"
    assert request_for_choice(OFFERED, "Shorten this.") == (
        "Skills:\n- compare: Side by side.\n- summarise: Shortens.\n\nMessage:\nShorten this."
    )


@pytest.mark.parametrize(
    ("reply", "skill", "reason", "problem"),
    [
        ('{"skill": "summarise", "reason": "It  asks\\nfor less."}', "summarise", "It asks for less.", ""),
        ('```json\n{"skill": "compare"}\n```', "compare", "", ""),
        ('{"skill": "none", "reason": "A plain question."}', None, "A plain question.", ""),
        ('{"skill": "Summarise"}', None, "", "The model named 'Summarise', which was not offered."),
        ('{"skill": "add"}', None, "", "The model named 'add', which was not offered."),
        ('{"skill": ["compare", "summarise"]}', None, "", "The model's reply names no skill in the form asked for."),
        ("summarise", None, "", "The model's reply names no skill in the form asked for."),
        ("}{", None, "", "The model's reply names no skill in the form asked for."),
    ],
)
def test_a_reply_names_one_skill_or_none(reply: str, skill: str | None, reason: str, problem: str) -> None:
    """The name must match exactly."""
    choice = read_choice(OFFERED, reply)
    assert (choice.skill.skill_name if choice.skill else None, choice.reason, choice.problem) == (
        skill, reason, problem,
    )  # fmt: skip
    assert choice.offered == ("compare", "summarise")


@given(st.one_of(st.text(), st.dictionaries(st.sampled_from(("skill", "reason", "x")), st.text()).map(json.dumps)))
def test_any_model_reply_chooses_a_skill_or_says_why_not(reply: str) -> None:
    choice = read_choice(OFFERED, reply)
    assert choice.skill is None or choice.skill in OFFERED
    assert choice.skill is None or not choice.problem
    json.dumps(to_wire(choice.offer))


def test_what_is_left_out_of_the_offer_is_counted() -> None:
    many = [text_skill(f"s{place:03}") for place in range(MOST_OFFERED + 3)]
    choice = read_choice(many, '{"skill": "s102"}')
    assert (choice.left_out_count, len(choice.offered), choice.skill) == (3, MOST_OFFERED, None)
    assert "s102" not in request_for_choice(many, "x")
    assert request_for_choice(many, "x" * 4_005).endswith("xxx\n[5 more characters are left out]")
