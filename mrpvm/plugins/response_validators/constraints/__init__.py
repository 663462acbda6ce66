"""`val-constraints`: deterministic checks of an answer against its evidence and question."""

from mrpvm.plugins.response_validators.constraints.plugin import ConstraintValidator

__all__ = ["ConstraintValidator"]
