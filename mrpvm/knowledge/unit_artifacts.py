"""The other optional hook of KB plugins: what they derive from units, computed before a search needs it."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from mrpvm.values import KnowledgeUnit


@runtime_checkable
class UnitReader(Protocol):
    """A KB plugin with this optional hook.

    It is asked in the background, for units of knowledge bases that it has no artifacts of, and still has to derive by
    itself what it misses in a call: a question may come first.
    """

    @property
    def artifact_version(self) -> str | None:
        """Return the version under which it keeps artifacts, None while it derives nothing."""

    def artifacts_of(self, units: Sequence[KnowledgeUnit]) -> Mapping[str, bytes]:
        """Return artifacts by unit id, equal for equal units; a few units at a time."""
