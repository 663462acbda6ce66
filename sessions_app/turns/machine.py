"""The composition root: which plugins, clock, threads and model the machine gets."""

import time
from datetime import UTC, datetime
from functools import cache

from django.conf import settings

from mrpvm import registry
from mrpvm.kernel.machine import Machine
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.values import Limits
from mrpvm.wrappers.manifest import admit_wrappers
from mrpvm.wrappers.wrapper import Wrapper
from sessions_app.language_model import model_source
from sessions_app.plugin_threads import workers


class SystemClock:
    """The machine's clock outside of tests."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def monotonic_ms(self) -> float:
        """Return milliseconds that never go back."""
        return time.monotonic() * 1000


def install_plugins() -> None:
    """Fill the process's registry with the built-in plugins, those of other packages, and admitted wrappers; once.

    Effects: a plugin that shall be left out and does not exist is noted among the settings' problems.
    """
    if registry.installed.descriptors():
        return
    if set(settings.MRPVM_DISABLED_PLUGINS) - {plugin.descriptor.id for plugin in BUILTIN_PLUGINS}:
        settings.ENVIRONMENT.refuse("MRPVM_DISABLED_PLUGINS", "ids of shipped plugins, separated by commas")
    for plugin in BUILTIN_PLUGINS:
        if plugin.descriptor.id not in settings.MRPVM_DISABLED_PLUGINS:
            registry.installed.register(plugin)
    registry.installed.register_entry_points()
    admission = admit_wrappers(settings.MRPVM_WRAPPERS_DIR, settings.MRPVM_WRAPPERS)
    registry.installed.wrappers = [Wrapper(manifest, directory) for manifest, directory in admission.admitted]


@cache
def machine() -> Machine:
    return Machine(registry.installed, workers, SystemClock(), model_source())


def turn_limits() -> Limits:
    """Return the limits of one turn from the settings."""
    return Limits(
        max_llm_calls=settings.MRPVM_MAX_LLM_CALLS,
        request_timeout_ms=settings.MRPVM_REQUEST_TIMEOUT_MS,
        max_plugins_per_stage=settings.MRPVM_MAX_PLUGINS_PER_STAGE,
        max_frame_depth=settings.MRPVM_MAX_FRAME_DEPTH,
        max_parallel_seeds=settings.MRPVM_MAX_PARALLEL_SEEDS,
        plugin_timeout_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
        comparison_enabled=settings.MRPVM_COMPARISON,
    )
