"""What clients get about a session's frozen state, for the schema: skills, personas, agents."""

from rest_framework import serializers

from sessions_app.api.shell.responses import (
    Bool,
    Int,
    SessionCreated,
    SessionMetadata,
    SessionModelTable,
    Str,
    nullable,
    texts,
)


class Eligibility(serializers.Serializer):
    """What a skill asks of the server's machine."""

    os = texts()
    env = texts()
    binaries = texts()


class SkillObject(serializers.Serializer):
    """A skill of a snapshot; `path` lies below the root of its source."""

    skill_name = Str()
    source = serializers.ChoiceField(("bundled", "user", "workspace"))  # type: ignore[assignment]
    path = Str()
    summary = Str(allow_blank=True)
    invocation_mode = serializers.ChoiceField(("llm_orchestration", "tool_dispatch"))
    command = nullable(Str)
    command_tool_provider = Str()
    command_tool = nullable(Str)
    requires_tools = texts()
    declared_tools = texts()
    eligibility = Eligibility()


class SkillWithInstructions(SkillObject):
    """A skill with its body."""

    instructions = Str(allow_blank=True)


class DiagnosticObject(serializers.Serializer):
    """What was found about a folder while a snapshot was made."""

    skill_name = Str()
    code = Str()
    message = Str()
    source = nullable(Str)  # type: ignore[assignment]
    path = nullable(Str)
    excludes = Bool(help_text="Whether the folder gives no skill because of this.")


class SkillSnapshotObject(serializers.Serializer):
    """A session's skills as they were frozen."""

    version = Int(help_text="Counts the reloads, from 1.")
    hash = Str(help_text="SHA-256 of the content.")
    skills = SkillObject(many=True)
    sources = serializers.DictField(child=Str(), help_text="Where each skill came from.")
    diagnostics = DiagnosticObject(many=True)


class FrozenState(serializers.Serializer):
    """What a session keeps until it is told otherwise."""

    active_agent = Str()
    active_persona = Str()
    style = nullable(Str, help_text="Null leaves it to the message and the persona.")  # type: ignore[assignment]
    effective_style = serializers.ChoiceField(("focus", "balanced", "playful"))
    skill_snapshot = SkillSnapshotObject()
    model_config = SessionModelTable()
    planner_statistics_frozen = Bool(help_text="Whether its planners rank by what was learned when it was made.")


class NewSession(SessionCreated, FrozenState):
    """A new session with what it has frozen."""


class SessionRecord(SessionMetadata, FrozenState):
    """A session with what it has frozen."""


class SessionSkills(SkillSnapshotObject):
    """A session's skills with their instructions."""

    session_id = Str()
    skills = SkillWithInstructions(many=True)


class ChangedSkill(serializers.Serializer):
    """A skill that both have; `differing` names in what it differs."""

    skill_name = Str()
    differing = texts()
    before = SkillWithInstructions()
    after = SkillWithInstructions()


class SnapshotDifferenceObject(serializers.Serializer):
    """What leads from one snapshot to another."""

    is_empty = Bool()
    added = SkillObject(many=True)
    removed = SkillObject(many=True)
    changed = ChangedSkill(many=True)
    new_diagnostics = DiagnosticObject(many=True)
    gone_diagnostics = DiagnosticObject(many=True)


class SnapshotStanding(serializers.Serializer):
    """A session's snapshot held against another."""

    session_id = Str()
    version = Int()
    hash = Str()
    difference = SnapshotDifferenceObject()


class ReloadPreview(SnapshotStanding):
    """What a reload would change now."""

    current_hash = Str(help_text="Of what the files say now.")


class SkillsReloaded(SnapshotStanding):
    """What a reload has changed."""

    count = Int()
