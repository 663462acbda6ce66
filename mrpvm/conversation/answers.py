"""One answer in its four readings: document, answer text, full markdown, preview.

Every solver and the fan-out merge go through these functions, so the envelope never depends on who solved.
A group cites by marks `[1]`, `[2]` ... in its own text, counted along its `cited_unit_ids`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import replace
from typing import Any

from mrpvm.english.messages.kinds import kind_of
from mrpvm.english.messages.small_talk import NOTED_OPENING, REPLIES, UNDERSTOOD_REPLY
from mrpvm.text_cache import TextCache
from mrpvm.trace.response import (
    ResponseDocument,
    ResponseGroup,
    UnitValue,
    UsedSource,
    base_units,
    message_units,
    session_units,
)
from mrpvm.values import CHARS_PER_TOKEN, Answer, AnswerGroup, Evidence, EvidenceEntry, Intent, KnowledgeUnit, Store
from mrpvm.wire import from_wire, to_wire

NO_CONTEXT_TEXT = "The session context and persistent KB do not contain enough evidence to answer this intent."
"""What a group says when nothing was found."""
UNKNOWN_TEXT = "I don't know: nothing I was told or given answers this."
"""What a person reads in its place."""
UNDONE_TEXT = "I can't do that: I only answer from what I was told or given."
"""What a person reads in its place who asked for a translation, say."""
MODEL_FAILED_TEXT = "I can't answer this now: nothing I was told or given answers it, and the language model failed."
"""What a person reads in place of either where a model was asked in vain."""
UNDECIDED_TEXT = "The evidence gives more than one answer and does not decide between them."
"""How a group begins whose statements contradict one another; marks name them."""
QUOTED_OPENING = "I found no direct answer. The closest passage says:"
"""How a group begins that answers nothing, but shows a passage."""
_HEADING_CHARS = 80
_MARK = re.compile(r"(?<!\\)\[(\d{1,3})\](?!\()")
_MARK_OR_OPENING = re.compile(rf"[ ]?(?<!\\)\[\d{{1,3}}\](?!\()|^{NOTED_OPENING}[ ]?", re.MULTILINE)


@TextCache  # the same answers are the history of turn after turn
def words_told(text: str) -> str:
    """Return an answer without the marks of its sources and without what opens an acknowledgement.

    The marks number the sources of this answer alone, and would name others elsewhere.
    """
    return _MARK_OR_OPENING.sub("", text)


def no_context_text(*, as_json: bool = False, text: str = NO_CONTEXT_TEXT) -> str:
    """Return the text of a group without evidence, wrapped when a JSON form was asked for."""
    return json.dumps({"status": "no-context", "answer": text}, ensure_ascii=False) if as_json else text


def no_context(evidence: Sequence[Evidence]) -> Answer:
    """Return the answer that no intent could be answered, with what was found for each."""
    return Answer(
        groups=tuple(
            AnswerGroup(
                intent_ref=item.intent.group_number,
                act=item.intent.act,
                intent=item.intent.target,
                status="no-context",
                answer_markdown=NO_CONTEXT_TEXT,
                evidence=item.entries,
            )
            for item in evidence
        )
    )


def with_model_failures(answer: Answer, messages: Iterable[str]) -> Answer:
    """Return an answer that no model wrote, with a warning in each group of why each model that was asked did not."""
    warnings = tuple(f"The language model failed: {message}" for message in dict.fromkeys(messages))
    if not warnings:
        return answer
    groups = (replace(group, warnings=(*group.warnings, *warnings), model_failed=True) for group in answer.groups)
    return Answer(groups=tuple(groups))


def response_document(answer: Answer, session_id: str) -> ResponseDocument:
    """Return the structured result: one group per admitted intent, in intent order."""
    return {"sessionId": session_id, "groups": [_group_document(group) for group in answer.groups]}


def _group_document(group: AnswerGroup) -> ResponseGroup:
    return {
        "intentRef": group.intent_ref,
        "act": group.act,
        "intent": group.intent,
        "status": group.status,
        "basis": group.basis,
        "confidence": group.confidence,
        "reason": group.reason,
        "currentTurnContext": [to_wire(entry.unit) for entry in _of(group, "current-turn")],
        "sessionSources": [_source(entry) for entry in _of(group, "session")],
        "kbSources": [{"sourceId": entry.unit.source_id, **_source(entry)} for entry in _of(group, "draft", "kb")],
        "pluginOutput": to_wire(group.plugin_output),
        "answerMarkdown": group.answer_markdown,
        "citedUnitIds": list(group.cited_unit_ids),
        "grounded": group.grounded,
        "warnings": list(group.warnings),
    }


def stored_answer(document: ResponseDocument | None, *, with_evidence: bool) -> Answer:
    """Return the parts of a succeeded turn's answer that memory uses, or what it cites; scores are left out."""
    groups = document.get("groups", ()) if document else ()
    return Answer(groups=tuple(_group_of(group, _stored_evidence(group) if with_evidence else ()) for group in groups))


