"""The composition root: which plugins, clock, threads and model the machine gets."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from queue import Empty, SimpleQueue

from django.conf import settings
from django.db import connections

from mrpvm import registry
from mrpvm.contracts import Descriptor
from mrpvm.kernel.machine import Machine
from mrpvm.kernel.scheduler import TICK_MS
from mrpvm.kernel.workers import Workers
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.values import Limits
from mrpvm.wrappers.manifest import admit_wrappers
from mrpvm.wrappers.wrapper import Wrapper
from sessions_app.actions import notifications
from sessions_app.actions.notifications import Patience
from sessions_app.turns.language_model import model_source

workers = Workers(leave=connections.close_all)
"""Threads of plugin calls. Each keeps its database connection, as request threads do."""


class SystemClock:
    """The machine's clock outside of tests."""

    def now(self) -> datetime:
        """Give the current time in UTC."""
        return datetime.now(UTC)

    def monotonic_ms(self) -> float:
        """Give milliseconds that never go back."""
        return time.monotonic() * 1000


def call_in_time[Reply](
    descriptor: Descriptor, call: Callable[[], Reply], patience: Patience = notifications.unhurried
) -> Reply:
    """Give what a plugin's call returns, on a thread of its own [K-19].

    Raises:
        TimeoutError: it did not return in the plugin's time or in what was left of the caller's, and is left behind;
            it was not called at all if nothing was left.
        Whatever the call raises, and `patience`, which is asked every `TICK_MS`.
    """
    limit_ms = min(descriptor.timeout_ms, settings.MRPVM_PLUGIN_TIMEOUT_MS, patience())
    if limit_ms <= 0:
        raise TimeoutError("no time was left for it")
    deadline = time.monotonic() + limit_ms / 1000
    returned: SimpleQueue[Future[Reply]] = SimpleQueue()
    give_up = workers.submit(call, returned.put)
    try:
        while (left_seconds := deadline - time.monotonic()) > 0:
            with suppress(Empty):
                future = returned.get(timeout=min(left_seconds, TICK_MS / 1000))
                break
            patience()
        else:
            raise TimeoutError(f"no answer within {limit_ms:.0f} ms")
    finally:
        give_up()
    return future.result()


def install_plugins() -> None:
    """Fill the process's registry with the built-in plugins, those of other packages, and admitted wrappers; once.

    Effects: notifications are bounded in time; a plugin that shall be left out and does not exist is noted among the
        settings' problems.
    """
    notifications.call_plugins_by(call_in_time)
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
    """Give the process's machine."""
    return Machine(registry.installed, workers, SystemClock(), model_source())


def turn_limits() -> Limits:
    """Give the bounds of one turn as they are set [K-20]."""
    return Limits(
        max_llm_calls=settings.MRPVM_MAX_LLM_CALLS,
        request_timeout_ms=settings.MRPVM_REQUEST_TIMEOUT_MS,
        max_plugins_per_stage=settings.MRPVM_MAX_PLUGINS_PER_STAGE,
        max_frame_depth=settings.MRPVM_MAX_FRAME_DEPTH,
        max_parallel_seeds=settings.MRPVM_MAX_PARALLEL_SEEDS,
        plugin_timeout_ms=settings.MRPVM_PLUGIN_TIMEOUT_MS,
        comparison_enabled=settings.MRPVM_COMPARISON,
    )
