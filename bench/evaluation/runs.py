"""Run suites and count: each story is loaded once, and its questions are asked in that session."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

from bench.evaluation.judging import Judgement, judge
from bench.evaluation.session import EvaluatedSession
from bench.evaluation.suites import VARIANTS, Suite, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """One variant of one suite with the judgement of every question."""

    suite_id: str
    variant: Variant
    judgements: tuple[Judgement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts and means over judgements."""

    count: int
    right: int
    wrong: int
    refused: int
    passed: int
    recall: float
    precision: float
    f1: float

    @property
    def pass_rate(self) -> float:
        """Return the share of right answers."""
        return self.right / self.count if self.count else 0.0


def run_suite(suite: Suite, variant: Variant = "original") -> SuiteRun:
    """Ask the questions of one variant in one session."""
    varied = suite.variant(variant)
    with EvaluatedSession() as session:
        session.load(varied.story, varied.story_name)
        judgements = tuple(judge(question, session.say(question.input)) for question in varied.questions)
    return SuiteRun(suite_id=suite.suite_id, variant=variant, judgements=judgements)


def run_all(suites: Iterable[Suite]) -> tuple[SuiteRun, ...]:
    """Ask every question of every suite in every variant."""
    return tuple(run_suite(suite, variant) for suite in suites for variant in VARIANTS)


def tally(judgements: Iterable[Judgement]) -> Tally:
    """Return the counts of some judgements."""
    judged = list(judgements)
    return Tally(
        count=len(judged),
        right=sum(item.outcome == "right" for item in judged),
        wrong=sum(item.outcome == "wrong" for item in judged),
        refused=sum(item.outcome == "refused" for item in judged),
        passed=sum(item.passed for item in judged),
        recall=mean(item.recall for item in judged) if judged else 0.0,
        precision=mean(item.precision for item in judged) if judged else 0.0,
        f1=mean(item.f1 for item in judged) if judged else 0.0,
    )


def by_variant(runs: Iterable[SuiteRun]) -> dict[Variant, Tally]:
    """Return one tally for each variant, over all suites."""
    every = list(runs)
    return {
        variant: tally(item for run in every if run.variant == variant for item in run.judgements)
        for variant in VARIANTS
    }
