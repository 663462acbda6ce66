"""The verdict: one line on how a turn ended and what decided it, made from its events.

A pure function: no row and no clock is read. Each clause names the execution, the unit or the part of the record that
it rests on, so that a page can link it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

from msgspec import Struct, field

from mrpvm.english.words.lexicon import DETERMINERS, POSSESSIVES, PREPOSITIONS
from mrpvm.english.words.tagging import is_auxiliary, verb_forms
from mrpvm.english.words.text import stem
from mrpvm.errors import MODEL_FAILURE_CODES, ErrorRecord, MRPError
from mrpvm.trace.events import Event, PluginFinished, PluginStarted, TurnStarted, said
from mrpvm.trace.exhaustion import Exhaustion, FailedAttempt
from mrpvm.trace.response import (
    ResponseGroup,
    UnitValue,
    base_units,
    cited_ids,
    has_parts,
    message_units,
    said_text,
    session_units,
    source_id,
    source_name,
    statements_in,
)
from mrpvm.values import Selection
from mrpvm.wire import from_wire

type Aspect = Literal["", "context", "choice", "state", "base"]

LEADS: Mapping[str, str] = {
    "command": "Command",
    "running": "Running",
    "failed": "Failed",
    "cancelled": "Stopped",
    "interrupted": "Interrupted",
    "noted": "Noted",
    "nothing-asked": "Nothing asked",
    "no-context": "No answer",
    "quoted": "Closest passage",
    "stated": "Stated",
    "composed": "Composed",
    "answered": "Answered",
}
"""The kinds of verdicts, and how the line of each begins."""
_WEAK = ("no-context", "quoted")
_STAGES = (("seed_detector", "detector"), ("planner", "planner"), ("kb", "retriever"), ("goal_solver", "solver"))
_CONVERSATION = "this conversation"
_MESSAGE = "this message"
_SAID_CHARS = 120


class MountedBase(Struct, frozen=True):
    """The base that a session had mounted; `unit_count` is that of the revision."""

    kb_id: str
    name: str
    revision: int
    unit_count: int


class VerdictInput(Struct, frozen=True, kw_only=True):
    """The input of a verdict; `outcome` is the question's, `groups` are the response document's."""

    kind: str
    status: str
    outcome: str | None
    basis: str
    message: str
    error: ErrorRecord | None = None
    groups: Sequence[ResponseGroup] = ()
    report: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[Event] = ()
    base: MountedBase | None = None


class VerdictReason(Struct, frozen=True, kw_only=True):
    """One reason; `aspect` is the part of the record that shows it."""

    text: str
    execution_id: str = ""
    unit_id: str = ""
    aspect: Aspect = ""


class Verdict(Struct, frozen=True, kw_only=True):
    """How a turn ended (`kind`, in words `lead`), and why."""

    kind: str
    lead: str
    clauses: tuple[VerdictReason, ...]

    @property
    def text(self) -> str:
        reasons = "; ".join(clause.text for clause in self.clauses)
        return f"{self.lead}: {reasons}." if reasons else f"{self.lead}."


def verdict_of(turn: VerdictInput) -> Verdict:
    """Return the verdict over a turn, whatever its end."""
    kind = _kind(turn)
    reasons = {
        "command": _command,
        "running": _running,
        "failed": _failed,
        "cancelled": _ended_early,
        "interrupted": _ended_early,
        "nothing-asked": _nothing_asked,
        "no-context": _unanswered,
        "quoted": _unanswered,
    }.get(kind, _answered)
    return Verdict(kind=kind, lead=LEADS[kind], clauses=tuple(reasons(turn)))


def pins_of(events: Iterable[Event]) -> dict[str, str]:
    """Return the plugin that the request allowed alone, by stage."""
    return _selected(started.pins for started in said(TurnStarted, events))


def preferences_of(events: Iterable[Event]) -> dict[str, str]:
    """Return the plugin that the session preferred, by stage."""
    return _selected(started.preferences for started in said(TurnStarted, events))


def omitted_messages(report: Mapping[str, Any]) -> int:
    """Return how many older messages the window left out."""
    return sum(
        section.get("omitted_count", 0) for section in report.get("sections", ()) if section["name"] == "conversation"
    )


def readings(report: Mapping[str, Any], message: str) -> list[str]:
    """Return what the message was taken for, where that is not the message itself."""
    rewriting = report.get("rewriting") or {}
    taken = [rewriting.get("rewritten_query", "")] if rewriting.get("was_rewritten") else []
    return [text for text in (*taken, *rewriting.get("read_as", ())) if text and text != message]


def other_value(text: str, other: str) -> str:
    """Return what another statement says in the place where it departs from a text; empty if they do not meet.

    They meet in two or more words in a row, whatever their inflection, one of them longer than three letters and one
    of them a verb, each followed by another word: "A car boards at gate C." and "Vehicles board at gate B, because
    ..." meet in "board at gate", and it is "gate B". A number has its unit with it: "weigh 8 kg". They do not
    meet where they speak of different names or numbers before.
    """
    words, others = _words(text), _words(other)
    stems, other_stems = ([stem(word.lower()) for word in each] for each in (words, others))
    best = ""
    longest = 1
    for start in range(len(words)):
        for place in range(len(others)):
            length = 0
            while (
                start + length < len(words)
                and place + length < len(others)
                and stems[start + length] == other_stems[place + length]
            ):
                length += 1
            ends = start + length >= len(words) or place + length >= len(others)
            run = others[place : place + length]
            if (
                length > longest
                and not ends
                and any(len(word) > 3 for word in run)
                and any(_is_verb(others, at) for at in range(place, place + length))
                and not _differ(words[:start], others[:place])
            ):
                value = others[place + length]
                longest, best = (
                    length,
                    f"{run[-1]} {value}{_unit_of(words[start + length :], others[place + length :])}",
                )
    return best


def _unit_of(words: Sequence[str], others: Sequence[str]) -> str:
    """Return the word after two numbers that differ, such as "kg", where both have it, with a space before it."""
    is_shared = len(words) > 1 and words[1:2] == others[1:2] and words[0][0].isdigit() and others[0][0].isdigit()
    return f" {others[1]}" if is_shared and others[1] not in PREPOSITIONS else ""


def _is_verb(words: Sequence[str], place: int) -> bool:
    """Return whether a word is a finite verb; one after a determiner or a preposition is a noun."""
    word, before = words[place].lower(), words[place - 1].lower() if place else ""
    can_be_verb = is_auxiliary(word) or not verb_forms(word) <= {"ing"}
    return can_be_verb and before not in DETERMINERS | POSSESSIVES | PREPOSITIONS


def _differ(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether two beginnings of sentences name different things."""
    named, other_named = _named(words), _named(others)
    return bool(named and other_named) and named.isdisjoint(other_named)


