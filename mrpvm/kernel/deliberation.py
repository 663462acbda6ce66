"""Deliberation: what a level requires before a frame may close, and how its candidates are compared."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec import Struct

from mrpvm.contracts import Descriptor
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.stages.retrieve import EvidenceView
from mrpvm.kernel.stages.solve import Branch
from mrpvm.values import Answer, Evidence

Strength = Literal["weak", "sufficient", "strong"]
STRENGTHS: tuple[Strength, ...] = ("weak", "sufficient", "strong")
OBJECTIVE = ("validation_strength", "robustness", "cost", "diversity")
"""The comparison criteria, the most important first."""


class Policy(Struct, frozen=True, kw_only=True):
    """The conditions under which a frame may close."""

    level: int
    closure_mode: str
    max_frontier: int
    min_families: int
    max_comparisons: int
    validation_floor: Strength


POLICIES: Mapping[int, Policy] = {
    policy.level: policy
    for policy in (
        Policy(
            level=0, closure_mode="first_valid", max_frontier=1, min_families=1, max_comparisons=0,
            validation_floor="sufficient",
        ),
        Policy(
            level=1, closure_mode="best_effort", max_frontier=2, min_families=1, max_comparisons=1,
            validation_floor="sufficient",
        ),
        Policy(
            level=2, closure_mode="comparative", max_frontier=4, min_families=2, max_comparisons=2,
            validation_floor="sufficient",
        ),
        Policy(
            level=3, closure_mode="scientific", max_frontier=6, min_families=2, max_comparisons=4,
            validation_floor="strong",
        ),
    )
}  # fmt: skip


class AnswerCandidate(Struct, frozen=True, kw_only=True):
    """A result that no validator rejected, with its comparison criteria."""

    id: str
    branch: Branch
    answer: Answer
    planner_id: str
    family: str
    validation_id: str | None
    strength: Strength
    criteria: Mapping[str, int]

    @property
    def label(self) -> str:
        """Return the first 80 characters of the answer."""
        return self.answer.groups[0].answer_markdown[:80] if self.answer.groups else ""


def branch_signature(frame: Frame, view: EvidenceView, solver: Descriptor) -> str:
    """Return the structural signature of a branch; branches with equal signatures count as one alternative."""
    first = frame.seeds[0] if frame.seeds else None
    roles = Counter(entry.unit.role for item in view.evidence for entry in item.entries)
    role = min(roles, key=lambda name: (-roles[name], name), default="none")
    if not solver.uses_llm:
        kind = "external" if "external" in solver.tags else "symbolic"
    else:
        deep = solver.planner_hints is not None and solver.planner_hints.preferred_depth == "deep"
        kind = "llm-deep" if deep else "llm-fast"
    act = frame.intents[0].act if frame.intents else "none"
    mode, action = (first.mode, first.action) if first else ("direct", act)
    return "::".join((act, mode, action, kind, role, "source_grounded"))


def strength_of(answer: Answer, evidence: tuple[Evidence, ...], accepted_by_all: bool) -> Strength:
    """Return the strength of a result that no validator rejected.

    Args:
        accepted_by_all: at least one validator judged, and all that judged accepted.
    """
    sufficient = all(item.sufficient for item in evidence)
    answered = [group.status == "answered" for group in answer.groups]
    if accepted_by_all and sufficient and all(answered):
        return "strong"
    return "sufficient" if sufficient or any(answered) else "weak"


def criteria_of(answer: Answer, evidence: tuple[Evidence, ...], strength: Strength, llm_calls: int) -> dict[str, int]:
    """Return the comparison criteria of a result; the length of the text is not one of them.

    Diversity is the number of families of the answer's branches; an answer comes from one branch, so it is 1.
    """
    sources = {entry.unit.source_id for item in evidence for entry in item.entries}
    return {
        "validation_strength": STRENGTHS.index(strength),
        "robustness": sum(
            (
                all(item.sufficient for item in evidence),
                len(sources) >= 2,
                all(group.status == "answered" for group in answer.groups),
            )
        ),
        "cost": -llm_calls,
        "diversity": 1,
    }


@dataclass(slots=True, kw_only=True)
class Deliberation:
    """The state of a frame's deliberation: candidates, tried families, evidence seen, and whether to continue."""

    policy: Policy
    candidates: list[AnswerCandidate] = field(default_factory=list)
    families: set[str] = field(default_factory=set)
    views: list[EvidenceView] = field(default_factory=list)
    rejections: list[str] = field(default_factory=list)
    challenges: list[str] = field(default_factory=list)
    attempts_after_first: int = 0
    out_of_budget: bool = False

    @property
    def valid(self) -> list[AnswerCandidate]:
        """Return the candidates that reach the policy's minimum strength."""
        floor = STRENGTHS.index(self.policy.validation_floor)
        return [item for item in self.candidates if STRENGTHS.index(item.strength) >= floor]

    @property
    def covered_families(self) -> tuple[str, ...]:
        """Return the families that were tried, in alphabetical order."""
        return tuple(sorted(self.families))

    @property
    def branch_ids(self) -> tuple[str, ...]:
        """Return the branches whose results may be selected."""
        return tuple(item.branch.id for item in self.candidates)

    def note_attempt(self, family: str) -> None:
        """Remember that a branch of this family was run."""
        if self.candidates:
            self.attempts_after_first += 1
        self.families.add(family)

    def wants(self, *, family: str | None, llm_calls: int) -> bool:
        """Return whether to run one more alternative.

        Args:
            family: its signature; None if it is unknown until more evidence is retrieved.
            llm_calls: the number of model calls that it may take.
        """
        if not self.candidates:
            return True
        if len(self.candidates) >= self.policy.max_frontier or family in self.families:
            return False
        match self.policy.level:
            case 0:
                return False
            case 1:
                return self.attempts_after_first == 0 and llm_calls == 0
            case 2:
                return not self.valid or len(self.families) < self.policy.min_families
            case _:
                return True
