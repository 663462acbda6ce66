"""Validate: calls all registered validators, cheap ones first, until the first rejection."""

from functools import partial

from msgspec import Struct

from mrpvm.contracts import ValidateInput
from mrpvm.kernel.calls import Call, Execution, Program, call_plugin
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.trace.events import Cause
from mrpvm.values import Answer, Evidence

STAGE = "validation"
_COSTS = ("cheap", "moderate", "expensive")


class ValidationVerdict(Struct, frozen=True, kw_only=True):
    """The verdict of the validators; `accepted_by_all` is false if none could judge."""

    rejected_by: str | None
    reason: str
    accepted_by_all: bool
    last: Execution | None


def validate(
    run: TurnRun, frame: Frame, answer: Answer, evidence: tuple[Evidence, ...], cause: Cause | None
) -> Program[ValidationVerdict]:
    """Return the verdict on an answer; a validator that cannot judge neither accepts nor rejects."""
    request = ValidateInput(message=run.request.message, answer=answer, evidence=evidence)
    ordered = sorted(run.usable("val-plugin"), key=lambda item: (_COSTS.index(item.cost_class), item.id))
    last: Execution | None = None
    statuses: list[str] = []
    for descriptor in ordered:
        validator = run.registry.response_validator(descriptor.id)
        last = yield from call_plugin(
            run,
            frame,
            Call(
                stage=STAGE, plugin=validator, slot=frame.next_slot(), attempt=1, given=request,
                invoke=partial(validator.validate, request), cause=last.then("flow") if last else cause,
            ),
        )  # fmt: skip
        statuses.append(last.status)
        if last.status == "rejected":
            return ValidationVerdict(
                rejected_by=descriptor.id, reason=last.value.reason, accepted_by_all=False, last=last
            )
    accepted = bool(statuses) and all(status == "accepted" for status in statuses)
    return ValidationVerdict(rejected_by=None, reason="", accepted_by_all=accepted, last=last)