def _named(words: Sequence[str]) -> set[str]:
    """Return the names and numbers of the beginning of a sentence; its first word may only begin with a capital."""
    return {word for place, word in enumerate(words) if word[0].isdigit() or (place and word[0].isupper())}


def _kind(turn: VerdictInput) -> str:
    if turn.kind == "command":
        return "command"
    if turn.status != "succeeded":
        return turn.status
    if turn.outcome in ("noted", "nothing-asked", *_WEAK):
        return str(turn.outcome)
    return turn.basis if turn.basis in ("stated", "composed") else "answered"


def _command(turn: VerdictInput) -> Iterable[VerdictReason]:
    yield VerdictReason(text="answered from the session's own state; no plugin was chosen and no model was asked")


def _running(turn: VerdictInput) -> Iterable[VerdictReason]:
    ended = {run.execution_id for run in said(PluginFinished, turn.events)}
    running = [run for run in said(PluginStarted, turn.events) if run.execution_id not in ended]
    if running:
        yield VerdictReason(text=running[-1].plugin_name, execution_id=running[-1].execution_id)


def _failed(turn: VerdictInput) -> Iterable[VerdictReason]:
    error = turn.error or MRPError("").as_record()
    exhaustion = from_wire(Exhaustion, error["details"])
    culprit = next((failed for failed in reversed(exhaustion.diagnostics) if failed.message), FailedAttempt())
    plugin_id = culprit.plugin_id or ""
    message = culprit.message or error["message"]
    yield VerdictReason(text=_inside(message), execution_id=_failed_execution(turn.events, plugin_id))
    tried = (plugin_id, *exhaustion.plugins_tried)
    for stage, plugin in pins_of(turn.events).items():
        yield VerdictReason(text=f"you pinned {f'this {stage} alone' if plugin in tried else plugin}", aspect="choice")
    for stage, plugin in preferences_of(turn.events).items():
        if plugin in tried and plugin not in pins_of(turn.events).values():
            yield VerdictReason(text=f"the session prefers this {stage}", aspect="choice")


def _failed_execution(events: Sequence[Event], plugin_id: str) -> str:
    names = {run.execution_id: run.plugin_id for run in said(PluginStarted, events)}
    failed = [
        run.execution_id
        for run in said(PluginFinished, events)
        if (run.error or run.status == "rejected") and plugin_id in ("", names.get(run.execution_id))
    ]
    return failed[-1] if failed else ""


def _ended_early(turn: VerdictInput) -> Iterable[VerdictReason]:
    by_whom = "by who asked" if turn.status == "cancelled" else "the server stopped while it ran"
    yield VerdictReason(text=f"{by_whom}; nothing of it was kept")


def _nothing_asked(turn: VerdictInput) -> Iterable[VerdictReason]:
    yield VerdictReason(text="a civil reply stands in the place of an answer")


