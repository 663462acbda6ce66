"""Conversion between a test and its form."""

from collections.abc import Callable, Mapping, Sequence
from copy import replace
from typing import Any

from django.http import QueryDict

from mrpvm.errors import InvalidInput
from mrpvm.values import BASES, Selection
from mrpvm.wire import from_wire
from sessions_app.actions.experiments.suites import TestFields
from sessions_app.experiments.suites.expected import STATUSES, Expected
from sessions_app.experiments.suites.questions import Target
from sessions_app.experiments.trials.changes import Changes
from sessions_app.language_model import is_configured
from sessions_app.models import Project
from sessions_app.queries.knowledge.bases import knowledge_base, offered_bases
from sessions_app.web.turns.panels.choice import plugin_selectors

_LISTS = ("contains", "does_not_contain", "cites", "cites_sources", "uses")
_TEXTS = ("equals", "matches", "status", "basis", "judged")
_WHOLE = ("max_tokens", "reference_ms")
_NUMBERS = ("max_cost", "max_times")
_PINS = {"planner": "planner", "seedDetector": "seed_detector", "kb": "kb", "goalSolver": "goal_solver"}
_LEVELS = ("0", "1", "2", "3")


def fields_given(project: Project, form: QueryDict, kept: TestFields | None = None) -> TestFields:
    """Return the fields of a test from its form; the turn, and choices without a field, come from `kept`.

    Numbers that cannot be read are left out; see `check_numbers`.

    Raises:
        NotFound: KB_NOT_FOUND.
    """
    kb_id = _text(form, "kb_id")
    turn = kept.turn if kept is not None and not kb_id else None
    own = kept.base if kept is not None and turn is not None else None
    choices = from_wire(Changes, kept.choices if kept else {})
    return TestFields(
        name=_text(form, "name"),
        message=_text(form, "message"),
        turn=turn,
        base=knowledge_base(project, kb_id) if kb_id else own,
        revision=_number_or_none(_whole, form, "revision") if kb_id else None,
        choices=_chosen(form, choices).as_record(),
        expected=_expected(form).as_record(),
        tags=[tag for tag in (part.strip() for part in _text(form, "tags").split(",")) if tag],
    )


def check_numbers(form: QueryDict) -> None:
    """Refuse a form in which a value that must be a number is not one.

    Raises:
        InvalidInput: it names the field.
    """
    for name in ("revision", *_WHOLE):
        _whole(form, name)
    for name in _NUMBERS:
        _number(form, name)


def target_given(form: QueryDict) -> Target:
    """Return the target of a suite's run from the form.

    Raises:
        InvalidInput: the revision is not a number.
    """
    place = _text(form, "over")
    is_base = place not in ("", "heads")
    return Target(
        base=place if is_base else None,
        revision=_whole(form, "revision") if is_base else None,
        heads=place == "heads",
        allow_model="allow_model" in form,
        tags=tuple(tag for tag in form.getlist("tag") if tag),
        choices=_chosen(form, Changes()),
    )


def form_context(project: Project, fields: TestFields) -> dict[str, Any]:
    """Return what the form of a test shows."""
    expected, choices = Expected.of_record(fields.expected), from_wire(Changes, fields.choices)
    base_id = fields.base.kb_id if fields.base is not None and fields.turn is None else ""
    return {
        "fields": fields,
        "expected": {name: getattr(expected, name) for name in (*_TEXTS, *_WHOLE, *_NUMBERS, "cites_nothing_else")}
        | {name: "\n".join(getattr(expected, name)) for name in _LISTS},
        "asked_base": base_id,
        "bases": offered_bases(project, base_id)[0],
        "statuses": STATUSES,
        "answer_bases": BASES,
        "tags": ", ".join(fields.tags),
        **choices_context(choices),
    }


def choices_context(choices: Changes) -> dict[str, Any]:
    """Return what the fields of choices show."""
    return {
        "selectors": plugin_selectors(choices.pins),
        "level": choices.deliberation_level,
        "model": choices.model,
        "has_model": is_configured(),
    }


def _chosen(form: QueryDict, choices: Changes) -> Changes:
    level = _text(form, "level")
    return replace(
        choices,
        pins=Selection(**{name: _text(form, parameter) or None for parameter, name in _PINS.items()}),
        deliberation_level=int(level) if level in _LEVELS else None,
        # Without a configured model the field is shown only if the test names one.
        model=_text(form, "model") or None,
    )


def _expected(form: QueryDict) -> Expected:
    named: dict[str, Any] = {name: _lines(form, name) for name in _LISTS}
    named |= {name: _text(form, name) or None for name in _TEXTS}
    named |= {name: _number_or_none(_whole, form, name) for name in _WHOLE}
    named |= {name: _number_or_none(_number, form, name) for name in _NUMBERS}
    if named["max_times"] is None:
        named["reference_ms"] = None
    return Expected(**named, cites_nothing_else="cites_nothing_else" in form)


def _text(form: Mapping[str, Any], name: str) -> str:
    return str(form.get(name, "")).strip()


def _lines(form: Mapping[str, Any], name: str) -> Sequence[str]:
    return tuple(line.strip() for line in _text(form, name).splitlines() if line.strip())


def _number_or_none[T](read: Callable[[QueryDict, str], T | None], form: QueryDict, name: str) -> T | None:
    try:
        return read(form, name)
    except InvalidInput:
        return None


def _whole(form: Mapping[str, Any], name: str) -> int | None:
    text = _text(form, name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise InvalidInput(f"{name.replace('_', ' ')} must be a whole number.")
    return int(text)


def _number(form: Mapping[str, Any], name: str) -> float | None:
    text = _text(form, name)
    try:
        return float(text) if text else None
    except ValueError:
        raise InvalidInput(f"{name.replace('_', ' ')} must be a number.") from None
