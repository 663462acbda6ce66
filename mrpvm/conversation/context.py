"""Builds the context of model calls, with a report of its parts and of what was cut.

Sections come in a fixed order: the instructions one by one, memory, summary, conversation, evidence, message. What the
window left out and what the summary tells are in one system message before the conversation.
"""

from collections.abc import Iterable, Sequence
from copy import replace
from typing import NotRequired, TypedDict

from msgspec import Struct

from mrpvm.conversation.rewriting import Rewriting, RewritingRecord
from mrpvm.conversation.summary import Summary
from mrpvm.conversation.system_prompt import Instruction
from mrpvm.conversation.window import Window
from mrpvm.llm.recorder import ModelExchange
from mrpvm.values import CHARS_PER_TOKEN, HistoryMessage

SUMMARISED = "summarised"
"""The rule of a section that describes messages in place of their words."""
LATEST_REPLY = "latest reply in the conversation above"
"""What a message is called where it follows a conversation."""


class SectionRecord(TypedDict):
    """A section as stored data; what says nothing is not there."""

    name: str
    source: str
    chars: int
    tokens: int
    text: NotRequired[str]
    kept_count: NotRequired[int]
    omitted_count: NotRequired[int]
    rule: NotRequired[str]
    note: NotRequired[str]
    places: NotRequired[list[int]]
    unit_ids: NotRequired[list[str]]


