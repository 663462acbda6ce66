"""`sd-symbolic`: intents and knowledge by deterministic rules, without a model."""

from mrpvm.plugins.seed_detectors.symbolic.plugin import SymbolicSeedDetector

__all__ = ["SymbolicSeedDetector"]
