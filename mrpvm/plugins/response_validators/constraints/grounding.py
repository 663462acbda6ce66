"""Checks whether the numbers, names and facts of an answer occur in its evidence or question."""

import json
import re
import unicodedata
from collections.abc import Iterable

from mrpvm.english.words.lexicon import STOP_WORDS, listed
from mrpvm.english.words.text import sentences
from mrpvm.knowledge.facts import fact_of
from mrpvm.knowledge.relations import contradicts
from mrpvm.values import KnowledgeUnit

_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:/]\d+)*(?![\w])")
_NAME = re.compile(r"(?<![\w'\u2019-])[A-Z][\w'\u2019-]*")
_LINE_LEAD = re.compile(r"^[^\S\n]*(?:[-*\u2022|]+|\d{1,3}[.)](?!\S))[^\S\n]*", re.MULTILINE)
_FRAME_WORDS = listed("answer_frame")
"""Words that structure an answer and assert nothing."""


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("\u2019", "'")


def readable(text: str) -> str:
    """Return the prose of an answer: the string and number values of a JSON document, the items of lists."""
    try:
        document = json.loads(text)
    except ValueError:
        return _LINE_LEAD.sub("", text)
    if isinstance(document, dict):
        document = {key: value for key, value in document.items() if key not in ("status", "sources")}
    return ". ".join(_leaves(document))


def _leaves(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def ungrounded_number(text: str, support: str) -> str | None:
    """Return the first number of the answer that neither evidence nor question contains, or None."""
    known = set(_NUMBER.findall(_normal(support)))
    return next((number for number in _NUMBER.findall(_normal(text)) if number not in known), None)


def ungrounded_name(text: str, support: str) -> str | None:
    """Return the first proper name of the answer that neither evidence nor question contains, or None.

    The first word of a sentence is not a name, nor is a word that evidence or question has in lower case.
    """
    known = {word.lower().removesuffix("'s") for word in re.findall(r"[\w'-]+", _normal(support))}
    for sentence in sentences(_normal(text)):
        opening = re.search(r"\w", sentence)
        for match in _NAME.finditer(sentence):
            word = match.group().lower().removesuffix("'s")
            if opening and match.start() == opening.start():
                continue
            if word not in known and word not in STOP_WORDS and word not in _FRAME_WORDS:
                return match.group()
    return None


def contradicted(text: str, units: Iterable[KnowledgeUnit]) -> KnowledgeUnit | None:
    """Return the evidence unit whose exclusive triple a sentence of the answer contradicts, or None."""
    evidence = list(units)
    for sentence in sentences(text):
        fact = fact_of(sentence)
        rival = contradicts(fact, evidence) if fact else None
        if rival:
            return rival
    return None
