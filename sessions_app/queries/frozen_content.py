"""What sessions have frozen: skills, personas, agents; read once a process, because it never changes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mrpvm.conversation.agents import AgentCatalogue
from mrpvm.conversation.personas import FALLBACK, Persona, PersonaCatalogue
from mrpvm.conversation.skills import SkillSnapshot
from sessions_app.models import FrozenContent

if TYPE_CHECKING:
    from sessions_app.models import Session

KEPT_COUNT = 256
"""How many contents of each kind a process keeps at hand."""


class _Kept[Content]:
    """Contents by their keys; a key stands for its content for ever, so nothing here can be out of date."""

    def __init__(self, of_record: Callable[[Mapping[str, Any]], Content]) -> None:
        self._of_record = of_record
        self._kept: dict[str, Content] = {}

    def __getitem__(self, key: str) -> Content:
        found = self._kept.get(key)
        return self.keep(key, self._of_record(FrozenContent.objects.get(pk=key).content)) if found is None else found

    def keep(self, key: str, content: Content) -> Content:
        """Keep a content at hand; the one that came first makes room."""
        while len(self._kept) >= KEPT_COUNT:
            self._kept.pop(next(iter(self._kept), ""), None)
        self._kept[key] = content
        return content


SKILLS = _Kept(SkillSnapshot.of_record)
PERSONAS = _Kept(PersonaCatalogue.of_record)
AGENTS = _Kept(AgentCatalogue.of_record)


def skills_of(session: "Session") -> SkillSnapshot:
    """Give the session's skills."""
    return SKILLS[session.skills_id]


def personas_of(session: "Session") -> PersonaCatalogue:
    """Give the session's personas."""
    return PERSONAS[session.personas_id]


def agents_of(session: "Session") -> AgentCatalogue:
    """Give the session's agents."""
    return AGENTS[session.agents_id]


def active_persona_of(session: "Session") -> Persona:
    """Give who talks in the session; the fallback when its persona is not among those it has [L-104]."""
    return personas_of(session).get(session.active_persona) or FALLBACK
