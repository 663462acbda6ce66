"""Skills: folders with a SKILL.md, resolved once into a snapshot that a session keeps.

document (one SKILL.md) -> loader (roots, precedence, checks) -> snapshot (what the session holds) -> difference
"""

from mrpvm.assistants.skills.difference import SnapshotDifference, difference
from mrpvm.assistants.skills.loader import LoaderEnvironment, SkillRoot, SkillRootError, load_snapshot
from mrpvm.assistants.skills.snapshot import SkillDiagnostic, SkillEntry, SkillSnapshot

__all__ = [
    "LoaderEnvironment",
    "SkillDiagnostic",
    "SkillEntry",
    "SkillRoot",
    "SkillRootError",
    "SkillSnapshot",
    "SnapshotDifference",
    "difference",
    "load_snapshot",
]
