"""A session's frozen state for tests of commands, without a database."""

from collections.abc import Sequence
from copy import replace
from dataclasses import dataclass, field
from typing import Any

from mrpvm.assistants.agents import Agent, AgentCatalogue
from mrpvm.assistants.personas import Persona, PersonaCatalogue
from mrpvm.assistants.skills import SkillDiagnostic, SkillEntry, SkillRootError, SkillSnapshot
from mrpvm.assistants.tools import BUILTIN_TOOLS, Tools
from mrpvm.commands import (
    CommandOutcome,
    MemoryQuery,
    MemoryRecord,
    SessionFacts,
    answer,
    resolve,
)
from mrpvm.commands.evidence import citation_of
from mrpvm.commands.remembered import UserFact
from mrpvm.errors import NotFound


def tool_skill(name: str, tool: str, **more: Any) -> SkillEntry:
    """Return a skill that calls a built-in tool."""
    return SkillEntry(
        skill_name=name, source="bundled", path=f"{name}/SKILL.md", invocation_mode="tool_dispatch", command_tool=tool,
        **more,
    )  # fmt: skip


def text_skill(name: str, **more: Any) -> SkillEntry:
    """Return a skill that guides a model."""
    return SkillEntry(skill_name=name, source="workspace", path=f"{name}/SKILL.md", instructions=f"Do {name}.", **more)


def persona(name: str, style: str) -> Persona:
    """Return a persona."""
    return Persona(id=name, summary=f"The {name}.", default_style=style, instructions=f"Be {name}.", source="bundled")


def agent(name: str, *tools: str) -> Agent:
    """Return an agent."""
    return Agent(id=name, summary=f"The {name}.", declared_tools=tools, instructions="", source="bundled")


SKILLS = SkillSnapshot(
    (
        tool_skill("add", "add", command="sum", summary="Adds."),
        tool_skill("minus", "subtract", command="less"),
        text_skill("echo", summary="Echoes.", command="say"),
        text_skill("first", command="twice"),
        text_skill("second", command="twice"),
    ),
    (SkillDiagnostic(skill_name="bad", code="malformed_frontmatter", message="Invalid frontmatter: x"),),
)
FACTS = SessionFacts(
    session_id="sess-1",
    skills=SKILLS,
    snapshot_version=3,
    personas=PersonaCatalogue((persona("barbie", "playful"), persona("chad", "playful"), persona("lily", "focus"))),
    agents=AgentCatalogue((agent("default"), agent("ops"), agent("reader", "subtract"))),
    active_agent="default",
    active_persona="lily",
    active_style=None,
    tools=Tools(BUILTIN_TOOLS),
)


@dataclass
class ScriptedPorts:
    """Scripted files and server state; counts how often each is read."""

    skills: SkillSnapshot | None = None
    personas: PersonaCatalogue = field(default_factory=PersonaCatalogue)
    kept: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    queries: list[MemoryQuery] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    evidence: list[MemoryRecord] = field(default_factory=list)
    ends: dict[str, float] = field(default_factory=dict)

    @property
    def memory(self) -> "ScriptedPorts":
        """Return the memory, which is this object too."""
        return self

    def load_skills(self) -> SkillSnapshot:
        """Return the scripted snapshot, or fail as with a missing root."""
        self.asked.append("skills")
        if self.skills is None:
            raise SkillRootError("gone")
        return self.skills

    def load_personas(self) -> PersonaCatalogue:
        """Return the scripted catalogue."""
        self.asked.append("personas")
        return self.personas

    def start_session(self) -> str:
        """Return the same id each time."""
        self.asked.append("session")
        return "sess-2"

    def remember(self, content: str) -> MemoryRecord:
        """Keep a text under the next number."""
        record_id = next((key for key, text in self.kept.items() if text == content), f"mem_{len(self.kept)}")
        self.kept[record_id] = content
        return MemoryRecord(id=record_id, content=content)

    def forget(self, record_id: str) -> bool:
        """Drop a text."""
        return self.kept.pop(record_id, None) is not None

    def keep(self, fact: UserFact) -> tuple[MemoryRecord, bool, int]:
        """Keep a fact."""
        is_new = fact.content not in self.kept.values()
        return replace(self.remember(fact.content), status="needs_verification"), is_new, 0

    def verify(self, record_id: str, domain: str | None) -> bool:
        """Return whether the record exists; all records are of the user's profile."""
        return record_id in self.kept and domain in (None, "user_profile")

    def archive(self, record_id: str, domain: str | None) -> bool:
        """Return whether the record exists."""
        return self.verify(record_id, domain)

    def expire(self, record_id: str, domain: str | None, hours: float) -> bool:
        """Record when a record expires."""
        self.ends[record_id] = hours
        return self.verify(record_id, domain)

    def keep_evidence(self, file: str, chunks: Sequence[str]) -> None:
        """Replace all chunks."""
        self.evidence = [
            MemoryRecord(id=f"ev_{number}", content=chunk, citation=citation_of(file, number))
            for number, chunk in enumerate(chunks, 1)
        ]

    def evidence_text(self, path: str) -> str:
        """Return the text of a file."""
        if path not in self.files:
            raise NotFound("no such file.")
        return self.files[path]

    def said_by_user(self, limit: int) -> Sequence[str]:
        """Return what the user said."""
        return self.said[-limit:]

    def records(self, query: MemoryQuery, limit: int) -> Sequence[MemoryRecord]:
        """Return the newest texts that contain the query; all are of the user's profile."""
        self.queries.append(query)
        if query.domains == ("evidence",):
            return [item for item in self.evidence if query.text.lower() in item.content.lower()][:limit]
        held = self.kept if "user_profile" in query.domains else {}
        found = [MemoryRecord(id=key, content=text) for key, text in held.items() if query.text.lower() in text.lower()]
        return found[::-1][:limit]


def run(text: str, facts: SessionFacts = FACTS, ports: ScriptedPorts | None = None) -> CommandOutcome:
    """Return the outcome of a command."""
    return answer(resolve(text, facts), facts, ports or ScriptedPorts())


def after(facts: SessionFacts, outcome: CommandOutcome) -> SessionFacts:
    """Return the state after an outcome."""
    return replace(facts, **outcome.changes)


def said(text: str, facts: SessionFacts = FACTS, ports: ScriptedPorts | None = None) -> tuple[str, str, object]:
    """Return the code, message and data of a command's result."""
    result = run(text, facts, ports).result
    assert (result.status == "error") == result.message.startswith(("Error: ", "Security alert: "))
    return result.code, result.message, result.data
