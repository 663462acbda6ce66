"""Comparison of candidates: dominance, selection, comparison records, and the closure reason."""

from collections.abc import Sequence

from msgspec import Struct

from mrpvm.kernel.deliberation import OBJECTIVE, AnswerCandidate, Deliberation


class Comparison(Struct, frozen=True, kw_only=True):
    """The selected candidate compared with another; `criterion` decided, None if they are equal in all criteria."""

    selected: AnswerCandidate
    other: AnswerCandidate
    criterion: str | None

    @property
    def is_open(self) -> bool:
        """Return whether no criterion decides between the two."""
        return self.criterion is None

    @property
    def summary(self) -> str:
        """Return the outcome in words."""
        if self.criterion is None:
            return "Both are equal on every criterion; the earlier one was taken."
        ours, theirs = self.selected.criteria[self.criterion], self.other.criteria[self.criterion]
        return f"Decided by {self.criterion}: {ours} against {theirs}."


def dominates(one: AnswerCandidate, other: AnswerCandidate) -> bool:
    """Return whether `one` is worse than `other` in no criterion and better in at least one."""
    pairs = [(one.criteria[name], other.criteria[name]) for name in OBJECTIVE]
    return all(mine >= theirs for mine, theirs in pairs) and any(mine > theirs for mine, theirs in pairs)


def undominated(candidates: Sequence[AnswerCandidate]) -> list[AnswerCandidate]:
    """Return the candidates that no other candidate dominates, in order."""
    return [item for item in candidates if not any(dominates(other, item) for other in candidates)]


def select(candidates: Sequence[AnswerCandidate]) -> AnswerCandidate:
    """Return the best undominated candidate by the order of criteria; of equal ones the earlier."""
    return max(undominated(candidates), key=lambda item: [item.criteria[name] for name in OBJECTIVE])


def compare(selected: AnswerCandidate, candidates: Sequence[AnswerCandidate], limit: int) -> list[Comparison]:
    """Return the comparisons of the selected candidate with the others, at most `limit`."""
    others = [item for item in candidates if item is not selected]
    return [
        Comparison(
            selected=selected,
            other=other,
            criterion=next((name for name in OBJECTIVE if selected.criteria[name] != other.criteria[name]), None),
        )
        for other in others[:limit]
    ]


class Closure(Struct, frozen=True, kw_only=True):
    """Why a frame closes, and its open questions."""

    reason: str
    open_questions: tuple[str, ...]


def closure_of(state: Deliberation, selected: AnswerCandidate | None, comparisons: Sequence[Comparison]) -> Closure:
    """Return the closure reason; only partial closures list open questions."""
    questions = tuple(_open_questions(state, selected, comparisons))
    policy = state.policy
    met = selected is not None and selected in state.valid
    if policy.level >= 2:
        met = met and len(state.families) >= policy.min_families
    if policy.level >= 3:
        met = met and not any(item.is_open for item in comparisons)
    if not met:
        return Closure(
            reason="budget_exhausted" if state.out_of_budget else "frontier_exhausted", open_questions=questions
        )
    if state.rejections:
        return Closure(reason="validation_fallback", open_questions=questions)
    rivals = [item for item in state.candidates if item is not selected]
    if selected is not None and rivals and all(dominates(selected, rival) for rival in rivals):
        return Closure(reason="dominance_clear", open_questions=questions)
    return Closure(reason="policy_satisfied", open_questions=questions)


def _open_questions(
    state: Deliberation, selected: AnswerCandidate | None, comparisons: Sequence[Comparison]
) -> list[str]:
    """Return one plain sentence for each obligation that is not met."""
    policy, questions = state.policy, []
    if selected is None:
        questions.append("No answer held; the evidence did not decide the question.")
    elif selected not in state.valid:
        questions.append(f"The answer is {selected.strength}; the level asks for {policy.validation_floor}.")
    if policy.level >= 2 and len(state.families) < policy.min_families:
        questions.append(
            f"Only {len(state.families)} of {policy.min_families} independent ways to an answer could be tried."
        )
    questions.extend(f"A rival answer was rejected: {reason}" for reason in state.rejections)
    questions.extend(
        f"A rival answer is as good on every criterion: {item.other.label}" for item in comparisons if item.is_open
    )
    return questions
