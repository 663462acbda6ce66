"""What the answer to a test must fulfil, and in which points an answer does not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from mrpvm.conversation.answers import words_told
from mrpvm.errors import InvalidInput
from mrpvm.values import BASES
from mrpvm.wire import JSONObject, from_wire, to_wire
from sessions_app.experiments.diagnosis.search import compared_text, says

STATUSES = ("answered", "no-context", "failed")
MOST_ENTRIES, MOST_CHARS = 50, 4_000
"""Entries of each list of an expectation; characters of each text."""
PATTERN_SECONDS = 0.5
"""How long a pattern is looked for in an answer."""
_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What an answer must fulfil; what is None or empty is not looked at.

    Texts are compared without differences of case and white space, and without the marks of sources; numbers are
    whole. `cites` are ids of units, `cites_sources` names of sources, `uses` ids of plugins. An answer may take
    `max_times` times `reference_ms`. `judged` is a criterion that a language model applies.
    """

    contains: tuple[str, ...] = ()
    does_not_contain: tuple[str, ...] = ()
    equals: str | None = None
    matches: str | None = None
    status: str | None = None
    basis: str | None = None
    cites: tuple[str, ...] = ()
    cites_sources: tuple[str, ...] = ()
    cites_nothing_else: bool = False
    uses: tuple[str, ...] = ()
    max_tokens: int | None = None
    max_cost: float | None = None
    reference_ms: int | None = None
    max_times: float | None = None
    judged: str | None = None

    def as_record(self) -> JSONObject:
        """Return what is expected as JSON data."""
        return {name: value for name, value in to_wire(self).items() if value not in (None, False, [], ())}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Expected":
        """Return what `as_record` gave."""
        return from_wire(cls, record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The parts of an answer that expectations check; `cited_sources` are names, `plugins` ids."""

    text: str
    status: str
    basis: str
    cited_unit_ids: Sequence[str] = ()
    cited_sources: Sequence[str] = ()
    plugins: Sequence[str] = ()
    token_count: int | None = None
    cost: float | None = None
    duration_ms: int = 0


def check_expected(expected: Expected) -> None:
    """Refuse expectations that say nothing, or that no answer can be held against.

    Raises:
        InvalidInput: nothing expected, an unknown status or basis, a pattern that is none, too much of something.
    """
    if not expected.as_record().keys() - {"referenceMs"}:
        raise InvalidInput("The test expects nothing: say what the answer must contain, cite or be.")
    if expected.status is not None and expected.status not in STATUSES:
        raise InvalidInput(f"status must be one of {', '.join(STATUSES)}.")
    if expected.basis is not None and expected.basis not in BASES:
        raise InvalidInput(f"basis must be one of {', '.join(BASES)}.")
    if expected.cites_nothing_else and not (expected.cites or expected.cites_sources):
        raise InvalidInput("cites_nothing_else needs the units or sources that may be cited.")
    if (expected.reference_ms is None) != (expected.max_times is None):
        raise InvalidInput("reference_ms and max_times belong together.")
    for name in ("max_tokens", "max_cost", "reference_ms", "max_times"):
        value = getattr(expected, name)
        if value is not None and not 0 < value <= 1_000_000_000:
            raise InvalidInput(f"{name} must be a positive number.")
    _check_texts(expected)
    if expected.matches is not None:
        try:
            regex.compile(expected.matches)
        except (regex.error, OverflowError, RecursionError) as error:
            raise InvalidInput(f"The pattern cannot be read: {error}.") from None


def _check_texts(expected: Expected) -> None:
    lists = (expected.contains, expected.does_not_contain, expected.cites, expected.cites_sources, expected.uses)
    if any(len(entries) > MOST_ENTRIES for entries in lists):
        raise InvalidInput(f"At most {MOST_ENTRIES} entries of each kind can be expected.")
    if not all(compared_text(entry) for entries in lists for entry in entries):
        raise InvalidInput("An expected text is empty.")
    texts = (expected.equals or "", expected.matches or "", expected.judged or "")
    if any(len(text) > MOST_CHARS for entries in (*lists, texts) for text in entries):
        raise InvalidInput(f"An expected text has at most {MOST_CHARS} characters.")


def failures_of(expected: Expected, answered: Answered) -> list[str]:
    """Return a sentence for each expectation that the answer does not fulfil; what a model judges is left out."""
    return [*_of_text(expected, answered.text), *_of_citations(expected, answered), *_of_effort(expected, answered)]


def _of_text(expected: Expected, text: str) -> Iterator[str]:
    said = _plain(text)
    for wanted in expected.contains:
        if not says(said, _plain(wanted)):
            yield f"The answer does not contain “{_short(wanted)}”."
    for unwanted in expected.does_not_contain:
        if says(said, _plain(unwanted)):
            yield f"The answer contains “{_short(unwanted)}”."
    if expected.equals is not None and _plain(expected.equals) != said:
        yield f"The answer is not “{_short(expected.equals)}”."
    if expected.matches is not None:
        try:
            match = regex.search(expected.matches, text, timeout=PATTERN_SECONDS)
        except TimeoutError:
            yield f"The pattern {_short(expected.matches)} was not found within {PATTERN_SECONDS} seconds."
        else:
            if match is None:
                yield f"The answer does not match {_short(expected.matches)}."


def _of_citations(expected: Expected, answered: Answered) -> Iterator[str]:
    if expected.status is not None and expected.status != answered.status:
        yield f"The status is {answered.status}, not {expected.status}."
    if expected.basis is not None and expected.basis != answered.basis:
        yield f"The basis is {answered.basis or 'none'}, not {expected.basis}."
    for unit_id in expected.cites:
        if unit_id not in answered.cited_unit_ids:
            yield f"The answer does not cite the unit {unit_id}."
    for name in expected.cites_sources:
        if name not in answered.cited_sources:
            yield f"The answer does not cite the source {name}."
    if expected.cites_nothing_else:
        sources = [*answered.cited_sources, *[""] * len(answered.cited_unit_ids)]
        for unit_id, source in zip(answered.cited_unit_ids, sources, strict=False):
            if unit_id not in expected.cites and source not in expected.cites_sources:
                yield f"The answer also cites the unit {unit_id}."


def _of_effort(expected: Expected, answered: Answered) -> Iterator[str]:
    for plugin_id in expected.uses:
        if plugin_id not in answered.plugins:
            yield f"{plugin_id} was not used, but {', '.join(answered.plugins) or 'no plugin'}."
    if expected.max_tokens is not None and (answered.token_count or 0) > expected.max_tokens:
        yield f"The answer took {answered.token_count} tokens, more than {expected.max_tokens}."
    if expected.max_cost is not None and (answered.cost or 0) > expected.max_cost:
        yield f"The answer cost {answered.cost}, more than {expected.max_cost}."
    if expected.reference_ms is not None and expected.max_times is not None:
        times = answered.duration_ms / expected.reference_ms
        if times > expected.max_times:
            yield f"The answer took {times:.1f} times the reference of {expected.reference_ms} ms."


def _plain(text: str) -> str:
    return compared_text(words_told(text))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"
