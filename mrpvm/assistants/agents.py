"""Agents: who acts, and with which tools. A persona says how it talks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, Self

from mrpvm.assistants.catalogue_files import FileDiagnostic, FileForm, FileRoot, read_files
from mrpvm.assistants.content import content_hash
from mrpvm.assistants.front_matter import MalformedText, read_mapping, split_front_matter, text_of, texts_of
from mrpvm.assistants.identifiers import checked_id

DEFAULT_ID = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Who acts. With `declared_tools` it may run these tools alone; without any, every tool that skills declare."""

    id: str
    summary: str
    declared_tools: tuple[str, ...]
    instructions: str
    source: str

    def may_run(self, provider: str, tool: str) -> bool:
        """Return whether the agent may run a tool."""
        return not self.declared_tools or bool({tool, f"{provider}:{tool}"} & set(self.declared_tools))


@dataclass(frozen=True)
class AgentCatalogue:
    """The agents, sorted by id, and what was found while reading."""

    agents: tuple[Agent, ...] = ()
    diagnostics: tuple[FileDiagnostic, ...] = ()

    def get(self, agent_id: str) -> Agent | None:
        """Return the agent of an id."""
        return next((item for item in self.agents if item.id == agent_id), None)

    @cached_property
    def content_hash(self) -> str:
        """Return the hash that identifies the content."""
        return content_hash(asdict(self))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the catalogue of a stored record; fields that agents no longer have are passed over."""
        names = {field.name for field in fields(Agent)}
        known = [{name: value for name, value in item.items() if name in names} for item in record["agents"]]
        return cls(
            agents=tuple(Agent(**{**item, "declared_tools": tuple(item["declared_tools"])}) for item in known),
            diagnostics=tuple(FileDiagnostic(**item) for item in record["diagnostics"]),
        )


def load_agents(roots: Sequence[FileRoot]) -> AgentCatalogue:
    """Return the catalogue of the roots, the lowest precedence first; a bad file excludes only itself."""
    by_id, diagnostics = read_files(roots, _FORM)
    return AgentCatalogue(tuple(by_id.values()), tuple(diagnostics))


@lru_cache(maxsize=256)
def _agent(source: str, name: str, text: str) -> Agent:
    front_matter, body = split_front_matter(text) if name.endswith(".md") else (read_mapping(text), "")
    if not text_of(front_matter, "id"):
        raise MalformedText("Invalid agent: id is required")
    return Agent(
        id=checked_id(text_of(front_matter, "id")),
        summary=" ".join(text_of(front_matter, "summary").split()),
        declared_tools=tuple(sorted(texts_of(front_matter, "declared_tools"))),
        instructions=body or text_of(front_matter, "instructions"),
        source=source,
    )


_FORM = FileForm(noun="agent", endings=(".agent.yaml", ".agent.yml", ".agent.md"), read=_agent)
