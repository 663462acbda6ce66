"""The frozen skills, personas and agents of sessions; cached in the process, because they never change."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from mrpvm.assistants.agents import AgentCatalogue
from mrpvm.assistants.personas import FALLBACK, Persona, PersonaCatalogue
from mrpvm.assistants.skills import SkillSnapshot
from sessions_app.models import FrozenContent, Session

KEPT_COUNT = 256
"""How many contents of each kind a process caches."""

# A key is a hash of its content, so a cached content is never out of date.


@lru_cache(maxsize=KEPT_COUNT)
def _skills(key: str) -> SkillSnapshot:
    return SkillSnapshot.of_record(_record(key))


@lru_cache(maxsize=KEPT_COUNT)
def _personas(key: str) -> PersonaCatalogue:
    return PersonaCatalogue.of_record(_record(key))


@lru_cache(maxsize=KEPT_COUNT)
def _agents(key: str) -> AgentCatalogue:
    return AgentCatalogue.of_record(_record(key))


def _record(key: str) -> Mapping[str, Any]:
    return FrozenContent.objects.get(pk=key).content


def skills_of(session: Session) -> SkillSnapshot:
    return _skills(session.skills_id)


def personas_of(session: Session) -> PersonaCatalogue:
    return _personas(session.personas_id)


def agents_of(session: Session) -> AgentCatalogue:
    return _agents(session.agents_id)


def active_persona_of(session: Session) -> Persona:
    """Return the session's active persona, or the fallback if the session does not have it."""
    return personas_of(session).get(session.active_persona) or FALLBACK
