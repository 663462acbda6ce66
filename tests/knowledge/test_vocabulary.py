"""The closed vocabularies are those of the specification."""

import pytest

from mrpvm.knowledge.decomposition import PREFERRED_ROLES_BY_ACT
from mrpvm.values import ACTS, DEFAULT_ACTS_BY_ROLE, PHASE_SCOPES, RELATIONS, ROLES

PREFERRED = """
compare: Comparison Evaluation
explain: Explanation Diagnostic Narrative
recommend: Comparison Evaluation Procedure
diagnose: Diagnostic Explanation
implement: Procedure Constraint
verify: Constraint Definition
define: Definition Explanation
evaluate: Evaluation Comparison Narrative
identify: Narrative Description Definition
describe: Description Narrative Explanation
"""
DEFAULTS = """
Comparison: compare
Explanation: explain
Procedure: implement
Definition: define
Evaluation: evaluate
Diagnostic: diagnose
Constraint: verify
Narrative: explain describe
Description: describe
"""


def table(text: str) -> dict[str, tuple[str, ...]]:
    rows = (line.partition(":") for line in text.strip().splitlines())
    return {name: tuple(words.split()) for name, _, words in rows}


@pytest.mark.rule("UNIT-3", "LANG-13", "INTENT-2")
def test_roles_that_an_act_prefers() -> None:
    assert table(PREFERRED) == PREFERRED_ROLES_BY_ACT
    assert set(ACTS) == set(PREFERRED_ROLES_BY_ACT)


@pytest.mark.rule("UNIT-2", "UNIT-4")
def test_acts_of_a_role() -> None:
    assert table(DEFAULTS) == DEFAULT_ACTS_BY_ROLE
    assert set(ROLES) == set(DEFAULT_ACTS_BY_ROLE)


@pytest.mark.rule("UNIT-5", "UNIT-6")
def test_scopes_and_relations() -> None:
    assert set(PHASE_SCOPES) == {"sd-plugin", "mrp-plan-plugin", "kb-plugin", "gs-plugin", "frame", "val-plugin"}
    relations = (
        "uses provides has_capability depends_on part_of instance_of relevant_for supports mentions about causes"
    )
    assert set(RELATIONS) == set(relations.split())
