"""`sd-llm-fast` and `sd-llm-deep`: intents and knowledge by a language model, in control text."""

from mrpvm.plugins.seed_detectors.llm.plugin import LLMSeedDetector, deep_detector, fast_detector

__all__ = ["LLMSeedDetector", "deep_detector", "fast_detector"]
