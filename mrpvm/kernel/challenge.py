"""Challenges: an answer that is not yet strong is checked against further evidence."""

from copy import replace
from functools import reduce

from mrpvm.kernel.calls import Execution, Program
from mrpvm.kernel.deliberation import AnswerCandidate, Deliberation, criteria_of, strength_of
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.retrieve import EvidenceView, Retrievals, next_view
from mrpvm.kernel.stages.validate import validate
from mrpvm.trace.details import FrameState
from mrpvm.trace.events import ChallengeMade
from mrpvm.values import Evidence, EvidenceEntry


def challenge_selection(
    run: TurnRun,
    frame: Frame,
    state: Deliberation,
    selected: AnswerCandidate,
    retrievals: Retrievals | None,
    last: Execution | None,
) -> Program[Execution | None]:
    """Challenge a leader below `strong`; return the frame's last execution.

    A child frame asks the remaining retrievers and checks the answer against all evidence of the frame. The leader
    gets a new strength, or is removed from the candidates and replaced by the next one. Without further evidence the
    challenge stays open.
    """
    if selected.strength == "strong":
        return last
    challenge_id = frame.control_id("chal")
    state.challenges.append(challenge_id)
    others = [view for view in state.views if view is not selected.branch.view]
    remaining = retrievals is not None and bool(retrievals.remaining)
    if not (remaining or others) or not run.may_open_child(frame):
        _record(run, frame, challenge_id, selected, "open")
        return last
    child = frame.child("challenge", frame.intents, frame.seeds)
    child.decomposed, child.profiles = frame.decomposed, frame.profiles
    run.open_frame(child, last.id if last else None, {"challenge": selected.label})
    cause = None
    if retrievals is not None and remaining:
        fresh = yield from next_view(
            run, child, Retrievals(remaining=retrievals.remaining, slot=child.next_slot()), None
        )
        if fresh is not None:
            others.append(fresh)
            cause = fresh.execution.then("flow")
    branch = replace(selected.branch, view=reduce(_merged, others, selected.branch.view))
    verdict = yield from validate(run, child, selected.answer, branch.view.evidence, cause)
    run.close_frame(child, "succeeded", "policy_satisfied", FrameState(rejected_by=verdict.rejected_by))
    place = state.candidates.index(selected)
    if verdict.rejected_by is not None:
        del state.candidates[place]
        state.rejections.append(verdict.reason)
    else:
        strength = strength_of(selected.answer, branch.view.evidence, verdict.accepted_by_all)
        criteria = criteria_of(selected.answer, branch.view.evidence, strength, -selected.criteria["cost"])
        state.candidates[place] = replace(selected, branch=branch, strength=strength, criteria=criteria)
    _record(run, frame, challenge_id, selected, "resolved")
    return verdict.last


def _record(run: TurnRun, frame: Frame, challenge_id: str, target: AnswerCandidate, status: str) -> None:
    run.emit(
        ChallengeMade(
            challenge_id=challenge_id,
            frame_id=frame.id,
            target_id=target.id,
            label=f"challenge of {target.id}",
            kind="evidence",
            severity=target.strength,
            prompt=f"Does further evidence bear this out: {target.label}",
            status=status,
        )
    )


def _merged(view: EvidenceView, more: EvidenceView) -> EvidenceView:
    """Return the first view with the entries of the other added for each intent, each unit once."""
    others = {item.intent.id: item for item in more.evidence}
    evidence = tuple(
        _joined(item, others[item.intent.id]) if item.intent.id in others else item for item in view.evidence
    )
    return replace(view, evidence=evidence, sufficient=view.sufficient or more.sufficient)


def _joined(one: Evidence, other: Evidence) -> Evidence:
    def added(first: tuple[EvidenceEntry, ...], second: tuple[EvidenceEntry, ...]) -> tuple[EvidenceEntry, ...]:
        known = {entry.unit.id for entry in one.entries}
        return first + tuple(entry for entry in second if entry.unit.id not in known)

    return replace(
        one,
        current_turn_units=added(one.current_turn_units, other.current_turn_units),
        session_units=added(one.session_units, other.session_units),
        kb_units=added(one.kb_units, other.kb_units),
        sufficient=one.sufficient or other.sufficient,
    )
