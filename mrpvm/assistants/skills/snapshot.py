"""The skills of a session: an index that never changes, identified by the hash of its content."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

from mrpvm.assistants.content import content_hash

INFORMATIONAL_CODES = frozenset({"precedence_conflict", "unknown_keys", "name_differs", "command_alias_ambiguous"})
"""Diagnostics that exclude nothing; every other says why a folder gives no skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillDiagnostic:
    """What was found about one folder; `path` is below the root of its source."""

    skill_name: str
    code: str
    message: str
    source: str | None = None
    path: str | None = None

    @property
    def excludes(self) -> bool:
        """Return whether the folder gives no skill because of this."""
        return self.code not in INFORMATIONAL_CODES

    @property
    def place(self) -> tuple[str, str, str]:
        """Return the sorting key."""
        return self.skill_name, self.code, self.path or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillEntry:
    """One skill of the index; `path` is below the root of its source."""

    skill_name: str
    source: str
    path: str
    summary: str = ""
    invocation_mode: str = "llm_orchestration"
    instructions: str = ""
    command: str | None = None
    command_tool_provider: str = "builtin"
    command_tool: str | None = None
    requires_tools: tuple[str, ...] = ()
    declared_tools: tuple[str, ...] = ()
    capabilities_declared: bool = False
    allowed_os: tuple[str, ...] = ()
    required_env: tuple[str, ...] = ()
    required_binaries: tuple[str, ...] = ()

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the entry of a stored record."""
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in record.items()
        }
        return cls(**fields)


@dataclass(frozen=True)
class SkillSnapshot:
    """The resolved index: skills by name, and everything that was found while resolving."""

    skills: tuple[SkillEntry, ...] = ()
    diagnostics: tuple[SkillDiagnostic, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "skills", tuple(sorted(self.skills, key=lambda item: item.skill_name)))
        object.__setattr__(self, "diagnostics", tuple(sorted(self.diagnostics, key=lambda item: item.place)))

    @cached_property
    def _by_name(self) -> Mapping[str, SkillEntry]:
        return {item.skill_name: item for item in self.skills}

    def skill(self, name: str) -> SkillEntry | None:
        """Return the skill of exactly this name."""
        return self._by_name.get(name)

    def with_alias(self, alias: str) -> tuple[SkillEntry, ...]:
        """Return the skills that exactly this command calls."""
        return tuple(item for item in self.skills if item.command == alias)

    @property
    def excluded(self) -> tuple[SkillDiagnostic, ...]:
        """Return why folders gave no skill."""
        return tuple(item for item in self.diagnostics if item.excludes)

    @cached_property
    def content_hash(self) -> str:
        """Return the SHA-256 of the canonical JSON, as hex: equal for equal content, wherever it was read."""
        return content_hash(asdict(self))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the snapshot of a stored record."""
        return cls(
            skills=tuple(SkillEntry.of_record(item) for item in record["skills"]),
            diagnostics=tuple(SkillDiagnostic(**item) for item in record["diagnostics"]),
        )