class Section(Struct, frozen=True, kw_only=True):
    """A part of the context: where it comes from, how large it is, and what was left out of it by which rule.

    `text` is None where it can be had from its source: `places` then names the first and last stored message.
    """

    name: str
    source: str
    chars: int
    text: str | None = None
    kept_count: int | None = None
    omitted_count: int = 0
    rule: str | None = None
    note: str = ""
    places: tuple[int, int] | None = None
    unit_ids: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return -(-self.chars // CHARS_PER_TOKEN)

    def as_record(self) -> SectionRecord:
        """Return the section as stored data, without what says nothing."""
        record: SectionRecord = {
            "name": self.name, "source": self.source, "chars": self.chars, "tokens": self.tokens,
        }  # fmt: skip
        if self.text:
            record["text"] = self.text
        if self.kept_count is not None:
            record["kept_count"] = self.kept_count
        if self.omitted_count:
            record["omitted_count"] = self.omitted_count
        if self.rule:
            record["rule"] = self.rule
        if self.note:
            record["note"] = self.note
        if self.places:
            record["places"] = list(self.places)
        if self.unit_ids:
            record["unit_ids"] = list(self.unit_ids)
        return record


class MemoryReport(TypedDict, total=False):
    """What a turn took from the session's memory, and, once it is committed, what it left there."""

    preferred_documents: list[str]
    turn_count: int
    active_documents: list[str]
    active_sections: list[str]
    resolved_terms: list[str]
    expires_at: str


class ReportRecord(TypedDict):
    """A report as stored data: a turn's `context_report`."""

    conversationSource: str
    chars: int
    tokens: int
    sections: list[SectionRecord]
    warnings: list[str]
    requests: NotRequired[list[ModelExchange]]
    rewriting: NotRequired[RewritingRecord]
    memory: NotRequired[MemoryReport]
    skill: NotRequired[str]
    modelCalls: NotRequired[int]


class ContextReport(Struct, frozen=True, kw_only=True):
    """The parts of a turn's context, and what was cut.

    `requests` are those that preparing the turn sent to models, redacted. `skill` is the one that a model chose.
    """

    conversation_source: str
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()
    requests: tuple[ModelExchange, ...] = ()
    rewriting: Rewriting | None = None
    memory: MemoryReport | None = None
    skill: str | None = None
    model_call_count: int | None = None

    def with_warning(self, warning: str) -> "ContextReport":
        return replace(self, warnings=(*self.warnings, warning))

    def with_reading(self, read_as: Sequence[str]) -> "ContextReport":
        """Return the report with what a detector read the message as, where that is more than it says."""
        if not read_as or self.rewriting is None:
            return self
        return replace(self, rewriting=replace(self.rewriting, read_as=tuple(read_as)))

    def with_evidence(self, unit_ids: Sequence[str], chars: int) -> "ContextReport":
        """Return the report with what was retrieved for the answer, before the message's section."""
        if not unit_ids:
            return self
        evidence = Section(
            name="evidence", source="retrieval", chars=chars, kept_count=len(unit_ids), unit_ids=tuple(unit_ids)
        )
        return replace(self, sections=(*self.sections[:-1], evidence, self.sections[-1]))

    def as_record(self) -> ReportRecord:
        """Return the report as stored data."""
        record: ReportRecord = {
            "conversationSource": self.conversation_source,
            "chars": sum(section.chars for section in self.sections),
            "tokens": sum(section.tokens for section in self.sections),
            "sections": [section.as_record() for section in self.sections],
            "warnings": list(self.warnings),
        }
        if self.requests:
            record["requests"] = list(self.requests)
        if self.rewriting is not None:
            record["rewriting"] = self.rewriting.as_record()
        if self.memory is not None:
            record["memory"] = self.memory
        if self.skill is not None:
            record["skill"] = self.skill
        if self.model_call_count is not None:
            record["modelCalls"] = self.model_call_count
        return record


class Context(Struct, frozen=True, kw_only=True):
    """What goes to the machine: `history` begins with a system message if there is something to tell."""

    history: tuple[HistoryMessage, ...]
    report: ContextReport


def build_context(
    *,
    message: str,
    instructions: Sequence[Instruction],
    window: Window,
    summary: Summary,
    memory: str = "",
    source: str,
    places: tuple[int, int] | None = None,
    warnings: tuple[str, ...] = (),
) -> Context:
    """Return the context of a turn before anything was retrieved.

    Args:
        window: without the current message, on every path.
        source: where the conversation comes from: `request`, `stored` or `none`.
        places: the first and last stored message of the window, None for one that is not stored so.
    """
    note = "\n".join(filter(None, (_summarised(summary) if summary.text else "", window.note)))
    lines = [line for line in (memory, f"Session summary: {summary.text}" if summary.text else "", note) if line]
    lead = (HistoryMessage(role="system", content="\n".join(lines)),) if lines else ()
    sections = [
        *(_instruction(part) for part in instructions),
        _whole("memory", "session memory", memory),
        _summary_section(summary),
        _window_section(window, note, source, places),
        _message_section(message, window),
    ]
    report = ContextReport(
        conversation_source=source if window.messages else "none",
        sections=tuple(section for section in sections if section is not None),
        warnings=warnings,
    )
    return Context(history=(*lead, *window.messages), report=report)


def conversation_text(messages: Iterable[HistoryMessage]) -> str:
    """Return messages as a person reads them."""
    return "\n\n".join(f"**{item.role}**: {item.content}" for item in messages)


def follows_reply(history: Iterable[HistoryMessage]) -> bool:
    """Return whether a message follows a conversation, so that it answers the latest reply in it."""
    return any(item.role == "assistant" for item in history)


def message_to_read(message: str, history: Iterable[HistoryMessage]) -> dict[str, str]:
    """Return a message as JSON data for a model, marked as `LATEST_REPLY` where it follows a conversation."""
    return {"message": message} | ({"message_is": LATEST_REPLY} if follows_reply(history) else {})


def _message_section(message: str, window: Window) -> Section | None:
    section = _whole("message", "request", message)
    is_reply = section is not None and follows_reply(window.messages)
    return replace(section, note=LATEST_REPLY) if section is not None and is_reply else section


def _summarised(summary: Summary) -> str:
    return f"({summary.through} older messages summarised)"


def _whole(name: str, source: str, text: str | None) -> Section | None:
    return Section(name=name, source=source, chars=len(text), text=text) if text else None


def _instruction(part: Instruction) -> Section:
    return Section(
        name=part.name,
        source=part.source,
        chars=len(part.text.strip()),
        text=part.text.strip(),
        kept_count=part.kept_count,
        omitted_count=part.omitted_count,
        rule="fitting" if part.omitted_count else None,
    )


def _summary_section(summary: Summary) -> Section | None:
    if not summary.text:
        return None
    return Section(
        name="summary",
        source="a model" if summary.origin == "model" else "rules",
        chars=len(summary.text),
        text=summary.text,
        omitted_count=summary.through,
        rule=SUMMARISED,
        note="; ".join(filter(None, (_summarised(summary), summary.note))),
        places=(1, summary.through),
    )


def _window_section(window: Window, note: str, source: str, places: tuple[int, int] | None) -> Section | None:
    if not window.messages:
        return None
    shown = conversation_text(window.messages)
    return Section(
        name="conversation",
        source=source,
        chars=len(shown),
        text=None if places and not window.cut_count else shown,
        kept_count=len(window.messages),
        omitted_count=window.omitted_count,
        rule=window.rule,
        note=note,
        places=places,
    )
