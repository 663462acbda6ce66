"""What clients get about a session's frozen state, for the schema: skills, personas, agents."""

from collections.abc import Mapping
from typing import Annotated, TypedDict

from sessions_app.api.shell.responses import SessionCreatedObject, SessionMetadata
from sessions_app.field_notes import OneOf
from sessions_app.queries.settings.model_roles import SessionModelTable


class Eligibility(TypedDict):
    """What a skill asks of the server's machine."""

    os: list[str]
    env: list[str]
    binaries: list[str]


class SkillObject(TypedDict):
    """A skill of a snapshot; `path` is below the root of its source."""

    skill_name: str
    source: Annotated[str, OneOf(("bundled", "user", "workspace"))]
    path: str
    summary: str
    invocation_mode: Annotated[str, OneOf(("llm_orchestration", "tool_dispatch"))]
    command: str | None
    command_tool_provider: str
    command_tool: str | None
    requires_tools: list[str]
    declared_tools: list[str]
    eligibility: Eligibility


class SkillWithInstructions(SkillObject):
    """A skill with its body."""

    instructions: str


class DiagnosticObject(TypedDict):
    """What was found about a folder while a snapshot was made."""

    skill_name: str
    code: str
    message: str
    source: str | None
    path: str | None
    excludes: Annotated[bool, "Whether the folder gives no skill because of this."]


class SkillSnapshotObject(TypedDict):
    """A session's skills as they were frozen."""

    version: Annotated[int, "Counts the reloads, from 1."]
    hash: Annotated[str, "SHA-256 of the content."]
    skills: list[SkillObject]
    sources: Annotated[Mapping[str, str], "Where each skill came from."]
    diagnostics: list[DiagnosticObject]


class IdentityObject(TypedDict):
    """Who acts and how it talks."""

    active_agent: str
    active_persona: str
    style: Annotated[str | None, "Null leaves it to the message and the persona."]
    effective_style: Annotated[str, OneOf(("focus", "balanced", "playful"))]


class FrozenState(IdentityObject):
    """What a session keeps until it is told otherwise."""

    skill_snapshot: SkillSnapshotObject
    model_config: SessionModelTable
    planner_statistics_frozen: Annotated[bool, "Whether its planners rank by what was learned when it was made."]


class NewSession(SessionCreatedObject, FrozenState):
    """A new session with what it has frozen."""


class SessionRecord(SessionMetadata, FrozenState):
    """A session with what it has frozen."""


class SessionSkills(TypedDict):
    """A session's skills with their instructions."""

    version: Annotated[int, "Counts the reloads, from 1."]
    hash: Annotated[str, "SHA-256 of the content."]
    skills: list[SkillWithInstructions]
    sources: Annotated[Mapping[str, str], "Where each skill came from."]
    diagnostics: list[DiagnosticObject]
    session_id: str


class ChangedSkillObject(TypedDict):
    """A skill that both have; `differing` names in what it differs."""

    skill_name: str
    differing: list[str]
    before: SkillWithInstructions
    after: SkillWithInstructions


class SnapshotDifferenceObject(TypedDict):
    """What leads from one snapshot to another."""

    is_empty: bool
    added: list[SkillObject]
    removed: list[SkillObject]
    changed: list[ChangedSkillObject]
    new_diagnostics: list[DiagnosticObject]
    gone_diagnostics: list[DiagnosticObject]


class SnapshotStanding(TypedDict):
    """A session's snapshot held against another."""

    session_id: str
    version: int
    hash: str
    difference: SnapshotDifferenceObject


class ReloadPreview(SnapshotStanding):
    """What a reload would change now."""

    current_hash: Annotated[str, "Of what the files say now."]


class SkillsReloaded(SnapshotStanding):
    """What a reload has changed."""

    count: int