def _group_of(group: ResponseGroup, evidence: tuple[EvidenceEntry, ...]) -> AnswerGroup:
    return AnswerGroup(
        intent_ref=group["intentRef"],
        act=group["act"],
        intent=group["intent"],
        status=group["status"],
        answer_markdown=group["answerMarkdown"],
        cited_unit_ids=tuple(group["citedUnitIds"]),
        evidence=evidence,
    )


def _stored_evidence(group: ResponseGroup) -> tuple[EvidenceEntry, ...]:
    stores: tuple[tuple[Store, Iterable[UnitValue]], ...] = (
        ("current-turn", message_units(group)), ("session", session_units(group)), ("kb", base_units(group))
    )  # fmt: skip
    return tuple(
        EvidenceEntry(unit=from_wire(KnowledgeUnit, unit), score=0.0, store=store)
        for store, units in stores
        for unit in units
    )


def _of(group: AnswerGroup, *stores: str) -> list[EvidenceEntry]:
    return [entry for entry in group.evidence if entry.store in stores]


def _source(entry: EvidenceEntry) -> UsedSource:
    return {"unitId": entry.unit.id, "score": entry.score, "unit": to_wire(entry.unit)}


def answer_text(answer: Answer) -> str:
    """Return what a person reads: the groups' answers under short headings, source marks counted through.

    One group has no heading, nor has a group whose answer is its intent. Marks of later groups continue from the
    earlier ones; a unit keeps its number.
    """
    if len(answer.groups) == 1:
        return _in_plain_words(answer.groups[0])
    numbers: dict[str, int] = {}
    return "\n\n".join(
        f"**{heading(group.intent)}**\n\n{_renumbered(group, numbers)}"
        if group.answer_markdown != group.intent
        else group.answer_markdown
        for group in answer.groups
    )


def heading(intent: str) -> str:
    """Return an intent's text as a short heading on one line."""
    line = " ".join(intent.split()).replace("*", "")
    return line if len(line) <= _HEADING_CHARS else line[: _HEADING_CHARS - 1].rsplit(" ", 1)[0] + "\u2026"


def _renumbered(group: AnswerGroup, numbers: dict[str, int]) -> str:
    def mark(match: re.Match[str]) -> str:
        place = int(match[1])
        if not 1 <= place <= len(group.cited_unit_ids):
            return match[0]
        return f"[{numbers.setdefault(group.cited_unit_ids[place - 1], len(numbers) + 1)}]"

    return _MARK.sub(mark, _in_plain_words(group))


def _in_plain_words(group: AnswerGroup) -> str:
    if group.answer_markdown != NO_CONTEXT_TEXT:
        return group.answer_markdown
    if group.model_failed:
        return MODEL_FAILED_TEXT
    return UNDONE_TEXT if kind_of(group.intent, is_alone=True) == "order" else UNKNOWN_TEXT


def answers_nothing(text: str) -> bool:
    """Return whether an assistant's message says that nothing is known, replies to small talk, or shows a passage."""
    said = text.strip()
    stock = (NO_CONTEXT_TEXT, UNKNOWN_TEXT, UNDONE_TEXT, MODEL_FAILED_TEXT, UNDERSTOOD_REPLY, *REPLIES.values())
    return said in stock or said.startswith((QUOTED_OPENING, UNDECIDED_TEXT))


def with_idle_intents(answer: Answer, intents: Sequence[Intent]) -> Answer:
    """Return the answer with a group for every intent: those that nothing was done for were deactivated."""
    groups = {group.intent_ref: group for group in answer.groups}
    idle = (
        AnswerGroup(
            intent_ref=intent.group_number,
            act=intent.act,
            intent=intent.target,
            status="no-context",
            answer_markdown=NO_CONTEXT_TEXT,
            warnings=("Nothing was done for this: it was deactivated.",),
        )
        for intent in intents
        if intent.group_number not in groups
    )
    return Answer(groups=tuple(sorted((*answer.groups, *idle), key=lambda group: group.intent_ref)))


