"""Read the collections: articles of paragraphs with questions, and stories with questions and requests.

A question without answers cannot be answered from its text. The shapes are described in docs/performance.md.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from copy import replace
from dataclasses import dataclass
from pathlib import Path

_OWN = Path(__file__).parent.parent / "data" / "answers"
STORIES, TEXTS, DOCUMENTS, FAQS = (_OWN / f"{name}.json" for name in ("stories", "texts", "documents", "faqs"))
CONDITIONS = _OWN / "conditions.json"
REQUESTS = _OWN / "requests.json"
"""What is asked for of paragraphs of SQuAD 2.0, which are known by their article and number."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its accepted answers: a right answer contains one of them. None if the text does not tell."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A request for an explanation, comparison, summary, list or chain, and the facts that the answer must contain.

    There are no facts if the text does not tell what is asked for.
    """

    text: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and the questions about it."""

    title: str
    text: str
    questions: tuple[Question, ...]
    requests: tuple[Request, ...] = ()


def read_articles(directory: Path) -> Iterator[tuple[Passage, ...]]:
    """Yield the paragraphs of each article of the directory's `squad*.json` files."""
    for path in sorted(directory.rglob("squad*.json")):
        for article in json.loads(path.read_text(encoding="utf-8")):
            yield tuple(
                Passage(article["title"], item["text"], _questions(item["questions"])) for item in article["paragraphs"]
            )


def read_requests(articles: Iterable[Sequence[Passage]]) -> Iterator[Passage]:
    """Yield each paragraph of the articles that has a request, with that request."""
    by_title = {article[0].title: article for article in articles}
    for item in json.loads(REQUESTS.read_text(encoding="utf-8")):
        article = by_title.get(item["title"], ())
        if item["paragraph"] < len(article):
            yield replace(article[item["paragraph"]], requests=(Request(item["q"], tuple(item["facts"])),))


def read_stories(path: Path = STORIES) -> tuple[Passage, ...]:
    """Return the stories of a file."""
    return tuple(
        Passage(
            item["title"],
            item["text"],
            _questions(item.get("questions", ())),
            tuple(Request(request["q"], tuple(request["facts"])) for request in item.get("requests", ())),
        )
        for item in json.loads(path.read_text(encoding="utf-8"))
    )


@dataclass(frozen=True, slots=True)
class ConditionQuestion:
    """A question about a rule, the pieces of the rule that an answer must contain, and the verdict that follows.

    `kind` is `conditional` if the rule has a condition that the question does not name, `met` and `unmet` if the
    question names a case, `plain` if the rule has no condition, and `wh` if the question asks for a value.
    """

    text: str
    kind: str
    pieces: tuple[str, ...]
    verdict: str | None


def read_conditions() -> Iterator[tuple[Passage, tuple[ConditionQuestion, ...]]]:
    """Yield each document of rules with the questions about them."""
    for item in json.loads(CONDITIONS.read_text(encoding="utf-8")):
        questions = (
            ConditionQuestion(each["q"], each["kind"], tuple(each["must"]), each["verdict"])
            for each in item["questions"]
        )
        yield Passage(f"{item['title']}.md", item["text"], ()), tuple(questions)


def sampled[Item](items: Sequence[Item], count: int) -> tuple[Item, ...]:
    """Return `count` items at even distances, or all if there are fewer."""
    if count >= len(items):
        return tuple(items)
    return tuple(items[place * len(items) // count] for place in range(count))


def _questions(items: Sequence[dict[str, object]]) -> tuple[Question, ...]:
    questions = []
    for item in items:
        answers = item["answers"]
        assert isinstance(answers, list)
        questions.append(Question(str(item["q"]).strip(), tuple(map(str, answers))))
    return tuple(questions)
