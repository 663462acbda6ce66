"""Plugins that a test controls."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from mrpvm import registry
from mrpvm.contracts import (
    CallContext,
    ChunkInput,
    Descriptor,
    DetectInput,
    Detection,
    Normalisation,
    PlannerHints,
    PluginError,
    Solution,
    SolveInput,
)

HINTS = PlannerHints(
    expected_latency_ms=1,
    expected_llm_calls=0,
    relative_cost=0.1,
    supported_acts=(),
    topic_tags=(),
    preferred_depth="shallow",
    fallback_role="default",
    confidence_when_matched=0.0,
)


def descriptor(plugin_id: str, plugin_type: Any) -> Descriptor:
    """Return a descriptor of a plugin for tests."""
    return Descriptor(
        id=plugin_id,
        type=plugin_type,
        name=plugin_id,
        version="1.0.0",
        description="For tests.",
        cost_class="cheap",
        planner_hints=HINTS,
    )


class WaitingSolver:
    """A goal solver that waits until it is released, and then fails."""

    descriptor = descriptor("gs-waiting", "gs-plugin")

    def __init__(self) -> None:
        self.started = Event()
        self.go_on = Event()

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Wait."""
        self.started.set()
        self.go_on.wait(20)
        return Solution(status="error", error=PluginError(code="SAID_NO", message="no"))


class HeldSolver(WaitingSolver):
    """A goal solver that waits and then answers as the symbolic one does."""

    descriptor = descriptor("gs-held", "gs-plugin")

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        """Wait, then answer."""
        self.started.set()
        self.go_on.wait(20)
        return registry.installed.goal_solver("gs-symbolic").solve(request, context)


class RaisingDetector:
    """A seed detector that raises an unexpected exception."""

    descriptor = descriptor("sd-raising", "sd-plugin")

    def detect(self, request: DetectInput, context: CallContext) -> Detection:
        """Raise."""
        raise RuntimeError("/secret/path")

    def normalise(self, chunk: ChunkInput, context: CallContext) -> Normalisation:
        """Raise."""
        raise RuntimeError("/secret/path")


class ModellessDetector(RaisingDetector):
    """A seed detector that needs a model and has none."""

    descriptor = descriptor("sd-modelless", "sd-plugin")

    def normalise(self, chunk: ChunkInput, context: CallContext) -> Normalisation:
        """Say so."""
        return Normalisation(status="error", error=PluginError(code="LLM_NOT_AVAILABLE", message="no model"))


@contextmanager
def registered(plugin: Any) -> Iterator[Any]:
    """Register the plugin for the block."""
    registry.installed.register(plugin)
    try:
        yield plugin
    finally:
        del registry.installed._plugins[plugin.descriptor.type, plugin.descriptor.id]


class HalfReadingDetector(RaisingDetector):
    """A seed detector that returns an invalid document for parts that contain "nonsense"."""

    descriptor = descriptor("sd-half", "sd-plugin")

    def normalise(self, chunk: ChunkInput, context: CallContext) -> Normalisation:
        """Return the symbolic detector's reading, or nonsense."""
        if "nonsense" in chunk.text:
            return Normalisation(status="success", context_document='@k1 ku atomic "x"\n@a1 set $k9 role Odd')
        return registry.installed.seed_detector("sd-symbolic").normalise(chunk, context)
