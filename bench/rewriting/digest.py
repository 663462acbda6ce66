"""How much of what is asked for later a summary by the rules still tells, beside the newest words alone.

A file has `conversations`: `units` (session, speaker, text) and `questions` (category, answer). Only questions about
one unit or several are counted (categories 4 and 1): the words of other answers need not have been said.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any

from bench.rewriting.scores import content
from mrpvm.conversation.summary import Said, Summary, extend_by_rules

WORDS = 1_000
CHARS_OF_WORD = 5.5
"""With its space, on average; the digest is cut to the number of words after all."""
_COUNTED = frozenset({"1", "4"})
_GOAL = 0.60


def digest_rows(directory: Path) -> Iterator[str]:
    """Give the lines of the report; none where the directory holds no such file."""
    found = [item for path in sorted(directory.glob("locomo*.json")) for item in _conversations(path)]
    if not found:
        return
    yield f"{f'answers still told in {WORDS:,} words':36}{'recall':>10}"
    yield f"  {'the newest words':34}{mean(_recalls(found, newest)):10.3f}"
    recall = mean(_recalls(found, digest))
    yield f"  {'the digest':34}{recall:10.3f}   {'>=' if recall >= _GOAL else '<'} {_GOAL:.2f}"


def _conversations(path: Path) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = json.loads(path.read_text())["conversations"]
    return found


def newest(conversation: Mapping[str, Any]) -> str:
    """Give the last words of a conversation."""
    return " ".join(" ".join(_text(unit) for unit in conversation["units"]).split()[-WORDS:])


def digest(conversation: Mapping[str, Any]) -> str:
    """Give the product's summary, taken up session by session, without a look at what comes later."""
    summary, told = Summary(), 0
    for _, units in groupby(conversation["units"], key=lambda unit: unit["session"]):
        said = [Said(sequence=told + place, role="user", content=_text(unit)) for place, unit in enumerate(units, 1)]
        told += len(said)
        summary = extend_by_rules(summary, said, int(WORDS * CHARS_OF_WORD))
    return " ".join(summary.text.split()[:WORDS])


def _text(unit: Mapping[str, Any]) -> str:
    return f"{unit['speaker']}: {unit['text']}"


def _recalls(conversations: Sequence[Mapping[str, Any]], tell: Callable[[Mapping[str, Any]], str]) -> Iterator[float]:
    for conversation in conversations:
        told = content(tell(conversation))
        for question in conversation["questions"]:
            wanted = content(str(question.get("answer", "")))
            if str(question["category"]) in _COUNTED and wanted:
                yield len(wanted & told) / len(wanted)
