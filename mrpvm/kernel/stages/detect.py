"""Detect and admit: calls seed detectors in order until one returns valid documents."""

from functools import partial

from mrpvm.contracts import DetectInput, Detection, PluginError
from mrpvm.conversation.rewriting import before_repeats
from mrpvm.kernel.admission import Admitted, admit_detection, refusal
from mrpvm.kernel.backtracking import DEFAULT_SEED_DETECTORS, candidates, exhausted
from mrpvm.kernel.calls import Call, CallPlace, Execution, Program, call_plugin
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.lang import ControlLanguageError
from mrpvm.trace.events import Cause
from mrpvm.values import HistoryMessage, TurnRequest

STAGE = "seed-detector"


def detector_candidates(run: TurnRun) -> tuple[str, ...]:
    """Return the detectors to try; only pins, preferences and defaults decide their order."""
    return candidates(
        run.request.pins.seed_detector,
        run.request.preferences.seed_detector,
        DEFAULT_SEED_DETECTORS,
        [item.id for item in run.usable("sd-plugin", run.request.pins.seed_detector)],
        run.request.limits.max_plugins_per_stage,
    )


def detect(run: TurnRun, frame: Frame, message: str, cause: Cause | None = None) -> Program[tuple[Execution, Admitted]]:
    """Return the successful execution and the objects admitted from it.

    Args:
        message: the user's message, or in a frame below the root the text of a task.

    Raises:
        StageExhausted: DECOMPOSER_EMPTY_RESULT if no detector found an intent, else PLUGIN_STAGE_EXHAUSTED.
    """
    request = DetectInput(
        message=message,
        history=_referred(run.request),
        earlier=run.request.earlier if run.request.resolves_references else (),
        system_prompt=run.request.system_prompt,
        requested_model=run.request.requested_model,
        session_model=run.request.session_model,
    )
    slot, tried = frame.next_slot(), []
    for attempt, plugin_id in enumerate(detector_candidates(run), start=1):
        execution, admitted = yield from _ask(run, frame, request, plugin_id, CallPlace(slot, attempt, cause))
        if admitted is not None:
            return execution, admitted
        tried.append(execution)
        cause = execution.then("retry")
    raise exhausted(STAGE, tried, empty_code="DECOMPOSER_EMPTY_RESULT", empty_status="unsupported")


def _ask(
    run: TurnRun, frame: Frame, request: DetectInput, plugin_id: str, place: CallPlace
) -> Program[tuple[Execution, Admitted | None]]:
    """Return the execution of one detector, and what was admitted of its documents, if anything was."""
    detector = run.registry.seed_detector(plugin_id)
    admitted: Admitted | None = None

    def judge(detection: Detection) -> PluginError | None:
        nonlocal admitted
        if detection.status != "success":
            return None
        try:
            checked = admit_detection(detection, run.request.request_id, run.budget.started_at, frame.first_unit_number)
        except ControlLanguageError as error:
            return refusal(error)
        if not checked.runnable:
            return PluginError(code="DECOMPOSER_EMPTY_RESULT", message="Every seed is deactivated.")
        admitted = checked
        return None

    execution: Execution = yield from call_plugin(
        run,
        frame,
        Call(
            stage=STAGE, plugin=detector, slot=place.slot, attempt=place.attempt, given=request,
            invoke=partial(detector.detect, request), cause=place.cause, judge=judge,
            remarks=lambda: admitted.warnings if admitted is not None else (),
        ),
    )  # fmt: skip
    return execution, admitted


def _referred(request: TurnRequest) -> tuple[HistoryMessage, ...]:
    """Return the earlier messages that the message may refer to; a repeated question has its first meaning."""
    return tuple(before_repeats(request.message, request.history)) if request.resolves_references else ()
