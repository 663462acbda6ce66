"""The candidates of a stage, the error when all of them failed, and the attempts that must not be repeated."""

from collections.abc import Sequence
from copy import replace
from dataclasses import dataclass, field

from mrpvm.errors import MODEL_ERROR_CODES, StageExhausted
from mrpvm.kernel.calls import Execution
from mrpvm.trace.exhaustion import Exhaustion, FailedAttempt
from mrpvm.wire import to_wire

DEFAULT_PLANNERS = ("planner-default", "planner-depth")
DEFAULT_SEED_DETECTORS = ("sd-symbolic", "sd-llm-fast", "sd-llm-deep")
"""The default order of stages that have no planner."""


def candidates(
    pin: str | None, preference: str | None, defaults: Sequence[str], registered: Sequence[str], limit: int
) -> tuple[str, ...]:
    """Return the ids to try, in order: only the pin if there is one, else the preference, the defaults and the rest.

    At most `limit` ids are returned, and only registered ones.
    """
    if pin is not None:
        return (pin,) if pin in registered else ()
    wanted = [*([preference] if preference else []), *defaults, *registered]
    return tuple(dict.fromkeys(item for item in wanted if item in registered))[:limit]


def exhausted(
    stage: str, tried: list[Execution], empty_code: str | None = None, empty_status: str | None = None
) -> StageExhausted:
    """Return the error of a stage whose candidates all failed.

    It has the code and the words of a failed model provider, if there is one.
    """
    empty = bool(tried) and all(execution.status == empty_status for execution in tried)
    errors = [execution.error for execution in reversed(tried) if execution.error]
    blamed = next((error for error in errors if error.code in MODEL_ERROR_CODES), None)
    names = ", ".join(item.plugin_id for item in tried) or "none was registered"
    exhaustion = Exhaustion(
        stage=stage,
        plugins_tried=tuple(item.plugin_id for item in tried),
        diagnostics=tuple(map(_failed_attempt, tried)),
        retry_after_seconds=blamed.details.get("retry_after_seconds") if blamed else None,
    )
    return StageExhausted(
        f"No plugin of the stage {stage} delivered (tried: {names}){f': {blamed.message}' if blamed else '.'}",
        code=empty_code if empty else blamed.code if blamed else None,
        details=to_wire(exhaustion),
    )


def _failed_attempt(execution: Execution) -> FailedAttempt:
    """Return how an execution failed, without an exception's own text, which may contain file names."""
    failed = FailedAttempt(plugin_id=execution.plugin_id, status=execution.status)
    error = execution.error
    if error is None:
        return failed
    return replace(failed, code=error.code, message=None if error.code == "PLUGIN_EXCEPTION" else error.message)


@dataclass(slots=True)
class FailureMemory:
    """The failed attempts of a frame: a solver is tried once on the same evidence, and not after it ran out of time."""

    _failed: set[tuple[str, str]] = field(default_factory=set)
    _late: set[str] = field(default_factory=set)

    def add(self, plugin_id: str, evidence_hash: str) -> None:
        """Add a failed attempt."""
        self._failed.add((plugin_id, evidence_hash))

    def rule_out(self, plugin_id: str) -> None:
        """Forbid a plugin for the rest of the frame, whatever the evidence: it exceeded its time limit."""
        self._late.add(plugin_id)

    def forbids(self, plugin_id: str, evidence_hash: str) -> bool:
        """Return whether this attempt failed before, or the plugin is ruled out."""
        return plugin_id in self._late or (plugin_id, evidence_hash) in self._failed
