"""Checks whether an answer has the output form that was asked for."""

import json
import re
from collections.abc import Callable

_MARK = re.compile(r"\s*\[\d{1,3}\]")
_ITEM = re.compile(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+\S")
_NUMBERED = re.compile(r"^\s*(\d{1,3})[.)]\s+\S")


def without_marks(text: str) -> str:
    """Return `text` without source marks."""
    return _MARK.sub("", text)


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _one_word(text: str) -> bool:
    return len(without_marks(text).split()) == 1


def _yes_no(text: str) -> bool:
    return bool(re.match(r"(?:yes|no)\b", without_marks(text).strip(), re.IGNORECASE))


def _json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _list(text: str) -> bool:
    lines = _lines(text)
    return bool(lines) and all(_ITEM.match(line) for line in lines)


def _table(text: str) -> bool:
    lines = _lines(text)
    has_rule = len(lines) >= 2 and re.fullmatch(r"[\s:|-]+", lines[1]) is not None
    return has_rule and all("|" in line for line in lines)


def _steps(text: str) -> bool:
    numbers = [match[1] for line in _lines(text) if (match := _NUMBERED.match(line))]
    return bool(numbers) and [int(number) for number in numbers] == list(range(1, len(numbers) + 1))


_CHECKS: dict[str, tuple[Callable[[str], bool], str]] = {
    "one_word": (_one_word, "one word"),
    "yes_no": (_yes_no, "yes or no"),
    "json": (_json, "valid JSON"),
    "bullet_list": (_list, "a list"),
    "table": (_table, "a table"),
    "step_by_step": (_steps, "steps numbered from 1"),
}


def broken_form(text: str, forms: tuple[str, ...]) -> str | None:
    """Return in words the first requested form that the text does not have, or None.

    If JSON was requested, only JSON is checked.
    """
    checked = ("json",) if "json" in forms else forms
    for form in checked:
        check = _CHECKS.get(form)
        if check and not check[0](text):
            return check[1]
    return None
