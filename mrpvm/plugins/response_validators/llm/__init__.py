"""`val-llm`: a language model's judgement of an answer against its evidence."""

from mrpvm.plugins.response_validators.llm.plugin import LLMValidator

__all__ = ["LLMValidator"]
