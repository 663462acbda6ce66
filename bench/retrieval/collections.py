"""Read test collections of five shapes from a directory of JSON files.

A missing file is skipped, and the report says so. The shapes are described in docs/performance.md.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import replace
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mrpvm.english.sentences.dialogue import UTTERANCE
from mrpvm.knowledge.units import content_hash
from mrpvm.values import HistoryMessage, KnowledgeUnit

_ROLES = {"u": "user", "a": "assistant"}
_DATES = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the messages before it, and the names of the units that answer it.

    `rewritten` is the question in a person's words that need no earlier message, empty if there is none.
    """

    text: str
    gold: frozenset[str]
    group: str = ""
    history: tuple[HistoryMessage, ...] = ()
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Units in one knowledge base, and questions about it. `plain` is the text of each unit for plain BM25."""

    units: Sequence[KnowledgeUnit]
    plain: Mapping[str, str]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Collection:
    """A benchmark: its corpora and the question groups that its figures count, all if empty."""

    name: str
    corpora: Sequence[Corpus]
    counted: frozenset[str] = field(default_factory=frozenset)


def read_collections(directory: Path) -> Iterator[Collection]:
    """Return the collections whose files the directory holds, in a fixed order."""
    for name, (pattern, read) in _READERS.items():
        corpora = [corpus for path in sorted(directory.glob(pattern)) for corpus in read(json.loads(path.read_text()))]
        if corpora:
            yield Collection(name, corpora, frozenset("1234") if name == "memory" else frozenset())


def _memory(data: Mapping[str, Any]) -> list[Corpus]:
    return [_conversation(item) for item in data["conversations"]]


def _conversation(item: Mapping[str, Any]) -> Corpus:
    units: list[KnowledgeUnit] = []
    plain: dict[str, str] = {}
    for place, said in enumerate(item["units"]):
        text = said["text"] + (f" [{said['caption']}]" if said.get("caption") else "")
        chunk = f"{item['id']}::chunk-{said['session']:03d}"
        units.append(
            _unit(
                said["id"], text, topic=said["speaker"], source_id=item["id"], chunk_id=chunk, unit_index=place,
                unit_type=UTTERANCE, role="Narrative", knowledge_date=_iso(said["date"]),
            )
        )  # fmt: skip
        plain[said["id"]] = f"{said['speaker']}: {said['text']}"
    questions = [
        Question(question["q"], frozenset(question["gold"]), str(question["category"]))
        for question in item["questions"]
    ]
    return Corpus(units, plain, questions)


def _passages(data: Mapping[str, Any]) -> list[Corpus]:
    questions = [_follow_up(question, question["set"]) for question in data["queries"]]
    return [Corpus([_unit(name, text) for name, text in data["passages"].items()], data["passages"], questions)]


def _personal(data: Mapping[str, Any]) -> list[Corpus]:
    return [
        Corpus(
            [_unit(name, text) for name, text in turn["statements"].items()],
            turn["statements"],
            [_follow_up(turn, turn["id"].rpartition("_")[0])],
        )
        for turn in data["turns"]
    ]


def _follow_up(question: Mapping[str, Any], group: str = "") -> Question:
    gold = frozenset(question["gold"])
    return Question(question["query"], gold, group, _history(question), question.get("manual", ""))


def _documents(data: Mapping[str, Any]) -> list[Corpus]:
    units = [_unit(name, document["text"], title=document["title"]) for name, document in data["docs"].items()]
    plain = {name: _with_title(document) for name, document in data["docs"].items()}
    return [
        Corpus(units, plain, [Question(question["q"], frozenset(question["gold"])) for question in data["queries"]])
    ]


def _with_title(document: Mapping[str, str]) -> str:
    title, text = document["title"], document["text"]
    return text if text.startswith(title) else f"{title}\n{text}"


def _unit(name: str, text: str, **more: Any) -> KnowledgeUnit:
    role = more.pop("role", "Explanation")
    unit = KnowledgeUnit(id=name, role=role, claim=text, **{"topic": "", "source_id": "bench", **more})
    return replace(unit, hash=content_hash(replace(unit, topic=name)))  # equal texts stay separate units


def _history(question: Mapping[str, Any]) -> tuple[HistoryMessage, ...]:
    return tuple(
        HistoryMessage(role=_ROLES[role], content=text) for role, text in question["history"] if role in _ROLES
    )


def _iso(moment: str) -> str | None:
    for form in _DATES:
        try:
            return datetime.strptime(moment, form).date().isoformat()
        except ValueError:
            continue
    return None


_READERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], list[Corpus]]]] = {
    "memory": ("locomo*.json", _memory),
    "passages": ("convkb*.json", _passages),
    "personal": ("ptkb*.json", _personal),
    "cranfield": ("cranfield*.json", _documents),
    "cisi": ("cisi*.json", _documents),
}
