"""val-llm: a missing verdict is never an acceptance."""

import json
from copy import replace
from typing import Any

import pytest

from mrpvm.contracts import ValidateInput, Validation
from mrpvm.errors import ModelTimeout
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.plugins.response_validators.llm import LLMValidator
from mrpvm.testing import ScriptedModel, call_context, unit
from mrpvm.testing.conformance import solve_input


def judged(reply: Any, *, grounded: bool = True) -> tuple[Validation, ScriptedModel]:
    asked = solve_input("What is my dog called?", [unit("u-1", "My dog is called Rex.")])
    answer = SymbolicGoalSolver().solve(asked, call_context()).answer
    assert answer is not None
    answer = replace(answer, groups=tuple(replace(group, grounded=grounded) for group in answer.groups))
    model = ScriptedModel(reply)
    request = ValidateInput(message=asked.message, answer=answer, evidence=asked.evidence)
    return LLMValidator().validate(request, call_context(model=model)), model


@pytest.mark.rule("PLUGIN-15", "BUILTIN-46")
@pytest.mark.parametrize(
    ("reply", "status", "reason"),
    [
        ('{"verdict": "accepted", "reason": ""}', "accepted", ""),
        ('```json\n{"verdict": "rejected", "reason": "Rex\\n is a cat."}\n```', "rejected", "Rex is a cat."),
        ('{"verdict": "rejected"}', "rejected", "The model gave no reason."),
        ('Sure. {"verdict": "accepted", "reason": null} Bye.', "accepted", ""),
    ],
)
def test_a_verdict(reply: str, status: str, reason: str) -> None:
    verdict, _ = judged(reply)
    assert (verdict.status, verdict.reason, verdict.metadata.llm_calls) == (status, reason, 1)
    assert verdict.metadata.model_role == "validation"


@pytest.mark.rule("BUILTIN-46")
@pytest.mark.parametrize(
    "reply",
    ["accepted", "", "{", "{}", '{"verdict": "fine"}', '{"verdict": ["accepted"]}', '["accepted"]', '{"a"' * 3_000],
)
def test_anything_else_is_no_verdict(reply: str) -> None:
    verdict, _ = judged(reply or " ")
    assert verdict.error is not None
    assert (verdict.status, verdict.error.code, verdict.metadata.llm_calls) == ("error", "LLM_REPLY_INVALID", 1)


@pytest.mark.rule("PLUGIN-16")
def test_a_model_that_fails_gives_no_verdict() -> None:
    verdict, _ = judged(ModelTimeout("too slow"))
    assert verdict.error is not None
    assert (verdict.status, verdict.error.code) == ("error", "LLM_TIMEOUT")


@pytest.mark.parametrize("grounded", [True, False])
def test_the_model_sees_answer_and_evidence_side_by_side(grounded: bool) -> None:
    _, model = judged('{"verdict": "accepted"}', grounded=grounded)
    (group,) = json.loads(model.prompts[0].messages[0].content)["groups"]
    assert "Rex" in group["answer"]
    assert "My dog is called Rex." in group["context"][0]["text"]
    assert group["claimsGrounding"] is grounded
    assert "u-1" not in model.prompts[0].messages[0].content
