"""`val-constraints`: deterministic checks of an answer against what it may rest on."""

from mrpvm.plugins.response_validators.constraints.plugin import ConstraintValidator

__all__ = ["ConstraintValidator"]
