"""A command's input and everything that it read, recorded so that it can run again without the session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, TypedDict

from mrpvm.assistants.agents import AgentCatalogue
from mrpvm.assistants.personas import PersonaCatalogue
from mrpvm.assistants.skills import SkillSnapshot
from mrpvm.assistants.tools import Tools
from mrpvm.commands.facts import MemoryQuery, MemoryRecord, Ports, SessionFacts
from mrpvm.commands.remembered import UserFact
from mrpvm.errors import ErrorRecord, MRPError
from mrpvm.wire import from_wire, to_wire


class FrozenRecord(TypedDict):
    """The frozen content that a command was resolved with, as JSON data."""

    skills: Mapping[str, Any]
    personas: Mapping[str, Any]
    agents: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What of `SessionFacts` differs from command to command; frozen content and tools are kept elsewhere."""

    session_id: str
    snapshot_version: int
    active_agent: str
    active_persona: str
    active_style: str | None

    @classmethod
    def of(cls, facts: SessionFacts) -> Self:
        return cls(
            session_id=facts.session_id,
            snapshot_version=facts.snapshot_version,
            active_agent=facts.active_agent,
            active_persona=facts.active_persona,
            active_style=facts.active_style,
        )


def frozen_record(facts: SessionFacts) -> FrozenRecord:
    """Return the frozen content that a command was resolved with, as JSON data that many commands share."""
    return {
        "skills": asdict(facts.skills),
        "personas": asdict(facts.personas),
        "agents": asdict(facts.agents),
    }


def recorded_facts(given: Given, frozen: FrozenRecord, tools: Tools) -> SessionFacts:
    """Return the facts that a command was resolved with."""
    return SessionFacts(
        session_id=given.session_id,
        skills=SkillSnapshot.of_record(frozen["skills"]),
        snapshot_version=given.snapshot_version,
        personas=PersonaCatalogue.of_record(frozen["personas"]),
        agents=AgentCatalogue.of_record(frozen["agents"]),
        active_agent=given.active_agent,
        active_persona=given.active_persona,
        active_style=given.active_style,
        tools=tools,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCall:
    """A call of a port as JSON data: what came back, or the error that it ended with."""

    port: str
    arguments: Sequence[Any]
    returned: Any = None
    error: ErrorRecord | None = None


class CallNotRecorded(Exception):  # no MRPError: commands answer those
    """A command that is answered again asks something else; either side is None where it asks nothing."""

    def __init__(self, recorded: PortCall | None, made: PortCall | None) -> None:
        super().__init__("The command asks something that it did not ask.")
        self.recorded, self.made = recorded, made


class _FollowedPorts:
    """Ports that pass each call through `_follow`; they are their own memory store."""

    @property
    def memory(self) -> Self:
        return self

    def _follow[Value](
        self, port: str, arguments: Sequence[Any], call: Callable[[Ports], Value], read: Callable[[Any], Value]
    ) -> Value:
        """Return the result of `call`; `read` converts it from its JSON form."""
        raise NotImplementedError

    def remember(self, content: str) -> MemoryRecord:
        return self._follow("remember", (content,), lambda ports: ports.memory.remember(content), _memory_record)

    def forget(self, record_id: str) -> bool:
        return self._follow("forget", (record_id,), lambda ports: ports.memory.forget(record_id), bool)

    def keep(self, fact: UserFact) -> tuple[MemoryRecord, bool, int]:
        return self._follow("keep", (fact,), lambda ports: ports.memory.keep(fact), _kept)

    def verify(self, record_id: str, domain: str | None) -> bool:
        return self._follow("verify", (record_id, domain), lambda ports: ports.memory.verify(record_id, domain), bool)

    def archive(self, record_id: str, domain: str | None) -> bool:
        return self._follow("archive", (record_id, domain), lambda ports: ports.memory.archive(record_id, domain), bool)

    def expire(self, record_id: str, domain: str | None, hours: float) -> bool:
        arguments = (record_id, domain, hours)
        return self._follow("expire", arguments, lambda ports: ports.memory.expire(record_id, domain, hours), bool)

    def keep_evidence(self, file: str, chunks: Sequence[str]) -> None:
        self._follow("keep_evidence", (file, chunks), lambda ports: ports.memory.keep_evidence(file, chunks), _nothing)

    def records(self, query: MemoryQuery, limit: int) -> Sequence[MemoryRecord]:
        return self._follow("records", (query, limit), lambda ports: ports.memory.records(query, limit), _records)

    def said_by_user(self, limit: int) -> Sequence[str]:
        return self._follow("said_by_user", (limit,), lambda ports: ports.said_by_user(limit), tuple)

    def evidence_text(self, path: str) -> str:
        return self._follow("evidence_text", (path,), lambda ports: ports.evidence_text(path), str)

    def load_skills(self) -> SkillSnapshot:
        return self._follow("load_skills", (), lambda ports: ports.load_skills(), SkillSnapshot.of_record)

    def load_personas(self) -> PersonaCatalogue:
        return self._follow("load_personas", (), lambda ports: ports.load_personas(), PersonaCatalogue.of_record)

    def start_session(self) -> str:
        return self._follow("start_session", (), lambda ports: ports.start_session(), str)


class NotedPorts(_FollowedPorts):
    """Ports that record each call and its result in `calls`."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self.calls: list[PortCall] = []

    def _follow[Value](
        self, port: str, arguments: Sequence[Any], call: Callable[[Ports], Value], read: Callable[[Any], Value]
    ) -> Value:
        wire_arguments = to_wire(arguments)
        try:
            value = call(self._ports)
        except MRPError as error:
            self.calls.append(PortCall(port=port, arguments=wire_arguments, error=error.as_record()))
            raise
        self.calls.append(PortCall(port=port, arguments=wire_arguments, returned=_as_data(value)))
        return value


class RecordedPorts(_FollowedPorts):
    """Ports that answer as they are recorded to have answered; nothing else is asked or changed."""

    def __init__(self, calls: Sequence[PortCall]) -> None:
        self._left = list(calls)

    def _follow[Value](
        self, port: str, arguments: Sequence[Any], call: Callable[[Ports], Value], read: Callable[[Any], Value]
    ) -> Value:
        wire_arguments = to_wire(arguments)
        recorded = self._left.pop(0) if self._left else None
        if recorded is None or (recorded.port, recorded.arguments) != (port, wire_arguments):
            raise CallNotRecorded(recorded, PortCall(port=port, arguments=wire_arguments))
        if recorded.error is not None:
            raise MRPError(recorded.error["message"], code=recorded.error["code"], details=recorded.error["details"])
        return read(recorded.returned)

    def end(self) -> None:
        """Check that nothing more was asked then.

        Raises:
            CallNotRecorded: something was.
        """
        if self._left:
            raise CallNotRecorded(self._left[0], None)


def _as_data(value: object) -> Any:
    return asdict(value) if isinstance(value, SkillSnapshot | PersonaCatalogue) else to_wire(value)


def _memory_record(data: Mapping[str, Any]) -> MemoryRecord:
    return from_wire(MemoryRecord, data)


def _records(data: Sequence[Mapping[str, Any]]) -> tuple[MemoryRecord, ...]:
    return tuple(map(_memory_record, data))


def _kept(data: Sequence[Any]) -> tuple[MemoryRecord, bool, int]:
    record, is_new, count = data
    return _memory_record(record), is_new, count


def _nothing(data: object) -> None:
    return None
