"""What commands see of a session, and what they may ask of the server."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mrpvm.assistants.agents import AgentCatalogue
from mrpvm.assistants.personas import PersonaCatalogue
from mrpvm.assistants.skills import SkillSnapshot
from mrpvm.assistants.tools import Tools
from mrpvm.commands.remembered import USER_PROFILE, UserFact


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """A session's frozen state, all that a deterministic command depends on."""

    session_id: str
    skills: SkillSnapshot
    snapshot_version: int
    personas: PersonaCatalogue
    agents: AgentCatalogue
    active_agent: str
    active_persona: str
    active_style: str | None
    tools: Tools


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One remembered text; `status` is active, needs_verification, verified, conflicted or archived.

    `citation` names the chunk of a file that evidence is.
    """

    id: str
    content: str
    status: str = "active"
    is_expired: bool = False
    citation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuery:
    """Which records are wanted: those that hold the text, whatever its case; all for an empty one."""

    text: str = ""
    domains: tuple[str, ...] = (USER_PROFILE,)
    namespace: str = ""
    with_conflicted: bool = False
    with_archived: bool = False
    with_expired: bool = False


class MemoryStore(Protocol):
    """What the session was told to remember."""

    def remember(self, content: str) -> MemoryRecord:
        """Keep a text; one that is kept already is given again."""

    def forget(self, record_id: str) -> bool:
        """Drop a record; False if there is none of this id."""

    def keep(self, fact: UserFact) -> tuple[MemoryRecord, bool, int]:
        """Keep a fact to be verified; return the record, whether it is new, and how many others it contradicts."""

    def verify(self, record_id: str, domain: str | None) -> bool:
        """Mark a record as verified; False if there is none of this id, in this domain if one is named."""

    def archive(self, record_id: str, domain: str | None) -> bool:
        """Archive a record until it is verified or told again; False as for `verify`."""

    def expire(self, record_id: str, domain: str | None, hours: float) -> bool:
        """Set a record to expire so many hours from now; False as for `verify`."""

    def keep_evidence(self, file: str, chunks: Sequence[str]) -> None:
        """Keep the chunks of a file in place of those that are kept of it already."""

    def records(self, query: MemoryQuery, limit: int) -> Sequence[MemoryRecord]:
        """Return the newest records that are wanted."""


class Ports(Protocol):
    """What a command may ask for beyond the session's own state; nothing is read unless a command says so."""

    @property
    def memory(self) -> MemoryStore:
        """Return what the session remembers."""

    def said_by_user(self, limit: int) -> Sequence[str]:
        """Return the user's newest messages, the oldest of them first."""

    def evidence_text(self, path: str) -> str:
        """Return the text of a file of the project's own evidence folder.

        Raises:
            MRPError: the folder has no such file, or the file is not text or too large.
        """

    def load_skills(self) -> SkillSnapshot:
        """Return the skills as the files are now.

        Raises:
            MRPError: they cannot be read.
        """

    def load_personas(self) -> PersonaCatalogue:
        """Return the personas as the files are now."""

    def start_session(self) -> str:
        """Make another session and give its id."""