def join_parts(intent_ref: int, act: str, intent: str, parts: Sequence[tuple[str, AnswerGroup | str]]) -> AnswerGroup:
    """Return the group of a task from the groups of its sub-tasks, in their order; what is not answered is warned of.

    Args:
        parts: each sub-task's text with its group, or with the reason why there is none.
    """
    groups = [group for _, group in parts if isinstance(group, AnswerGroup)]
    answered = [group for group in groups if group.status == "answered"]
    open_ones = [
        f"Not answered: {heading(text)}" for text, group in parts if isinstance(group, str) or group not in answered
    ]
    joined = Answer(groups=tuple(answered))
    return AnswerGroup(
        intent_ref=intent_ref,
        act=act,
        intent=intent,
        status="answered" if answered else "no-context",
        answer_markdown=answer_text(joined) if answered else NO_CONTEXT_TEXT,
        evidence=tuple({entry.unit.id: entry for group in groups for entry in group.evidence}.values()),
        cited_unit_ids=tuple(cited_units(joined)),
        basis="composed" if len(answered) > 1 else joined.basis,
        warnings=(*(warning for group in groups for warning in group.warnings), *open_ones),
        grounded=all(group.grounded for group in answered),
        model_failed=any(group.model_failed for group in groups),
    )


def cited_units(answer: Answer) -> list[str]:
    """Return the cited unit ids in the order in which `answer_text` numbers them."""
    return list(
        dict.fromkeys(unit_id for group in answer.groups for unit_id in _marked(group, len(answer.groups) == 1))
    )


def cited_sources(answer: Answer) -> list[str]:
    """Return for each mark of `answer_text` the name of the source that it cites.

    A unit that the conversation stated has the id of its chunk instead, which names the turn.
    """
    units = {entry.unit.id: entry.unit for group in answer.groups for entry in group.evidence}
    cited = (units[unit_id] for unit_id in cited_units(answer) if unit_id in units)
    return [unit.chunk_id if unit.source_id == "session" else unit.source_name or unit.source_id for unit in cited]


def _marked(group: AnswerGroup, alone: bool) -> Iterable[str]:
    if alone:
        return group.cited_unit_ids
    places = [int(match[1]) for match in _MARK.finditer(group.answer_markdown)]
    return [group.cited_unit_ids[place - 1] for place in places if 1 <= place <= len(group.cited_unit_ids)]


def response_markdown(answer: Answer, session_id: str) -> str:
    """Return the full rendering with all sources; it agrees with the document in every status."""
    lines = ["# MRP Response", "", f"Session: {session_id}"]
    for group in answer.groups:
        lines += ["", *_group_lines(group)]
    return "\n".join(lines) + "\n"


def _group_lines(group: AnswerGroup) -> list[str]:
    lines = [
        f"## Intent Group {group.intent_ref}",
        "",
        f"Act: {group.act}",
        f"Intent: {' '.join(group.intent.split())}",
        f"Status: {group.status}",
    ]
    lines += _unit_section("Current-Turn Context", _of(group, "current-turn"))
    lines += _unit_section("Session Context", _of(group, "session"))
    lines += _unit_section("Persistent KB Context", _of(group, "draft", "kb"), with_source=True)
    if group.plugin_output is not None:
        lines += ["", "### Plugin Evidence", "", *_plugin_lines(group.plugin_output)]
    used = [f"- {unit_id}" for unit_id in group.cited_unit_ids] or ["(none)"]
    return [*lines, "", "### Answer", "", group.answer_markdown, "", "### Sources Used", "", *used]


def _unit_section(title: str, entries: list[EvidenceEntry], *, with_source: bool = False) -> list[str]:
    if not entries:
        return []
    lines = ["", f"### {title}"]
    for entry in entries:
        lines += ["", f"#### {entry.unit.id} (score: {entry.score:.2f})", "", f"Role: {entry.unit.role}"]
        if with_source:
            lines.append(f"Source: {entry.unit.source_name or entry.unit.source_id}")
        lines.append(_said(entry.unit))
    return lines


def _said(unit: KnowledgeUnit) -> str:
    label = "Claim" if unit.claim is not None or unit.procedure is None else "Procedure"
    return f"{label}: {' '.join(unit.text.split())}"


def _plugin_lines(output: Mapping[str, Any]) -> list[str]:
    return [f"{label}: {output[key]}" for key, label in
            (("plugin", "Plugin"), ("confidence", "Confidence"), ("result", "Result")) if key in output]  # fmt: skip


def cut_answer(text: str, max_tokens: int | None, stop: Iterable[str]) -> tuple[str, str]:
    """Return an answer that no model wrote within what the client allows, and why it ends: `stop` or `length`."""
    end = min((place for item in stop if (place := text.find(item)) >= 0), default=len(text))
    limit = end if max_tokens is None else max_tokens * CHARS_PER_TOKEN
    return (text[:end], "stop") if end <= limit else (text[:limit], "length")
