"""The policies of a turn: the server's, which project, session and request may override."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from django.conf import settings

from mrpvm.conversation.flags import DOCUMENT_BIAS, LIMITS, NAMES, DocumentBias, Flags, resolve_flags
from sessions_app.models import Session
from sessions_app.models.settings.project import Grounding

type PolicyValue = bool | int | float | str
type PolicyLevel = Literal["session", "project", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPolicy:
    """A policy for a session's next turn, and where its value comes from.

    `otherwise` is the value without the session's own choice. `choices` are all possible values, or None for a number,
    which is from `least` to `most`.
    """

    name: str
    value: PolicyValue
    chosen_by: PolicyLevel
    otherwise: PolicyValue
    choices: tuple[PolicyValue, ...] | None = None
    least: float | None = None
    most: float | None = None


def policies_of(session: Session) -> tuple[SessionPolicy, ...]:
    """Return the session's policies: its flags, and `grounding`, which only turns with a model use."""
    project, server = session.project, server_flags()
    levels: tuple[tuple[PolicyLevel, Mapping[str, PolicyValue]], ...] = (
        ("session", {**session.flags, "grounding": session.grounding}),
        ("project", {**project.flags, "grounding": project.grounding}),
        ("server", {name: getattr(server, name) for name in NAMES} | {"grounding": settings.MRPVM_GROUNDING}),
    )
    return tuple(_policy(name, levels) for name in (*NAMES, "grounding"))


def _policy(name: str, levels: tuple[tuple[PolicyLevel, Mapping[str, PolicyValue]], ...]) -> SessionPolicy:
    chosen = [(named, level[name]) for named, level in levels if level.get(name) not in (None, "")]
    chosen_by, value = chosen[0]
    _, otherwise = next(item for item in chosen if item[0] != "session")
    least, most = LIMITS.get(name, (None, None))
    return SessionPolicy(
        name=name, value=value, chosen_by=chosen_by, otherwise=otherwise, choices=_choices(name), least=least, most=most
    )


def _choices(name: str) -> tuple[PolicyValue, ...] | None:
    if name == "grounding":
        return tuple(Grounding.values)
    if name == "document_bias":
        return DOCUMENT_BIAS
    return None if name in LIMITS else (True, False)


def server_flags() -> Flags:
    """Return the server's own."""
    return Flags(
        enable_query_rewriting=settings.MRPVM_QUERY_REWRITING,
        enable_session_memory=settings.MRPVM_SESSION_MEMORY,
        enable_history_summarization=settings.MRPVM_HISTORY_SUMMARIZATION,
        enable_skill_selection=settings.MRPVM_SKILL_SELECTION,
        enable_quotes=settings.MRPVM_QUOTES,
        history_max_turns=settings.MRPVM_HISTORY_MAX_TURNS,
        verbatim_max_turns=settings.MRPVM_VERBATIM_MAX_TURNS,
        verbatim_max_tokens=settings.MRPVM_VERBATIM_MAX_TOKENS,
        summary_max_tokens=settings.MRPVM_SUMMARY_MAX_TOKENS,
        session_memory_ttl_hours=settings.MRPVM_SESSION_MEMORY_TTL_HOURS,
        document_bias=cast(DocumentBias, settings.MRPVM_DOCUMENT_BIAS),
    )


def flags_of(session: Session, requested: Mapping[str, Any]) -> Flags:
    """Return the flags of a turn in this session."""
    return resolve_flags(server_flags(), session.project.flags, session.flags, requested)
