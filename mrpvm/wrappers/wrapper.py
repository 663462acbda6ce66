"""One admitted wrapper: when it is asked, and how its program is run."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from mrpvm.contracts import CallContext, Descriptor, PluginError
from mrpvm.conversation.helping import HelperOutput
from mrpvm.knowledge.payload import ResolvedPayload
from mrpvm.processes import ProcessLimits, run_process
from mrpvm.wrappers.manifest import WrapperManifest
from mrpvm.wrappers.protocol import WrapperFailed, given, read_result

ENDING_MS = 1_000
"""How much longer than its program a call may take: to end the program, and to read its output."""
ENVIRONMENT = {"PATH": os.pathsep.join(os.get_exec_path()), "LANG": "C.UTF-8"}
"""The environment of a program: none of the server's variables, so no key of a model."""
OUTPUT_BYTES = 262_144
"""Standard output of one call; more ends it."""


class Help(Struct, frozen=True, kw_only=True):
    """One call's outcome as the trace records it."""

    status: Literal["success", "error"]
    output: HelperOutput
    error: PluginError | None = None


class Wrapper:
    """A program that helps goal solvers; it is no stage plugin, and planners do not see it."""

    def __init__(self, manifest: WrapperManifest, directory: Path) -> None:
        self.manifest = manifest
        self._directory = directory
        self.descriptor = Descriptor(
            id=manifest.id,
            type=manifest.type,  # type: ignore[arg-type]  # the manifest's is one of them
            name=manifest.name,
            version=manifest.version,
            description=manifest.description or f"{manifest.name}, an external program.",
            cost_class="moderate",
            tags=manifest.keywords,
            timeout_ms=manifest.timeout_ms + ENDING_MS,
            provides=manifest.capabilities,
            is_deterministic=False,
        )

    def is_named_in(self, text: str) -> bool:
        """Return whether one of its keywords occurs in the text."""
        return any(keyword.lower() in text.lower() for keyword in self.manifest.keywords)

    def help(self, intent_ref: int, payload: ResolvedPayload, context: CallContext) -> Help:
        """Return what the program makes of the payload; whatever it does, this returns in its time."""
        limits = ProcessLimits(
            timeout_ms=min(self.manifest.timeout_ms, context.remaining_ms), output_bytes=OUTPUT_BYTES
        )
        try:
            finished = run_process(
                [self.manifest.command, *self.manifest.args],
                given(payload, self.manifest.max_input_bytes),
                limits,
                directory=self._directory,
                environment=ENVIRONMENT,
                stopped=context.stopped,
            )
            return Help(status="success", output=read_result(finished, intent_ref, self.manifest.name))
        except WrapperFailed as failed:
            return self._failed(intent_ref, PluginError(code=failed.code, message=failed.message))
        except OSError as error:
            reason = f"it cannot be started ({type(error).__name__})."
            return self._failed(intent_ref, PluginError(code="PLUGIN_ERROR", message=reason))

    def _failed(self, intent_ref: int, error: PluginError) -> Help:
        return Help(status="error", output=failed_output(intent_ref, self.manifest.name, error), error=error)


def failed_output(intent_ref: int, name: str, error: PluginError) -> HelperOutput:
    """Return the output of a call that gave none."""
    return HelperOutput(
        intent_ref=intent_ref, plugin=name, status="error", error_code=error.code, error_message=error.message
    )


def chosen_for(wrappers: Iterable[Wrapper], act: str, text: str) -> list[Wrapper]:
    """Return the wrappers to ask about an intent, in order: those of its act, else those named in it.

    Highest priority first, then by id. None is asked after an exclusive one.
    """
    known = list(wrappers)
    suited = [item for item in known if act in item.manifest.capabilities]
    suited = suited or [item for item in known if item.is_named_in(text)]
    ordered = sorted(suited, key=lambda item: (-item.manifest.priority, item.manifest.id))
    last = next((place for place, item in enumerate(ordered) if item.manifest.exclusive), len(ordered))
    return ordered[: last + 1]
