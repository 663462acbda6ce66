"""What one snapshot has that another has not: what a reload would change."""

from dataclasses import asdict, dataclass
from typing import Any

from mrpvm.assistants.skills.snapshot import SkillDiagnostic, SkillEntry, SkillSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSkill:
    """A skill that both snapshots have; `fields` names what differs."""

    before: SkillEntry
    after: SkillEntry
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotDifference:
    """From one snapshot to another, each part sorted as snapshots are."""

    added: tuple[SkillEntry, ...]
    removed: tuple[SkillEntry, ...]
    changed: tuple[ChangedSkill, ...]
    new_diagnostics: tuple[SkillDiagnostic, ...]
    gone_diagnostics: tuple[SkillDiagnostic, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether the snapshots are equal."""
        return not (self.added or self.removed or self.changed or self.new_diagnostics or self.gone_diagnostics)


def difference(before: SkillSnapshot, after: SkillSnapshot) -> SnapshotDifference:
    """Return what has to be added, removed and changed to come from one snapshot to the other."""
    pairs = [(item, after.skill(item.skill_name)) for item in before.skills]
    return SnapshotDifference(
        added=tuple(item for item in after.skills if before.skill(item.skill_name) is None),
        removed=tuple(old for old, new in pairs if new is None),
        changed=tuple(
            ChangedSkill(before=old, after=new, fields=_differing(old, new))
            for old, new in pairs
            if new is not None and old != new
        ),
        new_diagnostics=tuple(item for item in after.diagnostics if item not in before.diagnostics),
        gone_diagnostics=tuple(item for item in before.diagnostics if item not in after.diagnostics),
    )


def _differing(before: SkillEntry, after: SkillEntry) -> tuple[str, ...]:
    old: dict[str, Any] = asdict(before)
    new: dict[str, Any] = asdict(after)
    return tuple(name for name in old if old[name] != new[name])
