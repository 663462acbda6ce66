"""`sd-symbolic`: intents and knowledge by deterministic rules, without a model [BP-4 to BP-12]."""

from mrpvm.plugins.seed_detectors.symbolic.plugin import SymbolicSeedDetector

__all__ = ["SymbolicSeedDetector"]