def _unanswered(turn: VerdictInput) -> Iterable[VerdictReason]:
    yield from _model_failures(turn.events)
    units_by_id = statements_in(turn.groups)
    disagreeing = list(_disagreeing(turn.groups))
    if not units_by_id:
        knows = "neither the session nor its base knows anything" if turn.base else "the session knows nothing"
        yield VerdictReason(text=f"{knows} that shares a word with the question", aspect="context")
    else:
        count = "one statement was" if len(units_by_id) == 1 else f"{len(units_by_id)} statements were"
        first = next(iter(units_by_id)) if len(units_by_id) == 1 else ""
        yield VerdictReason(text=f"{count} found", unit_id=first, aspect="" if first else "context")
        for reason in _reasons(turn.groups):
            yield VerdictReason(text=reason, execution_id=_last_solver(turn.events))
        yield from disagreeing
    yield from _influences(turn, is_weak=True)
    if disagreeing:  # more knowledge would not have decided between them
        return
    if turn.base is None:
        yield VerdictReason(text="no base is mounted", aspect="base")
    elif not turn.base.unit_count:
        yield VerdictReason(text=f"the mounted base {turn.base.name} is empty", aspect="base")


def _model_failures(events: Sequence[Event]) -> Iterable[VerdictReason]:
    """Return why the models that were asked for an answer gave none, each reason once."""
    solvers = _solvers(events)
    told = set[str]()
    for run in said(PluginFinished, events):
        error = run.error
        if run.execution_id in solvers and error is not None and error["code"] in MODEL_FAILURE_CODES:
            message = error["message"]
            if message not in told:
                told.add(message)
                text = f"the language model failed: {_inside(message)}"
                yield VerdictReason(text=text, execution_id=run.execution_id)


def _disagreeing(groups: Sequence[ResponseGroup]) -> Iterable[VerdictReason]:
    """Return what two cited statements say where the evidence does not decide, of two sources where there are two."""
    for group in groups:
        if group["status"] != "no-context" or group.get("basis") == "quoted":
            continue
        marks = list(cited_ids(group))
        sourced = [(unit, source) for unit, source in _sourced(group) if unit["id"] in marks]
        sourced.sort(key=lambda cited: marks.index(cited[0]["id"]))
        pairs = sorted(combinations(sourced, 2), key=lambda pair: pair[0][1] == pair[1][1])
        if pairs:
            (one, its_source), (another, other_source) = pairs[0]
            value = other_value(said_text(another), said_text(one)) or f"“{_cut(said_text(one))}”"
            other = other_value(said_text(one), said_text(another)) or f"“{_cut(said_text(another))}”"
            says = "also says" if its_source == other_source else "says"
            yield VerdictReason(text=f"{its_source} says {value}", unit_id=one["id"])
            yield VerdictReason(text=f"{other_source} {says} {other}", unit_id=another["id"])
            return


def _answered(turn: VerdictInput) -> Iterable[VerdictReason]:
    solved = [group for group in turn.groups if group["status"] != "no-context"]
    if len(solved) < len(turn.groups):
        open_ones = [f"“{_cut(group['intent'])}”" for group in turn.groups if group["status"] == "no-context"]
        others = f" and {len(open_ones) - 1} more" if len(open_ones) > 1 else ""
        text = f"{len(solved)} of {len(turn.groups)} questions, not {open_ones[0]}{others}"
        yield VerdictReason(text=text, aspect="context")
    cited = [(unit, source) for group in solved for unit, source in _sourced(group) if unit["id"] in cited_ids(group)]
    model = _answering_model(turn.events)
    if model:
        yield VerdictReason(text=f"by the model {model}", aspect="context")
    yield from _ungrounded(solved)
    if cited:
        yield _cited_clause(cited)
        yield from _contradicted(solved)
    yield from _influences(turn, is_weak=False)


def _answering_model(events: Sequence[Event]) -> str:
    """Return the model of the last solver that delivered from one; models that read, plan or check do not answer."""
    solvers = _solvers(events)
    runs = [run for run in said(PluginFinished, events) if run.execution_id in solvers and run.status == "success"]
    return next((run.model for run in reversed(runs) if run.model), "")


def _ungrounded(groups: Sequence[ResponseGroup]) -> Iterable[VerdictReason]:
    """Return that a model answered from its own knowledge, and how many statements it could have used."""
    without = [group for group in groups if not group.get("grounded", True)]
    if without:
        count = len(statements_in(without))
        few = {0: "no statement was found", 1: "the one statement that was found is not cited"}
        text = few.get(count, f"none of the {count} statements that were found is cited")
        yield VerdictReason(text=f"not from your sources: {text}", aspect="context")


