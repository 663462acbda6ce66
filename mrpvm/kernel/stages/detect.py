"""Detect and admit: calls seed detectors in order until one returns valid documents."""

from mrpvm.contracts import CallContext, DetectInput, Detection, PluginError, SeedDetector
from mrpvm.conversation.rewriting import before_repeats
from mrpvm.errors import MODEL_ERROR_CODES, StageExhausted
from mrpvm.kernel.admission import Admitted, admit_detection, refusal
from mrpvm.kernel.backtracking import DEFAULT_SEED_DETECTORS, candidates
from mrpvm.kernel.calls import Call, Execution, Program, call_plugin
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
        detector = run.registry.seed_detector(plugin_id)
        admitted: list[Admitted] = []
        warnings: list[str] = []

        def invoke(context: CallContext, detector: SeedDetector = detector) -> Detection:
            return detector.detect(request, context)

        def judge(
            detection: Detection, admitted: list[Admitted] = admitted, warnings: list[str] = warnings
        ) -> PluginError | None:
            complaint = _admit(run, frame, detection, admitted)
            warnings += [warning for item in admitted for warning in item.warnings]
            return complaint

        execution: Execution = yield from call_plugin(
            run,
            frame,
            Call(
                stage=STAGE, plugin=detector, slot=slot, attempt=attempt, given=request, invoke=invoke, cause=cause,
                judge=judge, warnings=warnings,
            ),
        )  # fmt: skip
        if admitted:
            return execution, admitted[0]
        tried.append(execution)
        cause = Cause(kind="retry", execution_id=execution.id)
    raise exhausted(STAGE, tried, empty_code="DECOMPOSER_EMPTY_RESULT", empty_status="unsupported")


def _referred(request: TurnRequest) -> tuple[HistoryMessage, ...]:
    """Return the earlier messages that the message may refer to; a repeated question has its first meaning."""
    return tuple(before_repeats(request.message, request.history)) if request.resolves_references else ()


def _admit(run: TurnRun, frame: Frame, detection: Detection, admitted: list[Admitted]) -> PluginError | None:
    """Add a detection's results to `admitted`, or return the reason why they cannot be used."""
    if detection.status != "success":
        return None
    number = frame.first_unit_number
    try:
        checked = admit_detection(detection, run.request.request_id, run.budget.started_at, number)
    except ControlLanguageError as error:
        return refusal(error)
    if not checked.runnable:
        return PluginError(code="DECOMPOSER_EMPTY_RESULT", message="Every seed is deactivated.")
    admitted.append(checked)
    return None


def exhausted(
    stage: str, tried: list[Execution], empty_code: str | None = None, empty_status: str | None = None
) -> StageExhausted:
    """Return the error of a stage whose candidates all failed.

    It has the code and the words of a failed model provider, if there is one.
    """
    empty = bool(tried) and all(execution.status == empty_status for execution in tried)
    errors = [execution.error for execution in reversed(tried) if execution.error]
    blamed = next((error for error in errors if error.code in MODEL_ERROR_CODES), None)
    diagnostics = [{"pluginId": item.plugin_id, "status": item.status, **_said(item)} for item in tried]
    names = ", ".join(item.plugin_id for item in tried) or "none was registered"
    return StageExhausted(
        f"No plugin of the stage {stage} delivered (tried: {names}){f': {blamed.message}' if blamed else '.'}",
        code=empty_code if empty else blamed.code if blamed else None,
        details={"stage": stage, "pluginsTried": [item.plugin_id for item in tried], "diagnostics": diagnostics},
    )


def _said(execution: Execution) -> dict[str, str]:
    """Return an error's code and message, without an exception's own text, which may contain file names."""
    error = execution.error
    if error is None:
        return {}
    return {"code": error.code} if error.code == "PLUGIN_EXCEPTION" else {"code": error.code, "message": error.message}
