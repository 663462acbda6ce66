"""`python -m bench.digest [DIRECTORY]`: how many later answers the rolling summary still contains.

It reads `locomo*.json`: conversations with `units` (`session`, `speaker`, `text`) and `questions` (`category`,
`answer`). The summary grows session by session. The figure is the share of an answer's content words that
the summary contains.
"""

import argparse
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any

from bench.rewriting.scores import content
from mrpvm.conversation.summary import PlacedMessage, Summary, extend_by_rules

OWN_DATA = Path(__file__).parent / "data" / "retrieval"
BUDGETS = (160, 250, 1_000)
"""Words; the first is about what the product tells."""
TARGET_BUDGET, TARGET = 1_000, 0.60
_CATEGORIES = ("1", "4")
"""Of LoCoMo: what can be answered from one place or several; those of time and opinion say other words."""
_CHARS_A_WORD = 5.5

type Lines = Sequence[tuple[int, str]]


def _newest(lines: Lines, words: int) -> str:
    return " ".join(" ".join(line for _, line in lines).split()[-words:])


def _by_chance(lines: Lines, words: int) -> str:
    shuffled = [line for _, line in lines]
    random.Random(0).shuffle(shuffled)
    return " ".join(" ".join(shuffled).split()[:words])


def _summary(lines: Lines, words: int) -> str:
    summary, place = Summary(), 0
    for _, session in groupby(lines, key=lambda line: line[0]):
        batch = [
            PlacedMessage(sequence=place + number, role="user", content=line)
            for number, (_, line) in enumerate(session, 1)
        ]
        place += len(batch)
        summary = extend_by_rules(summary, batch, round(words * _CHARS_A_WORD))
    return " ".join(summary.text.split()[:words])


WAYS: Mapping[str, Callable[[Lines, int], str]] = {
    "the newest words": _newest,
    "sentences by chance": _by_chance,
    "the rolling summary": _summary,
}


def report(directory: Path) -> Iterator[str]:
    """Return the lines of the report."""
    conversations = [
        (lines, answers)
        for path in sorted(directory.glob("locomo*.json"))
        for conversation in json.loads(path.read_text())["conversations"]
        if (lines := _lines(conversation)) and (answers := _asked(conversation))
    ]
    if not conversations:
        yield f"digest over {directory.name}: skipped, the directory holds no locomo*.json with answers"
        return
    count = sum(len(answers) for _, answers in conversations)
    yield f"digest over {directory.name}: {count} answers of {len(conversations)} conversations"
    yield f"{'words of answers told, within words of':42}" + "".join(f"{budget:>9,}" for budget in BUDGETS)
    for name, way in WAYS.items():
        recalls = {budget: _recall(conversations, way, budget) for budget in BUDGETS}
        figures = "".join(f"{recall:>9.3f}" for recall in recalls.values())
        reached = ">=" if recalls[TARGET_BUDGET] >= TARGET else "<"
        goal = f"   {TARGET_BUDGET:,} words {reached} {TARGET:.2f}" if way is _summary else ""
        yield f"  {name:40}{figures}{goal}"
    whole = _recall(conversations, lambda lines, words: " ".join(line for _, line in lines), 0)
    yield f"  {'everything that was said':40}{whole:>9.3f}"


def _lines(conversation: Mapping[str, Any]) -> Lines:
    return [(unit["session"], f"{unit['speaker']}: {unit['text']}") for unit in conversation["units"]]


def _asked(conversation: Mapping[str, Any]) -> list[set[str]]:
    """Return the content words of each answer that counts."""
    of_kind = (item for item in conversation["questions"] if str(item.get("category", "1")) in _CATEGORIES)
    return [words for item in of_kind if (words := content(str(item.get("answer", ""))))]


def _recall(
    conversations: Sequence[tuple[Lines, list[set[str]]]], way: Callable[[Lines, int], str], words_told: int
) -> float:
    recalls = []
    for lines, answers in conversations:
        digest_words = content(way(lines, words_told))
        recalls += [len(words & digest_words) / len(words) for words in answers]
    return mean(recalls)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.digest", description="Measure the rolling summary.")
    parser.add_argument("directory", nargs="?", type=Path, help="where locomo*.json lies (BENCH_DATA, else our own)")
    given = parser.parse_args(arguments)
    for line in report(given.directory or Path(os.environ.get("BENCH_DATA") or OWN_DATA)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