def _cited_clause(cited: Sequence[tuple[UnitValue, str]]) -> VerdictReason:
    units = list(dict.fromkeys(unit["id"] for unit, _ in cited))
    sources = list(dict.fromkeys(source for _, source in cited))
    count = "one sentence" if len(units) == 1 else f"{len(units)} sentences"
    unit_id = units[0] if len(units) == 1 else ""
    return VerdictReason(text=f"by {count} of {_listed(sources)}", unit_id=unit_id, aspect="" if unit_id else "context")


def contradictions(groups: Sequence[ResponseGroup]) -> Mapping[str, str]:
    """Return by id what units say against cited ones, or against each other where nothing was answered."""
    solved = [group for group in groups if group["status"] != "no-context"]
    clauses = _contradicted(solved) if solved else _disagreeing(groups)
    return {clause.unit_id: clause.text for clause in clauses}


def _contradicted(groups: Sequence[ResponseGroup]) -> Iterable[VerdictReason]:
    """Return what another source says in the place of what was cited, the best of each source."""
    for group in groups:
        cited = [(unit, source) for unit, source in _sourced(group) if unit["id"] in cited_ids(group)]
        sources = {source for _, source in cited}
        if sources == {_MESSAGE}:
            continue
        for unit, source in _sourced(group):
            if source in sources or has_parts(unit):
                continue
            values = (other_value(said_text(each), said_text(unit)) for each, _ in cited)
            value = next(filter(None, values), "")
            if value:
                sources.add(source)
                yield VerdictReason(text=f"{source} says {value}", unit_id=unit["id"])
        yield from _told_otherwise([unit for unit, source in cited if source == _CONVERSATION], group)


def _told_otherwise(cited: Sequence[UnitValue], group: ResponseGroup) -> Iterable[VerdictReason]:
    """Return what the conversation also told in the place of one word of what was cited from it, the best of it."""
    texts = [said_text(unit) for unit in cited]
    for unit, source in _sourced(group):
        if source != _CONVERSATION or unit["id"] in cited_ids(group) or has_parts(unit):
            continue
        other = said_text(unit)
        value = next((other_value(text, other) for text in texts if _differ_in_a_word(_words(text), _words(other))), "")
        if value:
            yield VerdictReason(text=f"{_CONVERSATION} also says {value}", unit_id=unit["id"])
            return


def _differ_in_a_word(words: Sequence[str], others: Sequence[str]) -> bool:
    return len(words) == len(others) and sum(map(str.__ne__, words, others)) == 1


def _influences(turn: VerdictInput, *, is_weak: bool) -> Iterable[VerdictReason]:
    """Return what the request, the session and the conversation did to the outcome."""
    for reading in readings(turn.report, turn.message):
        yield VerdictReason(text=f"read as “{_cut(reading)}”", aspect="context")
    omitted = omitted_messages(turn.report)
    if omitted and (is_weak or any(run.llm_calls for run in said(PluginFinished, turn.events))):
        count = "one older message was" if omitted == 1 else f"{omitted} older messages were"
        yield VerdictReason(text=f"{count} left out of the window", aspect="context")
    for plugin in pins_of(turn.events).values():
        yield VerdictReason(text=f"you pinned {plugin}", aspect="choice")


def _selected(selections: Iterable[Selection | None]) -> dict[str, str]:
    chosen = next(iter(selections), None) or Selection()
    return {name: value for attribute, name in _STAGES if (value := getattr(chosen, attribute))}


def _last_solver(events: Sequence[Event]) -> str:
    solvers = _solvers(events)
    return solvers[-1] if solvers else ""


def _solvers(events: Sequence[Event]) -> list[str]:
    return [run.execution_id for run in said(PluginStarted, events) if run.stage == "goal-solver"]


def _reasons(groups: Sequence[ResponseGroup]) -> list[str]:
    """Return what decided first in each group without an answer, each reason once."""
    reasons = [
        (group.get("reason") or "").partition(";")[0].removeprefix("refused: ").strip()
        for group in groups
        if group["status"] == "no-context"
    ]
    return list(dict.fromkeys(filter(None, reasons)))


def _sourced(group: ResponseGroup) -> list[tuple[UnitValue, str]]:
    """Return the units that a group was answered from, each with the words for its source."""
    current = [(unit, _MESSAGE) for unit in message_units(group)]
    return current + [(unit, _source(unit)) for unit in (*session_units(group), *base_units(group))]


def _source(unit: UnitValue) -> str:
    return _CONVERSATION if source_id(unit) == "session" else source_name(unit) or source_id(unit)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:['’.,:-]\w+)*", text)


def _inside(sentence: str) -> str:
    """Return a sentence as a clause: without its full stop, and beginning small unless its first word is a name."""
    text = _cut(" ".join(sentence.split()).rstrip("."))
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _cut(text: str) -> str:
    return text if len(text) <= _SAID_CHARS else text[: _SAID_CHARS - 1].rstrip() + "…"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
