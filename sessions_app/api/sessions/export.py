"""A session as a file: Markdown for people, JSON with what the session holds."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any, TypedDict

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from msgspec import Struct, structs

from mrpvm.assistants.agents import Agent
from mrpvm.assistants.personas import Persona
from mrpvm.assistants.skills import SkillDiagnostic, SkillEntry
from mrpvm.commands.result import CommandEnvelope
from mrpvm.conversation.context import ReportRecord
from mrpvm.conversation.summary import SummaryRecord
from mrpvm.errors import ErrorRecord
from mrpvm.llm.redaction import redacted_json, secrets_remembered, without_secrets
from mrpvm.llm.roles import ModelTable
from mrpvm.trace.response import ResponseDocument
from sessions_app.api.knowledge.responses import SourceObject
from sessions_app.api.sessions.content_payloads import (
    memory_payload,
    message_payload,
    mount_payload,
    remembered_payload,
    source_payload,
    unit_payload,
)
from sessions_app.api.shell.responses import MessageObject, MountObject, RememberedObject, UnitObject
from sessions_app.api.turns.responses import MemoryContents
from sessions_app.models import ExplainabilityTurn, Session, TurnRating
from sessions_app.queries.knowledge.bases import draft_sources
from sessions_app.queries.sessions.flags import PolicyValue
from sessions_app.queries.sessions.frozen_content import agents_of, personas_of, skills_of
from sessions_app.queries.sessions.lookups import messages, mounts, units
from sessions_app.queries.sessions.memory import remembered_by
from sessions_app.queries.sessions.remembered import all_remembered
from sessions_app.queries.turns.registry import registry

FORMAT_VERSION = 1


class ForkOrigin(TypedDict):
    """Where a session branched off; `sequence` is the place of the last message it took over."""

    session_id: str
    sequence: int | None
    reason: str


class ExportedSkills(TypedDict):
    """The frozen skills, after how many reloads, and what was found while they were read."""

    version: int
    skills: Sequence[SkillEntry]
    diagnostics: Sequence[SkillDiagnostic]


class SessionHead(TypedDict):
    """What a session is and what it chose."""

    session_id: str
    title: str | None
    created_at: datetime
    last_activity_at: datetime
    expires_at: datetime | None
    forked_from: ForkOrigin | None
    metadata: Mapping[str, Any]
    flags: Mapping[str, PolicyValue]
    summary: SummaryRecord | None
    system_prompt: str | None
    planner_plugin: str
    seed_detector_plugin: str | None
    kb_plugin: str | None
    goal_solver_plugin: str | None
    deliberation_level: int
    model: str | None
    model_config: ModelTable | None
    grounding: str | None
    active_agent: str
    active_persona: str
    active_style: str | None
    skill_snapshot: ExportedSkills
    personas: Sequence[Persona]
    agents: Sequence[Agent]


class ExportedRating(TypedDict):
    """What somebody thought of a turn."""

    value: str
    note: str
    rated_at: datetime


class ExportedTurn(TypedDict):
    """One turn without its trace."""

    request_id: str
    turn_index: int
    status: str
    answer_status: str | None
    answer_basis: str | None
    created_at: datetime
    finished_at: datetime | None
    duration_ms: int | None
    user_message: str
    kind: str
    planner_plugin: str | None
    seed_detector_plugin: str | None
    kb_plugin: str | None
    goal_solver_plugin: str | None
    deliberation_level: int
    model: str | None
    is_grounded: bool
    client_request: Mapping[str, Any] | None
    context_report: ReportRecord | None
    response_document: ResponseDocument | None
    command_result: CommandEnvelope | None
    unit_changes: Mapping[str, Sequence[str]]
    error: ErrorRecord | None
    rating: ExportedRating | None


class SessionDocument(TypedDict):
    """What a session holds."""

    format: str
    version: int
    session: SessionHead
    messages: Sequence[MessageObject]
    units: Sequence[UnitObject]
    draft_sources: Sequence[SourceObject]
    memory: MemoryContents
    remembered: Sequence[RememberedObject]
    mounts: Sequence[MountObject]
    turns: Sequence[ExportedTurn]


class _Encoder(DjangoJSONEncoder):
    """Writes values as objects, too."""

    def default(self, o: Any) -> Any:
        if isinstance(o, Struct):
            return structs.asdict(o)
        return asdict(o) if is_dataclass(o) and not isinstance(o, type) else super().default(o)


def exported_file(session: Session, form: str) -> HttpResponse:
    """Return the session as a download in `markdown` or `json`, secrets redacted."""
    if form == "json":
        with secrets_remembered():
            kept = redacted_json(json.dumps(document(session), cls=_Encoder).encode())
        text = json.dumps(json.loads(kept), ensure_ascii=False, indent=1)
        kind, ending = "application/json", "json"
    else:
        text, kind, ending = without_secrets(markdown(session)), "text/markdown; charset=utf-8", "md"
    name = re.sub(r"[^A-Za-z0-9._-]", "_", session.session_id)
    return HttpResponse(
        text, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}.{ending}"'}
    )


def markdown(session: Session) -> str:
    """Return the conversation as Markdown: speaker, time, turn and text of each message."""
    lines = [
        f"# {' '.join(session.label.split())}",
        "",
        f"- Session: `{session.session_id}`",
        f"- Knowledge base: {session.mounted_kb.name}",
        f"- Started: {_time(session.created_at)}",
    ]
    for message in messages(session):
        turn = f", turn `{message.turn.request_id}`" if message.turn else ""
        lines += ["", f"## {message.get_role_display()}", "", f"*{_time(message.created_at)}{turn}*"]
        lines += ["", message.content.rstrip()]
    return "\n".join(lines) + "\n"


def document(session: Session) -> SessionDocument:
    """Return what the session holds.

    Left out are the traces of turns, the events and ledger of the session, the texts of staged sources, what is in
    quarantine, and the knowledge of bases.
    """
    return {
        "format": "mrpvm-session",
        "version": FORMAT_VERSION,
        "session": _head(session),
        "messages": [message_payload(row) for row in messages(session)],
        "units": [unit_payload(row) for row in units(session)],
        "draft_sources": [source_payload(row) for row in draft_sources(session)],
        "memory": memory_payload(*remembered_by(session)),
        "remembered": [remembered_payload(row) for row in all_remembered(session)],
        "mounts": [mount_payload(row) for row in mounts(session)],
        "turns": [_turn(row) for row in registry(session)],
    }


def _head(session: Session) -> SessionHead:
    skills = skills_of(session)
    return {
        "session_id": session.session_id,
        "title": session.title,
        "created_at": session.created_at,
        "last_activity_at": session.last_activity_at,
        "expires_at": session.expires_at,
        "forked_from": _origin(session),
        "metadata": session.metadata,
        "flags": session.flags,
        "summary": session.summary,
        "system_prompt": session.system_prompt,
        "planner_plugin": session.preferred_planner_plugin,
        "seed_detector_plugin": session.preferred_seed_detector_plugin,
        "kb_plugin": session.preferred_kb_plugin,
        "goal_solver_plugin": session.preferred_goal_solver_plugin,
        "deliberation_level": session.preferred_deliberation_level,
        "model": session.preferred_model,
        "model_config": session.model_config,
        "grounding": session.grounding or None,
        "active_agent": session.active_agent,
        "active_persona": session.active_persona,
        "active_style": session.active_style,
        "skill_snapshot": {
            "version": session.snapshot_version,
            "skills": skills.skills,
            "diagnostics": skills.diagnostics,
        },
        "personas": personas_of(session).personas,
        "agents": agents_of(session).agents,
    }


def _origin(session: Session) -> ForkOrigin | None:
    if session.forked_from is None:
        return None
    return {
        "session_id": session.forked_from.session_id,
        "sequence": session.forked_at,
        "reason": session.fork_reason,
    }


def _turn(row: ExplainabilityTurn) -> ExportedTurn:
    return {
        "request_id": row.request_id,
        "turn_index": row.turn_index,
        "status": row.status,
        "answer_status": row.answer_status,
        "answer_basis": row.answer_basis or None,
        "created_at": row.created_at,
        "finished_at": row.finished_at,
        "duration_ms": row.duration_ms,
        "user_message": row.user_message,
        "kind": row.kind,
        "planner_plugin": row.planner_plugin,
        "seed_detector_plugin": row.seed_detector_plugin,
        "kb_plugin": row.kb_plugin,
        "goal_solver_plugin": row.goal_solver_plugin,
        "deliberation_level": row.deliberation_level,
        "model": row.model,
        "is_grounded": row.is_grounded,
        "client_request": row.client_request,
        "context_report": row.context_report,
        "response_document": row.response_document,
        "command_result": row.command_result,
        "unit_changes": row.unit_changes,
        "error": row.error,
        "rating": _rating(row),
    }


def _rating(row: ExplainabilityTurn) -> ExportedRating | None:
    rating: TurnRating | None = getattr(row, "rating", None)
    if rating is None:
        return None
    return {"value": rating.value, "note": rating.note, "rated_at": rating.rated_at}


def _time(moment: Any) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
