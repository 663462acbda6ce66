"""Reads labelled values, as in lists and tables, as sentences: "Height: 30 m", "Saturday: 9 am to 1 pm"."""

import re

from mrpvm.english.sentences.parsing import read
from mrpvm.english.sentences.values import UNITS
from mrpvm.english.words import lexicon
from mrpvm.english.words.reading import is_past
from mrpvm.english.words.tagging import PREDICATE_ADJECTIVES
from mrpvm.english.words.text import words

_LABELLED = re.compile(r"(?P<label>[^\W\d][^:.!?]{0,59}): (?P<value>\S.*)", re.DOTALL)
_UNIT = re.compile(
    r"(?P<label>[^()]{0,59}[^\W_])(?: \((?P<unit>[^()\s]{1,12})\)|(?:[ _]in[ _]|_)(?P<named>[^\W_]{1,20}))"
)
_UNITS = frozenset().union(*UNITS.values())
_NUMBER = re.compile(r"[-+\u2212]?\d[\d.,]*")
_COUNTED = re.compile(r"[a-z]{1,40}[^\W\d_isu]s")
_WEEK = lexicon.groups("weekdays")[0]
_DAY_WORD, _RANGE = re.compile(r"[a-z]+|[-\u2013]"), re.compile(r"\s*[-\u2013]\s*")
_BETWEEN_DAYS = lexicon.word_class("to till until through and - \u2013")
_OPENING = lexicon.word_class("open opens opening")
_HOURS = lexicon.word_class("hours times")
_OTHER_HOURS = lexicon.word_class("phone telephone support")
"""Hours below a heading with one of these words are not those of the house."""
_PHONES = lexicon.word_class("phone telephone tel mobile")
_SAID_OF = {"yes": ("has a", "is"), "no": ("has no", "is not")}
_YEAR = re.compile(r"\d{4}$")


def sentence_of_label(text: str, lead: str | None, title: str | None) -> str | None:
    """Return a labelled value as a sentence: "The height of Elm Tower is 30 m." for "Height: 30 m" of "Elm Tower:"."""
    match = _LABELLED.match(text)
    about = (lead or "").rstrip(": ")
    if match is None:
        return None
    if opened := _opened(match["label"], match["value"].rstrip("."), about, title or ""):
        return opened
    if any(clause.verb for part in (match["value"], about) for clause in read(part).clauses):
        return None
    label, value = _with_unit(match["label"], match["value"].rstrip("."))
    label = "phone number" if label.lower() in _PHONES else label
    first, second = [*label.lower().split(), ""][:2]
    if label[1:2].islower():
        label = label[0].lower() + label[1:]
    if about and (owned := _owned(label, value)):
        return f"{about} {owned}."
    if is_past(first) and (not second or second in lexicon.PREPOSITIONS):
        when = " in" if label.isalpha() and _YEAR.match(value) else ""
        return f"{about or 'It'} was {label}{when} {value}."
    of = f" of {about}" if about else ""
    return f"{'' if first in lexicon.DETERMINERS else 'The '}{label}{of} is {value}."


def _opened(label: str, value: str, about: str, title: str) -> str | None:
    """Return opening hours: "We are open on Saturday from 9 am to 1 pm." for "Saturday: 9 am \u2013 1 pm"."""
    headed = {*words(about), *words(title)}
    if days := _days_of(about):
        is_meant = label.lower() in _OPENING | _HOURS
    else:
        days = _days_of(label)
        is_meant = bool(_OPENING & headed) or bool(_HOURS & headed and not _OTHER_HOURS & headed)
    if not (days and is_meant):
        return None
    on = " and ".join(filter(None, (", ".join(days[:-1]), days[-1])))
    if value.lower().startswith("closed"):
        return f"We are closed on {on}."
    return f"We are open on {on} from {_RANGE.sub(' to ', value.removeprefix('from '))}."


def _days_of(label: str) -> list[str]:
    """Return the days of a label such as "Monday to Thursday" or "Sat, Sun", none for another label."""
    days: list[str] = []
    is_range = False
    for word in _DAY_WORD.findall(label.lower()):
        day = next((place for place, name in enumerate(_WEEK) if len(word) > 1 and f"{name}s".startswith(word)), None)
        if day is None:
            if word not in _BETWEEN_DAYS:
                return []
            is_range = word != "and"
        else:
            first = _WEEK.index(days[-1].lower()) + 1 if is_range and days else day
            days += [_WEEK[place % 7].capitalize() for place in range(first, day + 1 if first <= day else day + 8)]
            is_range = False
    return days


def _owned(label: str, value: str) -> str | None:
    """Return a number or a yes as a predicate: "has 4 berths" for "Berths: 4", "has no lift" for "Lift: no"."""
    if _COUNTED.fullmatch(label) and value.isdecimal():
        return f"has {value} {label}"
    has, is_so = _SAID_OF.get(value.lower(), ("", ""))
    if not has or not label.isalpha():
        return None
    is_state = label in PREDICATE_ADJECTIVES or is_past(label)
    return f"{is_so} {label}" if is_state else f"{has} {label}"


def _with_unit(label: str, value: str) -> tuple[str, str]:
    """Return a number with the unit that its label names: "12 kg" for "Weight (kg)", "Weight in kg", "weight_kg"."""
    match = _UNIT.fullmatch(label) if _NUMBER.fullmatch(value) else None
    if match and (match["unit"] or match["named"].lower() in _UNITS):
        label, value = match["label"], f"{value} {match['unit'] or match['named']}"
    return label.replace("_", " "), value
