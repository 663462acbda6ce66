"""The changes of a trial as its form or an address gives them, and what the form offers."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from mrpvm.errors import InvalidInput
from mrpvm.llm.port import Sampling
from mrpvm.trace.response import ResponseDocument, said_text, source_id, source_name
from mrpvm.values import Selection
from sessions_app.experiments.trials.changes import Changes
from sessions_app.queries.turns.registry import document_evidence
from sessions_app.web.shell.words import STORES

WHOLE: dict[str, Any] = {"history_max_turns": 500, "enable_history_summarization": False}
"""The policies of a trial that sees the whole conversation."""
UNITS_OFFERED = 20
_PINS = {"planner": "planner", "seedDetector": "seed_detector", "kb": "kb", "goalSolver": "goal_solver"}
_REWRITING = "enable_query_rewriting"
_TEXTS = ("grounding", "model", "persona", "agent", "style", "system_prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedUnit:
    """A statement that the turn found, and the trial's change to it."""

    unit_id: str
    text: str
    source: str
    is_left_out: bool
    is_alone: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedSource:
    """A source of statements that the turn found."""

    source_id: str
    name: str
    is_left_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The turn's evidence that a trial can leave out, and further ids that the user entered, one per line."""

    units: tuple[OfferedUnit, ...]
    sources: tuple[OfferedSource, ...]
    further_units: str
    further_alone: str
    further_sources: str


def offered(document: ResponseDocument | None, changes: Changes) -> Offered:
    """Return the best `UNITS_OFFERED` statements in a turn's response document, and their sources."""
    units = document_evidence(document)[:UNITS_OFFERED]
    sources = {source_id(unit): source_name(unit) or STORES["session"] for unit in units}
    shown = {unit["id"] for unit in units}
    return Offered(
        units=tuple(
            OfferedUnit(
                unit_id=unit["id"],
                text=said_text(unit) or unit["id"],
                source=sources[source_id(unit)],
                is_left_out=unit["id"] in changes.without_units,
                is_alone=unit["id"] in changes.only_units,
            )
            for unit in units
        ),
        sources=tuple(
            OfferedSource(source_id=source_id, name=name, is_left_out=source_id in changes.without_sources)
            for source_id, name in sources.items()
        ),
        further_units=_lines(changes.without_units, shown),
        further_alone=_lines(changes.only_units, shown),
        further_sources=_lines(changes.without_sources, sources),
    )


def _lines(ids: Sequence[str], shown: Container[str]) -> str:
    return "\n".join(each for each in ids if each not in shown)


def changes_of(query: QueryDict, message: str) -> Changes:
    """Return the changes in a query string or a form; the turn's own message counts as no change.

    Raises:
        InvalidInput: a limit, the temperature or the number of tokens is no number.
    """

    def text(name: str) -> str:
        return query.get(name, "").strip()

    flags = dict(WHOLE) if text("history") == "whole" else {}
    if text("rewriting"):
        flags[_REWRITING] = text("rewriting") == "on"
    question, level = text("message"), text("level")
    return Changes(
        message=question if question and question != message else None,
        history_through=0 if text("history") == "none" else None,
        without_units=_listed(query.getlist("unit")),
        without_sources=_listed(query.getlist("source")),
        only_units=_listed(query.getlist("only")),
        with_units=_listed(query.getlist("with")),
        base=text("base") or None,
        pins=Selection(**{name: text(parameter) or None for parameter, name in _PINS.items()}),
        without_preferences=text("preferences") == "none",
        deliberation_level=int(level) if level in ("0", "1", "2", "3") else None,
        flags=flags,
        limits={name: _limit(text(name)) for name in _LIMITS if text(name)},
        without_plugins=_listed(query.getlist("plugin")),
        sampling=_sampling(text("temperature"), text("max_tokens")),
        **{name: text(name) or None for name in _TEXTS},  # type: ignore[arg-type]
    )


_LIMITS = ("request_timeout_ms", "plugin_timeout_ms", "max_llm_calls")


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise InvalidInput("The limits must be whole numbers.")
    return int(text)


def _sampling(temperature: str, max_tokens: str) -> Sampling | None:
    try:
        sampling = Sampling(
            temperature=float(temperature) if temperature else None, max_tokens=int(max_tokens) if max_tokens else None
        )
    except ValueError:
        raise InvalidInput("The temperature and the number of tokens must be numbers.") from None
    return None if sampling == Sampling() else sampling


def _listed(values: Sequence[str]) -> tuple[str, ...]:
    """Return the ids in all values, one per line."""
    lines = (line.strip() for value in values for line in value.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))
