"""How a session's skills leave: the snapshot, what it was made of, and what a reload would change."""

from mrpvm.assistants.personas import resolve_style
from mrpvm.assistants.skills import SkillDiagnostic, SkillEntry, SnapshotDifference
from sessions_app.api.sessions.skill_responses import (
    DiagnosticObject,
    IdentityObject,
    SkillObject,
    SkillSnapshotObject,
    SnapshotDifferenceObject,
)
from sessions_app.models import Session
from sessions_app.queries.sessions.frozen_content import active_persona_of, skills_of


def identity_payload(session: Session) -> IdentityObject:
    """Return who acts and how it talks; `effective_style` is that of a message which hints at none."""
    default = active_persona_of(session).default_style
    return {
        "active_agent": session.active_agent,
        "active_persona": session.active_persona,
        "style": session.active_style,
        "effective_style": resolve_style(session.active_style, default).style,
    }


def snapshot_payload(session: Session) -> SkillSnapshotObject:
    """Return the session's skills without their instructions."""
    snapshot = skills_of(session)
    return {
        "version": session.snapshot_version,
        "hash": snapshot.content_hash,
        "skills": [skill_payload(item) for item in snapshot.skills],
        "sources": {item.skill_name: item.source for item in snapshot.skills},
        "diagnostics": [diagnostic_payload(item) for item in snapshot.diagnostics],
    }


def skill_payload(item: SkillEntry) -> SkillObject:
    """Return one skill without its instructions."""
    return {
        "skill_name": item.skill_name,
        "source": item.source,
        "path": item.path,
        "summary": item.summary,
        "invocation_mode": item.invocation_mode,
        "command": item.command,
        "command_tool_provider": item.command_tool_provider,
        "command_tool": item.command_tool,
        "requires_tools": list(item.requires_tools),
        "declared_tools": list(item.declared_tools),
        "eligibility": {
            "os": list(item.allowed_os),
            "env": list(item.required_env),
            "binaries": list(item.required_binaries),
        },
    }


def diagnostic_payload(item: SkillDiagnostic) -> DiagnosticObject:
    """Return what was found about one folder; `excludes` says whether it gives no skill because of this."""
    return {
        "skill_name": item.skill_name,
        "code": item.code,
        "message": item.message,
        "source": item.source,
        "path": item.path,
        "excludes": item.excludes,
    }


def difference_payload(difference: SnapshotDifference) -> SnapshotDifferenceObject:
    """Return the differences between two snapshots."""
    return {
        "is_empty": difference.is_empty,
        "added": [skill_payload(item) for item in difference.added],
        "removed": [skill_payload(item) for item in difference.removed],
        "changed": [
            {
                "skill_name": item.after.skill_name,
                "differing": list(item.fields),
                "before": {**skill_payload(item.before), "instructions": item.before.instructions},
                "after": {**skill_payload(item.after), "instructions": item.after.instructions},
            }
            for item in difference.changed
        ],
        "new_diagnostics": [diagnostic_payload(item) for item in difference.new_diagnostics],
        "gone_diagnostics": [diagnostic_payload(item) for item in difference.gone_diagnostics],
    }
