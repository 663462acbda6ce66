"""Precomputes in the background, layer by layer, what KB plugins derive from units.

A layer of a base never changes, so each is processed once. If a question comes first, the plugin derives what that
question needs.
"""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings
from django.core.cache import cache

from mrpvm import registry
from mrpvm.contracts import Descriptor, UnitReader
from mrpvm.errors import StorageUnavailable
from sessions_app.actions.knowledge.artifacts import keep_artifacts
from sessions_app.database import outages_told
from sessions_app.layers import layers_of_bases
from sessions_app.models import LayerUnit
from sessions_app.plugin_threads import call_in_time
from sessions_app.queries.knowledge.artifacts import sealed_layers, units_without_artifact

SECONDS_AT_ONCE = 30.0
"""Time limit, so that the other parts of the sweep run too."""
UNITS_AT_ONCE = 4
"""Batch size, small so that turns run between batches."""
_CLAIM = "ahead"


@dataclass(slots=True)
class _Progress:
    """Which layers a plugin has processed since the start, and which failed: those are tried last the next time."""

    gone_through: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)


_progress: dict[tuple[str, str], _Progress] = {}
"""By plugin and version; after a restart each layer is checked again."""

logger = logging.getLogger(__name__)


def derive_ahead(watch: Callable[[], object] = lambda: None) -> int:
    """Derive what plugins that read units lack for the bases' layers; return the count of units.

    Only one of the processes that share a cache does this at a time. Effects: artifacts, one transaction for each
    batch. A plugin that fails or is late is logged and asked again in the next sweep, after the layers new to it.
    """
    token = secrets.token_hex(8)
    if not cache.add(_CLAIM, token, timeout=2 * SECONDS_AT_ONCE):
        return 0
    until, done = time.monotonic() + SECONDS_AT_ONCE, 0
    try:
        for plugin in registry.installed.kb_retrievers():
            if isinstance(plugin, UnitReader):
                done += _derive_for_layers(plugin.descriptor, plugin, until, watch)
    finally:
        if cache.get(_CLAIM) == token:  # it may have run out, and be another process's by now
            cache.delete(_CLAIM)
    return done


def _derive_for_layers(descriptor: Descriptor, reader: UnitReader, until: float, watch: Callable[[], object]) -> int:
    version, done = reader.artifact_version, 0
    if version is None:
        return 0
    layers = sealed_layers(settings.MRPVM_PRECOMPUTE_UNITS)
    progress = _progress.setdefault((descriptor.id, version), _Progress())
    progress.gone_through.intersection_update(layers)
    progress.failed.intersection_update(layers)
    shown = layers_of_bases()
    for layer in sorted(layers, key=progress.failed.__contains__):
        if layer not in shown or layer in progress.gone_through:
            continue
        try:
            with outages_told():
                for units in units_without_artifact(layer, descriptor.id, version, UNITS_AT_ONCE):
                    if time.monotonic() >= until:
                        return done
                    watch()
                    done += _derive(descriptor, version, reader, units)
        except StorageUnavailable:
            raise
        except Exception:
            logger.exception("plugin %s failed on units", descriptor.id)
            progress.failed.add(layer)
        else:
            progress.gone_through.add(layer)
            progress.failed.discard(layer)
    return done


def _derive(descriptor: Descriptor, version: str, reader: UnitReader, units: Sequence[LayerUnit]) -> int:
    """Derive for some units and store the result; return the count of units."""
    artifacts = call_in_time(descriptor, partial(reader.artifacts_of, [unit.to_value() for unit in units]))
    keys = {unit.unit_id: unit.pk for unit in units}
    keep_artifacts(descriptor.id, version, {keys[unit_id]: content for unit_id, content in artifacts.items()})
    return len(artifacts)
