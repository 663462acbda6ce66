"""Turns of any size as their stored events: nested frames, retries, child frames, marks, some failures.

They look like real turns: a frame plans, retrieves (perhaps twice), plans again, solves and validates; frames of
frames fan out. The same size and seed always give the same turn.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Record = list[Any]
CHILDREN_MAX = 10
_LEAF = (
    ("planner", "planner-default", "Default Planner", "mrp-plan-plugin"),
    ("kb", "kb-fast", "Fast KB Retrieval", "kb-plugin"),
    ("planner", "planner-default", "Default Planner", "mrp-plan-plugin"),
    ("goal-solver", "gs-symbolic", "Symbolic Goal Solver", "gs-plugin"),
    ("validation", "val-constraints", "Constraint Validator", "val-plugin"),
)
_RETRY = ("kb", "kb-balanced", "Balanced KB Retrieval", "kb-plugin")
_SNIPPET = "What is the answer to a question of ordinary length, asked in a frame of its own? "


@dataclass(slots=True)
class _Writer:
    """Writes events and advances its clock. `left` counts the executions still to be made."""

    left: int
    random: random.Random
    at_ms: int = 0
    records: list[Record] = field(default_factory=list)

    def emit(self, name: str, **data: Any) -> None:
        self.records.append([name, self.at_ms, data])


def large_turn(execution_count: int, seed: int = 0) -> list[Record]:
    """Return the events of a finished turn with exactly this many executions."""
    writer = _Writer(execution_count, random.Random(seed))
    writer.emit(
        "turn.started", requestId="req-large", sessionId="sess-large", inputMessage="Everything at once?",
        deliberationLevel=2, effectiveLevel=2, grounding="strict", pins={}, preferences={},
        plannerCandidates=["planner-default"], seedDetectorCandidates=["sd-symbolic"],
    )  # fmt: skip
    _open(writer, "0", None, None)
    detector = _run(writer, "0", 1, 1, ("seed-detector", "sd-symbolic", "Symbolic Seed Detector", "sd-plugin"), None)
    _fan_out(writer, "0", detector)
    writer.emit("frame.closed", frameId="frame-0", status="succeeded", closureReason="parallel_intent_aggregation")
    writer.emit("turn.finished", status="succeeded", answerStatus="answered", error=None)
    return writer.records


def _fan_out(writer: _Writer, path: str, opener: str) -> None:
    """Open child frames side by side until all executions are made; many of them in frames of frames."""
    children = min(CHILDREN_MAX, max(1, writer.left // (len(_LEAF) + 1)))
    share = -(-writer.left // children)
    begun = writer.at_ms
    ends = [begun]
    for number in range(1, children + 1):
        if writer.left <= 0:
            break
        writer.at_ms = begun
        child = f"{path}.{number}"
        _open(writer, child, path, opener)
        wanted = min(share, writer.left)
        others, writer.left = writer.left - wanted, wanted
        last = _leaf(writer, child)
        if writer.left > 0:
            _fan_out(writer, child, last)
        writer.left += others
        status = "failed" if writer.random.random() < 0.03 else "succeeded"
        writer.emit("frame.closed", frameId=f"frame-{child}", status=status, closureReason="policy_satisfied")
        ends.append(writer.at_ms)
    writer.at_ms = max(ends)


def _leaf(writer: _Writer, path: str) -> str:
    """Run a frame's own executions, and return the last one."""
    cause: dict[str, str] | None = None
    last = ""
    for slot, plugin in enumerate(_LEAF, start=1):
        if writer.left <= 0:
            return last
        last = _run(writer, path, slot, 1, plugin, cause)
        if plugin[0] == "kb" and writer.left > 0 and writer.random.random() < 0.3:
            last = _run(writer, path, slot, 2, _RETRY, {"kind": "retry", "from": last})
        cause = {"kind": "flow", "from": last}
    writer.emit(
        "candidate.promoted", candidateId=f"cand-{path}.1", frameId=f"frame-{path}", branchId=f"branch-{path}.1",
        branchIds=[f"branch-{path}.1"], validationStatus="accepted", resultId=f"result-{path}.1",
        label="An answer that was found", familySignature="define::direct",
        strength=writer.random.choice(["strong", "sufficient", "weak"]), criteria={},
    )  # fmt: skip
    return last


def _open(writer: _Writer, path: str, parent: str | None, opener: str | None) -> None:
    writer.emit(
        "frame.opened", frameId=f"frame-{path}", parentFrameId=None if parent is None else f"frame-{parent}",
        purpose="chat-turn" if parent is None else "parallel-intent",
        label="chat-turn" if parent is None else f"parallel-intent {path.rpartition('.')[2]}",
        depth=path.count("."), openedBy=opener, intentRefs=[1],
    )  # fmt: skip


def _run(
    writer: _Writer, path: str, slot: int, attempt: int, plugin: tuple[str, str, str, str], cause: dict[str, str] | None
) -> str:
    stage, plugin_id, name, plugin_type = plugin
    execution_id = f"exec-{path}.{slot}~{attempt}"
    writer.left -= 1
    writer.emit(
        "plugin.started", executionId=execution_id, frameId=f"frame-{path}", stage=stage, pluginId=plugin_id,
        pluginName=name, pluginType=plugin_type, cause=cause, attempt=attempt, inputSnippet=_SNIPPET * 3,
    )  # fmt: skip
    duration_ms = writer.random.randrange(1, 40)
    writer.at_ms += duration_ms
    status = "insufficient" if attempt == 1 and stage == "kb" and writer.random.random() < 0.2 else "success"
    writer.emit(
        "plugin.finished", executionId=execution_id, frameId=f"frame-{path}", status=status, durationMs=duration_ms,
        llmCalls=0, sufficient=None, model=None, modelRole=None, error=None, outputSnippet=_SNIPPET * 3,
    )  # fmt: skip
    return execution_id


def stored_batches(records: list[Record], size: int = 500) -> Iterator[tuple[int, list[Record]]]:
    """Yield the events in batches as a running turn flushes them, each with the number of its first event."""
    for start in range(0, len(records), size):
        yield start, records[start : start + size]
