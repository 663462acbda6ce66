"""Help: calls external programs (wrappers) on a frame's intents before its solvers use a view of the evidence."""

from functools import partial

from mrpvm.conversation.helping import HelperOutput
from mrpvm.kernel.calls import Call, CallPlace, Execution, Program, call_plugin
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.kernel.stages.retrieve import EvidenceView
from mrpvm.knowledge.payload import resolved_payload
from mrpvm.trace.events import Cause
from mrpvm.values import Evidence
from mrpvm.wrappers.wrapper import Wrapper, chosen_for, failed_output

STAGE = "helper"


def ask_helpers(run: TurnRun, frame: Frame, view: EvidenceView, cause: Cause) -> Program[tuple[HelperOutput, ...]]:
    """Return the outputs of wrappers for the view's intents; a failure is an output too and does not end the turn.

    For each intent wrappers are called in order until one succeeds.
    """
    wrappers = run.registry.wrappers
    if not wrappers:
        return ()
    outputs: list[HelperOutput] = []
    slot, attempt = 0, 0
    for evidence in view.evidence:
        chosen = chosen_for(wrappers, evidence.intent.act, evidence.intent.target)
        for wrapper in chosen[: run.request.limits.max_plugins_per_stage]:
            slot, attempt = slot or frame.next_slot(), attempt + 1
            output = yield from _ask(run, frame, wrapper, evidence, CallPlace(slot, attempt, cause))
            outputs.append(output)
            if output.status == "success":
                break
    return tuple(outputs)


def _ask(run: TurnRun, frame: Frame, wrapper: Wrapper, evidence: Evidence, place: CallPlace) -> Program[HelperOutput]:
    payload, intent_ref = resolved_payload(evidence), evidence.intent.group_number
    execution: Execution = yield from call_plugin(
        run,
        frame,
        Call(
            stage=STAGE, plugin=wrapper, slot=place.slot, attempt=place.attempt, given=payload,
            invoke=partial(wrapper.help, intent_ref, payload), cause=place.cause,
        ),
    )  # fmt: skip
    if execution.error is not None:
        return failed_output(intent_ref, wrapper.manifest.name, execution.error)
    output: HelperOutput = execution.value.output
    return output
