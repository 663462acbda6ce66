"""Normalisers that need nothing but a chunk's text, and so may run where the file is read."""

from collections.abc import Mapping

from mrpvm.contracts import SeedDetector
from mrpvm.plugins.seed_detectors.symbolic.plugin import SymbolicSeedDetector

NORMALISERS: Mapping[str, SeedDetector] = {plugin.descriptor.id: plugin for plugin in (SymbolicSeedDetector(),)}
"""By plugin id; those with a model, and those of other packages, run in the server."""


def runs_apart(detector: SeedDetector) -> bool:
    """Return whether the reading process has this very detector."""
    return type(NORMALISERS.get(detector.descriptor.id)) is type(detector)
